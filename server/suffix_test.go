package server

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// At every door, what follows a registered ARK is appended with its hyphens and its last slash. A
// response from the cache has the spelling of its own request.
func TestSuffixOfARK(t *testing.T) {
	srv, s := newTestServer(t, nil)
	authority := &store.Authority{Prefix: name.MustParsePrefix("ark:67375"), Owners: []string{"a", "b"}, Hosts: []string{"arks.example"}}
	authority.Suffix = store.SuffixAppend
	rec := &store.Record{Name: name.MustParse("ark:67375/x54"), Status: nomen.Active, Locations: []nomen.Location{{URL: "https://h.example/x"}}}
	if _, err := s.Apply(t.Context(), []store.Change{{Authority: authority, Time: modified}, {Record: rec, Time: modified}}); err != nil {
		t.Fatal(err)
	}
	url := "http://" + listen(t, srv).Public.String()
	client := http.Client{Timeout: 10 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for range 2 { // the second time from the cache
		for _, tt := range []struct{ host, target, want string }{
			{"", "/ark:/67375/x5-4/a-b/", "https://h.example/x/a-b/"},
			{"", "/ark:67375/x54/ab", "https://h.example/x/ab"},
			{"", "/ark:67375/x54/a-b", "https://h.example/x/a-b"},
			{"", "/ark%3A67375%2Fx54%2Fa-b", "https://h.example/x/a-b"},
			{"", "/ark:67375/x54/a-b?s=I2L", "https://h.example/x/a-b"},
			{"", "/uri-res/N2L?ark:67375/x54/a-b", "https://h.example/x/a-b"},
			{"arks.example", "/x5-4/a-b/?s=I2L", "https://h.example/x/a-b/"},
		} {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+tt.target, nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Host = tt.host
			res, err := client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			res.Body.Close()
			if got := res.Header.Get("Location"); got != tt.want {
				t.Errorf("%s%s: status %d to %q, want %q", tt.host, tt.target, res.StatusCode, got, tt.want)
			}
		}
	}
	res, err := client.Post(url+"/-/resolve?s=I2L", "text/uri-list", strings.NewReader("ark:/67375/x5-4/a-b/\n"))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var body strings.Builder
	if err := res.Write(&body); err != nil || !strings.Contains(body.String(), "https://h.example/x/a-b/") {
		t.Errorf("batch: %v, %s", err, &body)
	}
}
