package codec

import (
	"bytes"
	"slices"
	"testing"

	"github.com/nomen-project/nomen/store"
)

// TestLeaves checks that a leaf is decoded to what it was made of.
func TestLeaves(t *testing.T) {
	for _, all := range []map[string]*store.Change{samples(t), samples2(t)} {
		for what, c := range all {
			if c.Token != nil {
				continue
			}
			e := &store.Entry{Seq: 7, Change: c, Digest: [32]byte{1, 2, 31: 9}}
			leaf := AppendLeaf(nil, e)
			l, err := ParseLeaf(leaf)
			if err != nil {
				t.Errorf("%s: %v", what, err)
				continue
			}
			if l.Subject != c.Subject() || l.Revision != c.Revision() || !l.Time.Equal(c.Time) || l.Digest != e.Digest || !slices.Equal(l.Redacts, c.Redacts) {
				t.Errorf("%s: got %+v", what, l)
			}
			if c.Record != nil && l.Status != c.Record.Status {
				t.Errorf("%s: got the status %q, want %q", what, l.Status, c.Record.Status)
			}
			for n := range leaf {
				if l, err := ParseLeaf(leaf[:n]); err == nil {
					t.Errorf("%s, only %d bytes: got %+v, want an error", what, n, l)
				}
			}
			if l, err := ParseLeaf(append(leaf, 0)); err == nil {
				t.Errorf("%s and another byte: got %+v, want an error", what, l)
			}
		}
	}
}

// FuzzLeaf checks that a leaf has only one spelling.
func FuzzLeaf(f *testing.F) {
	for _, c := range samples(f) {
		if c.Token == nil {
			f.Add(AppendLeaf(nil, &store.Entry{Seq: 1, Change: c}))
		}
	}
	f.Fuzz(func(t *testing.T, leaf []byte) {
		l, err := ParseLeaf(leaf)
		if err != nil {
			return
		}
		b := append([]byte{leafVersion, leaf[1]}, appendText(nil, l.Subject.Key)...)
		b = appendLeafRest(b, l.Revision, l.Time, l.Redacts, l.Digest)
		if !bytes.Equal(b, leaf) {
			t.Errorf("%x is read as %+v, which is written %x", leaf, l, b)
		}
	})
}
