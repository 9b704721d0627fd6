package pgstore

import (
	"crypto/sha256"

	"github.com/nomen-project/nomen/store"
)

// PostgreSQL limits the keys of an index to about 2,700 bytes, and the key of a name can have 2,048
// bytes. The index therefore contains only the first headSize bytes of a URL, and markSize bytes of
// a hash of the rest.
const (
	headSize = 512
	markSize = 16
)

type place struct {
	head   string
	rest   string
	key    string
	stored string // the mark in the row; "" if p is not from a row
}

func (p *place) size() int { return len(p.head) + len(p.rest) + len(p.key) }

// mark returns the hash that stands for the rest of the URL in the index.
func (p place) mark() []byte {
	if p.rest == "" {
		return []byte{}
	}
	sum := sha256.Sum256([]byte(p.rest))
	return sum[:markSize]
}

func makePlace(url, key string) place {
	n := min(len(url), headSize)
	return place{head: url[:n], rest: url[n:], key: key}
}

// places returns the places that the index contains for the subject of c after the change, without
// duplicates.
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
