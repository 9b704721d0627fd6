package registrar

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
)

// TestDocumentedAuthorities takes the examples of the document as they stand.
func TestDocumentedAuthorities(t *testing.T) {
	text, err := os.ReadFile("../docs/authorities.md")
	if err != nil {
		t.Fatal(err)
	}
	r := New(memstore.New(), Options{})
	examples := strings.Split(string(text), "```json authority\n")[1:]
	if len(examples) < 3 {
		t.Fatalf("%d examples", len(examples))
	}
	for _, e := range examples {
		body, _, _ := strings.Cut(e, "```")
		d := json.NewDecoder(strings.NewReader(body))
		d.DisallowUnknownFields()
		var a store.Authority
		if err := d.Decode(&a); err != nil {
			t.Errorf("%s: %v", body, err)
			continue
		}
		if _, err := r.PutAuthority(t.Context(), Operator(), &a, 0, ""); err != nil {
			t.Errorf("%s: %v", body, err)
		}
	}
}
