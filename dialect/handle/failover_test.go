package handle

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// deadLocations are the dead locations of a test.
type deadLocations map[string]bool

func (d deadLocations) Key(location string) string { return "link " + location }

func (d deadLocations) Dead(location string) (since, changed time.Time, dead bool) {
	return testNow.AddDate(0, 0, -20), testNow, d[location]
}

// TestFailover: redirects of the proxy, and answers to repositories, lead to an archived copy while a
// location is dead; the values in the API stay as they are.
func TestFailover(t *testing.T) {
	h := newHarness(t)
	const page, copied = "https://a.example/page", "https://archive.example/page"
	put := func(failover store.Failover) {
		t.Helper()
		_, err := h.store.Apply(t.Context(), []store.Change{
			{Expected: store.AnyRevision, Time: testNow, Authority: &store.Authority{Prefix: name.MustParsePrefix("hdl:" + testPrefix), Owners: []string{"a", "b"}, Policy: store.Policy{Failover: failover}}},
			{Expected: store.AnyRevision, Time: testNow, Record: &store.Record{Name: name.MustParse("hdl:" + testPrefix + "/1"), Status: nomen.Active, Locations: []nomen.Location{{URL: page}, {URL: copied, Rel: "archive"}}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		h.server.authorities.Forget()
	}
	check := func(what, want string) {
		t.Helper()
		r := h.do("GET", "/"+testPrefix+"/1", "", "")
		if got := r.Header.Get("Location"); got != want || r.StatusCode != 302 || (r.Header.Get("Cache-Control") == "no-cache") != (want == copied) {
			t.Errorf("%s: got status %d, %v, want a redirect to %s", what, r.StatusCode, r.Header, want)
		}
		if got := h.text(h.do("GET", "/resolve/"+testPrefix+"/1", "", "")); !strings.Contains(got, want) {
			t.Errorf("%s: a repository gets %s, want %s", what, got, want)
		}
		if got := h.text(h.do("GET", "/api/handles/"+testPrefix+"/1", "", "")); strings.Index(got, page) > strings.Index(got, copied) || !strings.Contains(got, page) {
			t.Errorf("%s: the values have changed: %s", what, got)
		}
	}
	put("")
	h.dead[page] = true
	check("off", page)
	put(store.FailoverArchive)
	check("dead", copied)
	delete(h.dead, page)
	check("recovered", page)
}

// text returns the body of a response.
func (h *harness) text(r *http.Response) string {
	h.Helper()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		h.Fatal(err)
	}
	return string(b)
}
