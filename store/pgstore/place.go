package pgstore

import (
	"crypto/sha256"

	"github.com/nomen-project/nomen/store"
)

// PostgreSQL limits index keys to about 2,700 bytes, and the key of a name may have 2,048.
// So the index contains headSize bytes of a URL, and markSize bytes of a hash of the rest.
const (
	headSize = 512
	markSize = 16
)

// A place is a row of nomen_place.
type place struct {
	head   string
	rest   string
	key    string
	stored string // the mark in the row; "" for a place that was not read
}

func (p *place) size() int { return len(p.head) + len(p.rest) + len(p.key) }

// mark returns the hash that represents the rest in the index.
func (p place) mark() []byte {
	if p.rest == "" {
		return []byte{}
	}
	sum := sha256.Sum256([]byte(p.rest))
	return sum[:markSize]
}

// makePlace returns the place of a URL and a name's key.
func makePlace(url, key string) place {
	n := min(len(url), headSize)
	return place{head: url[:n], rest: url[n:], key: key}
}

// places returns the places that the index has for the content after c, without duplicates.
func places(c *store.Change) []place {
	var all []place
	for _, p := range c.AppendPlaces(nil) {
		all = append(all, makePlace(p.URL, p.Name.Key()))
	}
	return all
}

func placeColumns(all []place) (heads, marks [][]byte, keys []string, rests [][]byte) {
	for _, p := range all {
		heads = append(heads, []byte(p.head))
		marks = append(marks, p.mark())
		keys = append(keys, p.key)
		rests = append(rests, []byte(p.rest))
	}
	return heads, marks, keys, rests
}
