package registrar

import (
	"slices"
	"testing"

	"github.com/nomen-project/nomen/store"
)

func TestDefaultSchemesLeadSomewhere(t *testing.T) {
	all := DefaultSchemes()
	for _, never := range []string{"javascript", "vbscript", "data", "blob", "about", "view-source", "file"} {
		if slices.Contains(all, never) {
			t.Errorf("%s may be the scheme of a location", never)
		}
	}
	for _, s := range all {
		if store.Runs(s) {
			t.Errorf("%s makes a browser run something", s)
		}
	}
	if !slices.Contains(all, "https") || len(schemeTable(nil)) != len(all) {
		t.Errorf("got %q, want the schemes that a registrar without options allows", all)
	}
}
