package scheme

import (
	"testing"

	"github.com/nomen-project/nomen/uri"
)

// The map is the baseline for Lookup.
func BenchmarkLookup(b *testing.B) {
	byName := map[string]Scheme{}
	c := standard()
	for s := range c.All() {
		byName[s.Name] = s
	}
	names := [...]string{"http", "std", "HTTPS", "example", "note", "mailto", "x-foo", "a"}
	b.Run("Known", func(b *testing.B) {
		for i := range b.N {
			c.Known(names[i%len(names)])
		}
	})
	b.Run("Lookup", func(b *testing.B) {
		for i := range b.N {
			c.Lookup(names[i%len(names)])
		}
	})
	b.Run("map of the exact name", func(b *testing.B) {
		for i := range b.N {
			_ = byName[names[i%len(names)]]
		}
	})
}

func BenchmarkParts(b *testing.B) {
	c := standard()
	for _, s := range [...]string{"http://example.org/a/b?q=1", "ftp://example.org/a/b/c.txt;type=a", "gopher://h.example/7find%09cats"} {
		u := uri.MustParse(s)
		name, _ := u.Scheme()
		b.Run("parse "+name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				_, _ = uri.Parse(s)
			}
		})
		b.Run("check "+name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				c.Check(u)
			}
		})
		b.Run("parts "+name, func(b *testing.B) {
			b.ReportAllocs()
			var dst []Part
			for range b.N {
				dst = c.AppendParts(dst[:0], u)
			}
		})
	}
}
