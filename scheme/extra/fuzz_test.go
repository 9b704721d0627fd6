package extra

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/nomen-project/nomen/scheme/internal/schemetest"
	"github.com/nomen-project/nomen/uri"
)

// FuzzSchemes applies the rules of a scheme to any URI, in every dialect: they
// must not panic, offsets must be inside the spelling, parts must be at their
// offsets and make up the URI, and the canonical form must be a fixed point.
func FuzzSchemes(f *testing.F) {
	for s := range Catalogue().All() {
		f.Add(s.Example)
		f.Add(s.Name + ":%00/@?#")
		f.Add(s.Name + "://u:p@h:1/a%09b;c=d/..//*?e+f%0A#")
	}
	var file struct{ Vectors []struct{ Input string } }
	text, err := os.ReadFile("../../docs/spec/vectors/parse-1993.json")
	if err != nil {
		f.Fatal(err)
	}
	if err := json.Unmarshal(text, &file); err != nil {
		f.Fatal(err)
	}
	for _, v := range file.Vectors {
		f.Add(v.Input)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for d := uri.Draft1993; d.IsValid(); d++ {
			if u, err := d.Parse(s); err == nil {
				schemetest.Invariants(t, Catalogue(), u)
			}
		}
	})
}
