package answercache

import (
	"strings"
	"testing"

	"github.com/nomen-project/nomen/counts"
	"github.com/nomen-project/nomen/store"
)

// An entry has the name that its answer counts for, wherever the name is, also after the entry was moved to
// another segment. The name is not part of the response.
func TestNames(t *testing.T) {
	for _, tt := range []struct{ target, name string }{
		{"/urn:example:a", "urn:example:a"},
		{"/urn:example:a?s=I2C", "urn:example:a"},
		{"/URN:Example:a", "urn:example:a"},
		{"/uri-res/x", "urn:example:" + strings.Repeat("a", 900)},
		{"/urn:example:a", ""},
		{"/", "urn:example:a"},
		{"/urn:example:a", "urn:example:ab"},
	} {
		c, _, set := newCache(t, 1<<20)
		k, _ := c.Key(&Request{Target: tt.target}, set)
		d := new(store.Dependencies)
		c.Begin(&k, d)
		d.On("a")
		d.Vouch(set)
		c.Put(&k, set, d, Answer{Status: 303, Name: []byte(tt.name), What: counts.Gone}, []byte(text))
		for moved := range 2 {
			a, ok := c.Get(&k)
			if !ok || string(a.Name) != tt.name || a.What != counts.Gone || a.Hash != k.hash {
				t.Errorf("%s %q: got %t %q %v", tt.target, tt.name, ok, a.Name, a.What)
			}
			if got, _ := a.AppendTo(nil, date, false); string(got) != text {
				t.Errorf("%s %q: got %q", tt.target, tt.name, got)
			}
			if moved == 0 {
				s := c.shard(&k)
				s.mu.Lock()
				s.drop(true)
				s.mu.Unlock()
			}
		}
	}
}
