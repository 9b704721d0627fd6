package server

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/resolve"
	"github.com/nomen-project/nomen/store"
)

// deadLocations are locations that a test makes dead.
type deadLocations struct {
	mu  sync.Mutex
	all map[string]deadLocation
}

type deadLocation struct {
	dead    bool
	changed time.Time
}

func (d *deadLocations) Key(location string) string { return "link " + location }

func (d *deadLocations) Dead(location string) (since, changed time.Time, dead bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	l := d.all[location]
	return l.changed.AddDate(0, 0, -20), l.changed, l.dead
}

// toggle makes a location dead, or alive again.
func (d *deadLocations) toggle(s store.Reader, location string, now time.Time) {
	d.mu.Lock()
	if d.all == nil {
		d.all = map[string]deadLocation{}
	}
	d.all[location] = deadLocation{!d.all[location].dead, now}
	d.mu.Unlock()
	store.InvalidationsOf(s).Invalidate(d.Key(location))
}

// TestFailoverDoors: whatever the protocol and the form of a request, a change of the verdict about a
// location changes the answer at once, also one in the cache.
func TestFailoverDoors(t *testing.T) {
	const page, copied = "https://a.example/page", "https://archive.example/page"
	var dead deadLocations
	s, m := newTestServer(t, func(o *Options) {
		withAnswerCache(o)
		o.Resolver = resolve.New(o.Store, resolve.Options{Now: o.Now, Authorities: o.Authorities, Dead: &dead})
	})
	n := name.MustParse("urn:x-dead:1")
	_, err := m.Apply(t.Context(), []store.Change{
		{Time: modified, Authority: &store.Authority{Prefix: name.MustParsePrefix("urn:x-dead"), Owners: []string{"a", "b"}, Redirect: 301, Policy: store.Policy{Failover: store.FailoverArchive, MaxAge: 3600}}},
		{Time: modified, Record: &store.Record{Name: n, Spelling: n.Key(), Status: nomen.Active, Locations: []nomen.Location{{URL: page}, {URL: copied, Rel: "archive"}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.authorities.Forget()
	l := listen(t, s)
	second := httptest.NewUnstartedServer(s.Public())
	second.EnableHTTP2 = true
	second.StartTLS()
	defer second.Close()
	over := func(transport http.RoundTripper, base string) func(target, accept string) string {
		return func(target, accept string) string {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+target, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Accept", accept)
			resp, err := transport.RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			b, err := io.ReadAll(resp.Body)
			if err != nil {
				t.Fatal(err)
			}
			return fmt.Sprintf("%d %s %s\n%s", resp.StatusCode, resp.Header.Get("Cache-Control"), resp.Header.Get("Location"), b)
		}
	}
	raw := func(line string) func(_, _ string) string {
		return func(_, _ string) string { return exchange(t, l.Public, line) }
	}
	lane, http2 := over(http.DefaultTransport, "http://"+l.Public.String()), over(second.Client().Transport, second.URL)
	doors := []struct {
		what, target, accept string
		ask                  func(target, accept string) string
	}{
		{"plain lane", "/urn:x-dead:1", "*/*", lane},
		{"net/http", "/urn:x-dead:1", "*/*", over(handlerTransport{s}, "http://names.example")},
		{"HTTP/2", "/urn:x-dead:1", "*/*", http2},
		{"HEAD", "", "", raw("HEAD /urn:x-dead:1 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")},
		{"HTTP/1.0", "", "", raw("GET /urn:x-dead:1 HTTP/1.0\r\n\r\n")},
		{"1995, full name", "", "", raw("GET urn:x-dead:1 HTTP/1.0\r\n\r\n")},
		{"absolute form, as to a proxy", "", "", raw("GET urn:x-dead:1 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")},
		{"THTTP", "/uri-res/N2L?urn:x-dead:1", "*/*", lane},
		{"THTTP, list", "/uri-res/N2Ls?urn:x-dead:1", "*/*", lane},
		{"list", "/urn:x-dead:1?s=I2Ls", "text/uri-list", lane},
		{"JSON", "/urn:x-dead:1?s=I2C", "application/json", lane},
		{"description over HTTP/2", "/urn:x-dead:1?s=I2C", "application/json", http2},
		{"batch", "", "", func(_, _ string) string {
			_, _, b := post(t, l, "", "text/uri-list", "urn:x-dead:1\n")
			return b
		}},
	}
	now := testNow
	for round, want := range []string{page, copied, page, copied} {
		if round > 0 {
			now = now.Add(time.Minute)
			dead.toggle(m, page, now)
		}
		for _, d := range doors {
			for _, how := range []string{"first", "again"} {
				got := d.ask(d.target, d.accept)
				at, other := strings.Index(got, want), strings.Index(got, map[string]string{page: copied, copied: page}[want])
				if at < 0 || other >= 0 && other < at {
					t.Errorf("round %d: %s, %s: got %s, want %s first", round, d.what, how, got, want)
				}
				if (d.what == "plain lane" || d.what == "HTTP/2" || d.what == "net/http") && (strings.Contains(got, "302 no-cache") != (want == copied) || strings.Contains(got, "301 max-age=3600") != (want == page)) {
					t.Errorf("round %d: %s, %s: got %s; want a temporary redirect that is not cached only for the copy", round, d.what, how, got)
				}
			}
		}
	}
	if hits := hitsOf(s); hits < 4 {
		t.Errorf("%d answers from the cache; the test is to see that these change too", hits)
	}
}

// A handlerTransport passes requests to the handler of a server for net/http.
type handlerTransport struct{ s *Server }

func (h handlerTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	in := httptest.NewRequestWithContext(r.Context(), r.Method, r.URL.RequestURI(), r.Body)
	in.Header = r.Header
	h.s.Public().ServeHTTP(w, in)
	return w.Result(), nil
}
