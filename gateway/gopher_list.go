package gateway

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"strings"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// list writes a menu of the names of an authority, beginning after a key. It skips the names of
// other authorities in blocks, but must skip reserved names one by one. So a page ends early if it
// contains very many reserved names.
func (g *Gopher) list(ctx context.Context, m *menu, set *store.AuthoritySet, prefix, after string) {
	p, err := name.ParsePrefix(prefix)
	a := set.Exactly(p)
	if err != nil || a == nil || !lists(a) {
		m.refuse("no such authority lists its names here")
		return
	}
	begin, ok := g.unseal(after)
	if !ok {
		m.refuse("this page has expired; start the list again")
		return
	}
	m.say("Names of " + a.Prefix.String())
	l := listing{Gopher: g, menu: m, set: set, of: a, after: after}
	if err := l.from(ctx, begin); err != nil {
		g.fail(m, prefix, err)
		return
	}
	m.end()
}

type listing struct {
	*Gopher
	*menu
	set    *store.AuthoritySet
	of     *store.Authority
	after  string // key of the last listed name; before the first name, the key after which the page begins
	names  int
	looked int
}

// from writes the names that sort after key until the page is full.
func (l *listing) from(ctx context.Context, key string) error {
	for at, err := range Walk(ctx, l.o.Store, l.set, l.of, key) {
		if err != nil {
			return err
		}
		if l.looked++; l.looked > l.o.Look {
			l.more(l.seal(key))
			return nil
		}
		if key = at.Next; !at.Listed {
			continue
		}
		if l.names++; l.names > l.o.Page {
			l.more(l.after)
			return nil
		}
		rec := at.Record
		title := l.of.Prefix.Element(rec.Name)
		if titles := rec.Metadata["title"]; len(titles) > 0 {
			title += ": " + titles[0]
		}
		l.item('1', title, rec.Name.Key())
		l.after = rec.Name.Key()
	}
	return nil
}

func (l *listing) more(place string) {
	l.item('1', "More", selectList+l.of.Prefix.String()+" "+place)
}

// sealed is the prefix of a key that is encrypted. A key in a selector is encrypted if the name may
// be reserved, or if the authority does not list its names.
const sealed = "~"

func newSeal() cipher.AEAD {
	var key [32]byte
	rand.Read(key[:])                 // never fails
	block, _ := aes.NewCipher(key[:]) // no error for a key of this size
	seal, _ := cipher.NewGCMWithRandomNonce(block)
	return seal
}

// seal encrypts a key with a secret that the server generates when it starts.
func (g *Gopher) seal(key string) string {
	return sealed + base64.RawURLEncoding.EncodeToString(g.places.Seal(nil, nil, []byte(key), nil))
}

// unseal returns the key in a selector, and decrypts it if necessary. The result ok is false if
// this server has not encrypted the key since its start.
func (g *Gopher) unseal(place string) (key string, ok bool) {
	text, ok := strings.CutPrefix(place, sealed)
	if !ok {
		return place, true
	}
	hidden, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return "", false
	}
	open, err := g.places.Open(nil, nil, hidden, nil)
	return string(open), err == nil
}
