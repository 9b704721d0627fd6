package server

import (
	"slices"
	"strings"
	"testing"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/misses"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// Y95-09: a reserved request after a delimiter other than that of elements is a name. If
// the name is unknown, the request is suggested, and no failed lookup is counted.
func TestRequestMeant(t *testing.T) {
	c, err := misses.Open(misses.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, st := newTestServer(t, func(o *Options) { o.Misses = c })
	taken := name.MustParse("urn:nbn:fi:urn+c")
	_, err = st.Apply(t.Context(), []store.Change{
		{Time: modified, Authority: &store.Authority{Prefix: name.MustParsePrefix("urn:nbn:fi"), Owners: []string{"a", "b"}}},
		{Time: modified, Record: &store.Record{Name: taken, Spelling: taken.Key(), Status: nomen.Active, Locations: []nomen.Location{{URL: "https://example.org/c"}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		target, meant string
		status        int
	}{
		{"/urn:nbn:fi-urn+m", "", 200},
		{"/urn:nbn:fi-urn+x", "", 404},
		{"/urn:nbn:fi:urn+m", "urn:nbn:fi-urn+m", 404},
		{"/urn:nbn:fi:urn+m?at=2026-11-20", "urn:nbn:fi-urn+m", 404},
		{"/urn:nbn:fi:urn+c", "", 303},
		{"/urn:nbn:fi:urn+x", "", 404},
		{"/urn:nbn:fi-:urn+m", "", 404},
	} {
		p := ask(s, tt.target, accepting("text/plain"))
		if meant := strings.Contains(string(p.body), "  "+tt.meant); p.status != tt.status || tt.meant != "" && !meant {
			t.Errorf("%s: %d %s", tt.target, p.status, p.body)
		}
	}
	var missed []string
	for _, m := range c.List(0) {
		missed = append(missed, m.Name)
	}
	slices.Sort(missed)
	if got := strings.Join(missed, " "); got != "urn:nbn:fi-:urn+m urn:nbn:fi:urn+x" {
		t.Errorf("counted as missed: %s", got)
	}
}
