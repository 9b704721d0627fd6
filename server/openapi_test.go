package server

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/adminapi"
)

// The description of the API has every field of the lists of names; package admin tests
// the rest.
func TestOpenAPIOfLists(t *testing.T) {
	var doc struct {
		Components struct {
			Schemas map[string]struct{ Properties map[string]json.RawMessage }
		}
	}
	if err := json.Unmarshal(adminapi.OpenAPI, &doc); err != nil {
		t.Fatal(err)
	}
	for name, v := range map[string]any{"ListRow": batchItem{}, "ListAnswer": batchResult{}, "ListError": batchError{}} {
		var want []string
		for f := range reflect.TypeOf(v).Fields() {
			if tag, _, _ := strings.Cut(f.Tag.Get("json"), ","); tag != "" && tag != "-" {
				want = append(want, tag)
			}
		}
		slices.Sort(want)
		if got := slices.Sorted(maps.Keys(doc.Components.Schemas[name].Properties)); !slices.Equal(got, want) {
			t.Errorf("%s: described %q, in Go %q", name, got, want)
		}
	}
}

// Without an admin API, the admin listener answers with 404.
func TestWithoutAdmin(t *testing.T) {
	s, _ := newTestServer(t, nil)
	s.admin = nil
	l := listen(t, s)
	if got := exchange(t, l.Admin, "GET /api/v1/version HTTP/1.0\r\n\r\n"); !strings.HasPrefix(got, "HTTP/1.0 404 ") {
		t.Errorf("got %q", got)
	}
}
