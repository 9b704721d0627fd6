package scheme_test

import (
	"encoding/json"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/scheme"
	"github.com/nomen-project/nomen/scheme/internal/schemetest"
	"github.com/nomen-project/nomen/uri"
)

// The fields of 1993 by scheme: U93-01, U93-11, U93-47, U93-49, U93-52, U93-56,
// U93-57, U93-63, U93-64 and others.
func TestParse1993Vectors(t *testing.T) {
	var file struct {
		Vectors []struct {
			ID, Input, Scheme string
			Fields            map[string]any
		}
	}
	readJSON(t, "../docs/spec/vectors/parse-1993.json", &file)
	if len(file.Vectors) < 36 {
		t.Fatalf("got %d vectors, want 36 or more", len(file.Vectors))
	}
	for _, v := range file.Vectors {
		t.Run(v.ID, func(t *testing.T) {
			u, err := uri.Draft1993.Parse(v.Input)
			if err != nil {
				t.Fatal(err)
			}
			if err := scheme.FirstError(scheme.Standard().Check(u)); err != nil {
				t.Errorf("Check(%q): %v", v.Input, err)
			}
			parts := scheme.Standard().Parts(u)
			for name, want := range v.Fields {
				checkField(t, v.Input, parts, name, want)
			}
			for _, p := range parts {
				if _, ok := v.Fields[fieldName(p.Name)]; !ok && p.Name != "suffix" && p.Name != "word" {
					t.Errorf("Parts(%q): a part that the vector does not have: %+v", v.Input, p)
				}
			}
			schemetest.Invariants(t, scheme.Standard(), u)
		})
	}
}

func fieldName(part string) string {
	if part == "attribute" {
		return "attributes"
	}
	return part
}

// checkField compares a field of a vector with the parts.
func checkField(t *testing.T, input string, parts []scheme.Part, name string, want any) {
	t.Helper()
	value, ok := scheme.Get(parts, name)
	switch want := want.(type) {
	case nil:
		if ok || name == "words" && len(scheme.GetAll(parts, "word")) > 0 {
			t.Errorf("%s of %q: got %q, want undefined", name, input, value)
		}
	case float64:
		if n, err := strconv.ParseFloat(value, 64); err != nil || n != want {
			t.Errorf("%s of %q: got %q, want %v", name, input, value, want)
		}
	case string:
		part := strings.TrimSuffix(name, "_decoded")
		if part != name {
			value, ok = partData(parts, part), true
		}
		if !ok || value != want {
			t.Errorf("%s of %q: got %q, %v; want %q", name, input, value, ok, want)
		}
	case []any:
		var got []string
		for _, p := range parts {
			if p.Name == strings.TrimSuffix(name, "s") {
				got = append(got, string(p.Data()))
			}
		}
		if !slices.EqualFunc(got, want, func(a string, b any) bool { return a == b }) {
			t.Errorf("%s of %q: got %q, want %q", name, input, got, want)
		}
	default:
		t.Fatalf("%s: a field of type %T", name, want)
	}
}

func readJSON(t *testing.T, file string, into any) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}

// The schemes of the draft are registered with its definitions, and no name is
// reserved for network management (U93-62).
func TestRegistryOf1993(t *testing.T) {
	var file struct {
		Schemes struct {
			Prefix  string `json:"experimental_prefix"`
			Entries []struct {
				Scheme, Status string
				Interactive    bool
			}
		} `json:"schemes_1993"`
	}
	readJSON(t, "../docs/spec/vectors/registries.json", &file)
	if !scheme.IsExperimental(file.Schemes.Prefix + "foo") {
		t.Errorf("IsExperimental(%sfoo): false", file.Schemes.Prefix)
	}
	got := map[string]bool{}
	for s := range scheme.Of1993().All() {
		got[s.Name] = true
	}
	for _, e := range file.Schemes.Entries {
		t.Run(e.Scheme, func(t *testing.T) {
			if !got[e.Scheme] {
				t.Error("U93-65: not in the registry of 1993")
			}
			delete(got, e.Scheme)
			s, ok := scheme.Standard().Lookup(e.Scheme)
			if !ok || s.Interactive != e.Interactive {
				t.Errorf("Lookup(%q): %v, interactive %v; want true, %v", e.Scheme, ok, s.Interactive, e.Interactive)
			}
		})
	}
	if len(got) > 0 {
		t.Errorf("the registry of 1993 has more than the draft: %v", got)
	}
}

func partData(parts []scheme.Part, name string) string {
	for _, p := range parts {
		if p.Name == name {
			return string(p.Data())
		}
	}
	return ""
}
