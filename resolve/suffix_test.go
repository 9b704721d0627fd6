package resolve_test

import (
	"strings"
	"testing"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/resolve"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/uri"
)

// What follows a registered ARK is appended as the client spelled it, as resolvers of ARKs do.
func TestSuffixOfARK(t *testing.T) {
	d := newDesk(t, store.Policy{Suffix: store.SuffixAppend}, resolve.Options{},
		record("ark:12345/x54", at("https://h.example/x")), record("ark:12345/x54/c", at("https://h.example/deep")))
	spelled := func(s string) func(*nomen.Question) {
		return func(q *nomen.Question) { q.Subject = uri.MustParse(s) }
	}
	for spelling, want := range map[string]string{
		"ark:12345/x54/a-b/":         "https://h.example/x/a-b/",
		"ark:/12345/x5-4-/a-b.pdf":   "https://h.example/x/a-b.pdf",
		"ark:12345/x5-4.v-2":         "https://h.example/x.v-2",
		"ark:/1-2345/x54//a":         "https://h.example/x//a",
		"ark:12345/x54/%c3-%A4":      "https://h.example/x/%c3-%A4",
		"ark:12345/x54/-c-/d-e":      "https://h.example/deep/d-e", // the longest beginning
		"ark:12345/x54/a-b?info":     "https://h.example/x/a-b",
		"ark:12345/x54/a-b#top":      "https://h.example/x/a-b",
		"ark:12345///x54/a-b":        "https://h.example/x/a-b",
		"ark:12345/x54/-":            "https://h.example/x",
		"ark:12345/x54/ark:12345/-b": "https://h.example/x/ark:12345/-b",
	} {
		u := uri.MustParse(spelling)
		bare, _, _ := strings.Cut(strings.ReplaceAll(u.String(), "#", "?"), "?")
		a, err := d.ask(nomen.I2L, bare, spelled(spelling))
		if err != nil || len(a.Locations) != 1 || a.Locations[0].URL != want {
			t.Errorf("%s: got %+v, %v; want %s", spelling, a, err, want)
		}
	}
	for _, spelling := range []string{"ark:12345/x54/../d", "ark:12345/x54/c-d/../../../e"} { // they lead out of the location
		if a, err := d.ask(nomen.I2L, spelling, spelled(spelling)); err == nil {
			t.Errorf("%s: got %+v", spelling, a)
		}
	}
	// The spelling of another name does not count.
	d.leads("ark:12345/x54/a", "https://h.example/x/a")
	if a, err := d.ask(nomen.I2L, "ark:12345/x54/a", spelled("ark:12345/x54/b-c")); err != nil || a.Locations[0].URL != "https://h.example/x/a" {
		t.Errorf("got %+v, %v", a, err)
	}
}
