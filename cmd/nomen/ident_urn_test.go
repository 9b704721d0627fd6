package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/namespace"
	"github.com/nomen-project/nomen/urn"
)

// TestNameParts: parts keep their order, and those of one name stay together.
func TestNameParts(t *testing.T) {
	for _, tt := range []struct {
		parts nameParts
		want  string
	}{
		{nameParts{{Name: "b", Value: "1"}, {Name: "a", Value: "<&>"}}, `{"b":"1","a":"<&>"}`},
		{nameParts{{Name: "a", Value: "1"}, {Name: "b", Value: ""}, {Name: "a", Value: "2"}}, `{"a":["1","2"],"b":""}`},
	} {
		var text strings.Builder
		e := json.NewEncoder(&text)
		e.SetEscapeHTML(false)
		if err := e.Encode(tt.parts); err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimSpace(text.String()); got != tt.want {
			t.Errorf("%v: got %s, want %s", tt.parts, got, tt.want)
		}
	}
}

// TestNamespaceExamples checks with all commands that the example of every namespace follows the
// rules of the namespace, in each dialect that can express the example (N12-54).
func TestNamespaceExamples(t *testing.T) {
	for _, d := range []urn.Dialect{urn.RFC2141, urn.Draft2012, urn.RFC8141} {
		e := &equality{dialects: &dialects{urn: d}}
		for n := range namespace.All() {
			u, err := d.Parse(n.Example)
			if err != nil {
				continue
			}
			v := verdict{Input: n.Example}
			v.namespace(u)
			for _, f := range v.Findings {
				if f.Severity == "error" {
					t.Errorf("%s, %s: %+v", d, n.Example, f)
				}
			}
			if n.Rules.Parts != nil && len(partsOf(u)) == 0 {
				t.Errorf("%s, %s: no parts", d, n.Example)
			}
			canonical, err := d.Parse(canonicalName(u))
			if err != nil || !e.names().Equivalent(u, canonical) {
				t.Errorf("%s, %s: its canonical form %q is another name: %v", d, n.Example, canonical, err)
			}
		}
	}
}
