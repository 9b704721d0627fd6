package registrar

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/rule"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
)

// TestDocumentedAuthorities writes the authorities that the documents show. Each is one line,
// as read by "nomen authority put -".
func TestDocumentedAuthorities(t *testing.T) {
	text, err := os.ReadFile("../docs/reference/authority.md")
	if err != nil {
		t.Fatal(err)
	}
	r := New(memstore.New(), Options{})
	examples := strings.Split(string(text), "```json authority\n")[1:]
	if len(examples) < 2 {
		t.Fatalf("%d examples", len(examples))
	}
	for _, e := range examples {
		body, _, _ := strings.Cut(e, "```")
		for line := range strings.Lines(body) {
			d := json.NewDecoder(strings.NewReader(line))
			d.DisallowUnknownFields()
			var a store.Authority
			if err := d.Decode(&a); err != nil {
				t.Errorf("%s: %v", line, err)
				continue
			}
			if _, err := r.PutAuthority(t.Context(), Operator(), &a, 0, ""); err != nil {
				t.Errorf("%s: %v", line, err)
			}
		}
	}
}

// TestDocumentedFields checks that the document names every field of an authority and of
// a rule.
func TestDocumentedFields(t *testing.T) {
	text, err := os.ReadFile("../docs/reference/authority.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []any{store.Authority{}, store.Policy{}, store.Delegation{}, rule.Rule{}, rule.Part{}, rule.Test{}} {
		for f := range reflect.TypeOf(v).Fields() {
			field, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if field != "" && !strings.Contains(string(text), "`"+field+"`") && !strings.Contains(string(text), `"`+field+`"`) {
				t.Errorf("%T: the field %q is not in the document", v, field)
			}
		}
	}
}
