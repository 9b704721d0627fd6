package resolve_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/resolve"
	"github.com/nomen-project/nomen/store"
)

// deadURLs are the dead locations of a test.
type deadURLs map[string]bool

func (d deadURLs) Key(location string) string { return "link " + location }

func (d deadURLs) Dead(location string) (since, changed time.Time, dead bool) {
	return time.Date(2026, 11, 3, 0, 0, 0, 0, time.UTC), time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC), d[location]
}

// TestFailover: a dead location gives way to another location of the resource or to an archived copy,
// if the authority says so and there is one.
func TestFailover(t *testing.T) {
	const page, copied, about, twin = "https://a.example/page", "https://archive.example/page", "https://a.example/about", "https://b.example/page"
	locations := []nomen.Location{
		{URL: about, Rel: "describedby", Priority: 2, Type: "text/html"},
		{URL: page, Type: "text/html", Lang: "fi"},
		{URL: copied, Rel: "archive", Priority: 3},
	}
	on := store.Policy{Failover: store.FailoverArchive, MaxAge: 3600}
	for _, tt := range []struct {
		what   string
		policy store.Policy
		more   []nomen.Location
		dead   deadURLs
		want   string
		moved  bool
	}{
		{"not dead", on, nil, nil, page, false},
		{"dead", on, nil, deadURLs{page: true}, copied, true},
		{"off by default", store.Policy{MaxAge: 3600}, nil, deadURLs{page: true}, page, false},
		{"both dead", on, nil, deadURLs{page: true, copied: true}, page, false},
		{"only the copy dead", on, nil, deadURLs{copied: true}, page, true},
		{"another location of the resource", on, []nomen.Location{{URL: twin, Type: "text/html", Lang: "fi"}}, deadURLs{page: true}, twin, true},
		{"another that is dead too", on, []nomen.Location{{URL: twin, Type: "text/html", Lang: "fi"}}, deadURLs{page: true, twin: true}, copied, true},
		{"the description does not count", on, nil, deadURLs{about: true}, page, false},
	} {
		r := record("urn:x-a:1", append(slices.Clone(locations), tt.more...)...)
		d := newDesk(t, tt.policy, resolve.Options{Dead: tt.dead}, r)
		prefers := func(q *nomen.Question) {
			q.Explain, q.Accept, q.Languages = true, "text/html, */*;q=0.5", "fi"
		}
		for _, service := range []nomen.Service{nomen.I2L, nomen.I2Ls, nomen.I2C} {
			a, err := d.ask(service, "1", prefers)
			if err != nil {
				t.Errorf("%s: %v", tt.what, err)
				continue
			}
			if got := a.Locations[0].URL; got != tt.want {
				t.Errorf("%s: %s: got %s, want %s", tt.what, service, got, tt.want)
			}
			if moved := len(a.Dead) > 0; moved != tt.moved || moved != (a.MaxAge == 0) || moved != (a.RedirectStatus == http.StatusFound) {
				t.Errorf("%s: %s: got dead %q, MaxAge %v and status %d, want moved %v", tt.what, service, a.Dead, a.MaxAge, a.RedirectStatus, tt.moved)
			}
			if why := strings.Join(a.Why, "\n"); strings.Contains(why, "have failed since 2026-11-03") != tt.moved {
				t.Errorf("%s: %s: got the explanation %s, want the date %v", tt.what, service, why, tt.moved)
			}
			for _, l := range a.Locations {
				if l.Down != (tt.moved && tt.dead[l.URL]) {
					t.Errorf("%s: %s: %s: unavailable %v", tt.what, service, l.URL, l.Down)
				}
			}
		}
		a, err := d.ask(nomen.I2L, "1", func(q *nomen.Question) { q.At = time.Now().Add(-time.Minute) })
		if err == nil && len(a.Dead) > 0 {
			t.Errorf("%s: a question about an earlier time got %q", tt.what, a.Dead)
		}
	}
}

// TestTemporary: redirects to copies are temporary, whatever status the authority has set.
func TestTemporary(t *testing.T) {
	const page, copied = "https://a.example/page", "https://archive.example/page"
	r := record("urn:x-a:1", nomen.Location{URL: page}, nomen.Location{URL: copied, Rel: "archive"})
	for status, want := range map[int]int{0: 302, 301: 302, 302: 302, 303: 302, 307: 307, 308: 307} {
		s := fill(t, []*store.Record{r}, []*store.Authority{{Prefix: name.MustParsePrefix("urn:x-a"), Redirect: status, Policy: store.Policy{Failover: store.FailoverArchive}}})
		a, err := resolve.New(s, resolve.Options{Dead: deadURLs{page: true}}).Resolve(t.Context(), nomen.Question{Name: named("1"), Service: nomen.I2L})
		if err != nil || a.RedirectStatus != want {
			t.Errorf("%d: got %+v, %v, want %d", status, a, err, want)
		}
	}
}
