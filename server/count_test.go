package server

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	godiff "github.com/google/go-cmp/cmp"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/counts"
	"github.com/nomen-project/nomen/dialect"
	"github.com/nomen-project/nomen/gateway"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// newCounter returns a counter that writes only when a test reads it.
func newCounter(t testing.TB, now func() time.Time) *counts.Counter {
	t.Helper()
	c, err := counts.Open(counts.Options{Store: &counts.Memory{}, Every: 1000 * time.Hour, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// counted returns the counts of a kind, such as "urn:x:1 I2L regular 2". The second time, it returns
// the sums since the beginning, too.
func counted(t testing.TB, c *counts.Counter, kind counts.Kind) (lines []string) {
	t.Helper()
	s, err := c.Reader(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for r, err := range s.Rows(t.Context(), counts.Query{Kind: kind, To: 60000, Prefix: true}) {
		if err != nil {
			t.Fatal(err)
		}
		for _, cell := range r.Cells {
			lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s %v %v %d", r.Text, cell.What, cell.Class, cell.N)))
		}
	}
	return lines
}

// Resolutions are counted, whichever way the request takes to the server: the pool for plain requests
// with and without the cache of answers, net/http, HTTP/2, the protocol of 1995, THTTP and lists.
func TestCountsDoors(t *testing.T) {
	const agent = "User-Agent: Mozilla/5.0 Firefox/140.0"
	plain := func(method, target, agent string) string {
		return method + " " + target + " HTTP/1.1\r\nHost: localhost\r\n" + agent + "\r\nConnection: close\r\n\r\n"
	}
	const name = "urn:dns:example.org:alb002"
	for _, tt := range []struct {
		door, request string
		names, all    string // lines, separated by commas
	}{
		{"pool", plain("GET", "/"+name, agent), name + " I2L regular 1", "I2L regular 1"},
		{"pool, description", plain("GET", "/"+name+"?s=I2C", agent), name + " I2C regular 1", "I2C regular 1"},
		{"pool, list", plain("GET", "/"+name+"?s=I2Ls", agent), name + " I2Ls regular 1", "I2Ls regular 1"},
		{"pool, content negotiation", plain("GET", "/"+name, agent+"\r\nAccept: application/json"), name + " I2C regular 1", "I2C regular 1"},
		{"pool, other spelling", plain("GET", "/URN:DNS:Example.ORG:alb002", agent), name + " I2L regular 1", "I2L regular 1"},
		{"pool, robot", plain("GET", "/"+name, "User-Agent: Googlebot/2.1"), name + " I2L bot 1", "I2L bot 1"},
		{"pool, program", plain("GET", "/"+name, "User-Agent: curl/8.9.1"), name + " I2L machine 1", "I2L machine 1"},
		{"pool, no agent", plain("GET", "/"+name, "X-Other: 1"), name + " I2L unknown 1", "I2L unknown 1"},
		{"no location", plain("GET", "/urn:dns:example.org:bare", agent), "", ""},
		{"retired", plain("GET", "/urn:dns:example.org:split", agent), "urn:dns:example.org:split gone regular 1", "gone regular 1"},
		{"retired with one successor", plain("GET", "/urn:dns:example.org:old", agent), "urn:dns:example.org:old I2L regular 1", "I2L regular 1"},
		{"without an authority", plain("GET", "/urn:example:pipe%7Ced", agent), "urn:example:pipe%7Ced I2L regular 1", "I2L regular 1"},
		{"unknown", plain("GET", "/urn:dns:example.org:never", agent), "", "failed regular 1"},
		{"reserved", plain("GET", "/urn:dns:example.org:secret", agent), "", "failed regular 1"},
		{"malformed", plain("GET", "/urn:x", agent), "", ""},
		{"HEAD", plain("HEAD", "/"+name, agent), "", ""},
		{"HEAD of an unknown name", plain("HEAD", "/urn:dns:example.org:never", agent), "", ""},
		{"earlier time", plain("GET", "/"+name+"?at=2026-11-19T09:00:00Z", agent), "", ""},
		{"Accept-Datetime", plain("GET", "/"+name, agent+"\r\nAccept-Datetime: Thu, 19 Nov 2026 09:00:00 GMT"), "", ""},
		{"page", plain("GET", "/-/registry/", agent), "", ""},
		{"not modified", plain("GET", "/"+name+"?s=I2C", agent+"\r\nIf-Modified-Since: Fri, 20 Nov 2026 11:00:00 GMT"), name + " I2C regular 1", "I2C regular 1"},
		{"THTTP", plain("GET", "/uri-res/N2L?"+name, agent), name + " I2L regular 1", "I2L regular 1"},
		{"THTTP, description", plain("GET", "/uri-res/N2C?"+name, agent), name + " I2C regular 1", "I2C regular 1"},
		{"THTTP, names of a location", plain("GET", "/uri-res/L2Ns?https://example.org/albums/2", agent), "", ""},
		{"1995, Simple-Request", "GET " + name + "\r\n", name + " I2C unknown 1", "I2C unknown 1"},
		{"1995, HTTP/1.0", "GET " + name + " HTTP/1.0\r\n" + agent + "\r\n\r\n", name + " I2C regular 1", "I2C regular 1"},
		{"1995, element", "GET 2648 HTTP/1.0\r\n" + agent + "\r\n\r\n", "urn:ietf:rfc:2648 I2C regular 1", "I2C regular 1"},
		{
			"list", "POST /-/resolve HTTP/1.1\r\nHost: localhost\r\n" + agent + "\r\nConnection: close\r\nContent-Type: text/uri-list\r\nContent-Length: 80\r\n\r\n" +
				"urn:dns:example.org:alb002\r\nurn:dns:example.org:never\r\nurn:dns:example.org:split\n",
			name + " I2L regular 1,urn:dns:example.org:split gone regular 1", "I2L regular 1,gone regular 1,failed regular 1",
		},
	} {
		for _, cached := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, cached %t", tt.door, cached), func(t *testing.T) {
				c := newCounter(t, func() time.Time { return testNow })
				s, _ := newTestServer(t, func(o *Options) {
					o.Counts = c
					if cached {
						withAnswerCache(o)
					}
				})
				l := listen(t, s)
				for range 3 { // of which two are double clicks
					exchange(t, l.Public, tt.request)
				}
				split := func(s string) []string {
					return slices.DeleteFunc(strings.Split(s, ","), func(s string) bool { return s == "" })
				}
				if d := godiff.Diff(counted(t, c, counts.OfName), append([]string(nil), split(tt.names)...)); d != "" {
					t.Errorf("names: got -, want +:\n%s", d)
				}
				if d := godiff.Diff(counted(t, c, counts.OfAuthority), append([]string(nil), split(tt.all)...)); d != "" {
					t.Errorf("authorities: got -, want +:\n%s", d)
				}
			})
		}
	}
}

// Answers from the cache count like others, in the pool and over HTTP/2.
func TestCountsCached(t *testing.T) {
	now := testNow
	c := newCounter(t, func() time.Time { return now })
	s, _ := newTestServer(t, func(o *Options) {
		o.Counts, o.Now = c, func() time.Time { return now }
		withAnswerCache(o)
	})
	l := listen(t, s)
	web := httptest.NewUnstartedServer(s.Public())
	web.EnableHTTP2 = true
	web.StartTLS()
	defer web.Close()
	follow := func(client *http.Client, url string) {
		t.Helper()
		client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		resp, err := client.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		if err := resp.Body.Close(); err != nil || resp.StatusCode != http.StatusSeeOther {
			t.Errorf("%s: %v, %v", url, resp.Status, err)
		}
	}
	const target = "/urn:dns:example.org:alb002"
	for i := range 10 {
		now = now.Add(31 * time.Second)
		follow(&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}, "http://"+l.Public.String()+target)
		now = now.Add(31 * time.Second)
		follow(web.Client(), web.URL+target)
		if want := fmt.Sprintf("urn:dns:example.org:alb002 I2L machine %d", 2*i+2); i%4 == 3 && counted(t, c, counts.OfName)[0] != want {
			t.Errorf("got %q, want %q", counted(t, c, counts.OfName), want)
		}
	}
	if d := godiff.Diff(counted(t, c, counts.OfName), []string{"urn:dns:example.org:alb002 I2L machine 20"}); d != "" {
		t.Errorf("got -, want +:\n%s", d)
	}
	if hits := hitsOf(s); hits < 16 {
		t.Errorf("%d hits: the test says little", hits)
	}
}

// The double clicks of a person are those from the address that a trusted proxy reports.
func TestCountsBehindProxy(t *testing.T) {
	c := newCounter(t, func() time.Time { return testNow })
	s, _ := newTestServer(t, func(o *Options) {
		o.Counts, o.TrustedProxies = c, []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	})
	l := listen(t, s)
	for _, from := range []string{"192.0.2.1", "192.0.2.2", "192.0.2.1"} {
		exchange(t, l.Public, "GET /urn:dns:example.org:alb002 HTTP/1.1\r\nHost: localhost\r\nUser-Agent: Mozilla/5.0 Firefox/140.0\r\nX-Forwarded-For: "+from+"\r\nConnection: close\r\n\r\n")
	}
	if d := godiff.Diff(counted(t, c, counts.OfName), []string{"urn:dns:example.org:alb002 I2L regular 2"}); d != "" {
		t.Errorf("got -, want +:\n%s", d)
	}
}

// A dialect counts through its call, but not for HEAD.
func TestCountsDialect(t *testing.T) {
	c := newCounter(t, func() time.Time { return testNow })
	s, _ := newTestServer(t, func(o *Options) {
		o.Counts = c
		o.Dialects = map[string]dialect.Handler{"test": countingDialect{}}
	})
	l, err := s.Listen(Listener{Address: "127.0.0.1:0", Dialects: []string{"test"}}, Listener{Address: "127.0.0.1:0", Admin: true})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Shutdown(t.Context())
	for _, method := range []string{"GET", "HEAD"} {
		exchange(t, l.Public, method+" /anything HTTP/1.1\r\nHost: localhost\r\nUser-Agent: curl/8\r\nConnection: close\r\n\r\n")
	}
	if d := godiff.Diff(counted(t, c, counts.OfName), []string{"hdl:1/2 I2L machine 1"}); d != "" {
		t.Errorf("got -, want +:\n%s", d)
	}
}

type countingDialect struct{}

func (countingDialect) Serve(w http.ResponseWriter, _ *http.Request, c *dialect.Call) bool {
	c.Counted(name.MustParse("hdl:1/2"), counts.Of("I2L"))
	w.WriteHeader(http.StatusFound)
	return true
}

// Names of other servers are not counted, because counts would show what the users of this server
// read elsewhere.
func TestCountsForeign(t *testing.T) {
	s, m := newTestServer(t, func(o *Options) { o.Counts = newCounter(t, func() time.Time { return testNow }) })
	note := func(a parsedTarget) string {
		a.name, a.service = name.MustParse("urn:example:1"), nomen.I2L
		return s.note(newReply(http.StatusSeeOther), &request{method: http.MethodGet}, a).subject.name
	}
	if got := note(parsedTarget{}); got != "urn:example:1" {
		t.Errorf("a server that asks no other servers counts %q", got)
	}
	door, err := gateway.NewAccessControl(gateway.Access{Policy: gateway.Own, Own: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	if err != nil {
		t.Fatal(err)
	}
	s.explainer = &gateway.Explainer{Authorities: store.NewTable(m, time.Now, time.Hour), Ways: oneWay, Access: door}
	if got := note(parsedTarget{}); got != "" {
		t.Errorf("a foreign name is counted as %q", got)
	}
	if got := note(parsedTarget{authority: testAuthorities()[0]}); got != "urn:example:1" {
		t.Errorf("a name of an authority here is counted as %q", got)
	}
}

// Resources that this server delivers are counted apart from redirects, by class of client. A resource
// that could not be fetched does not count.
func TestCountsOfResources(t *testing.T) {
	c := newCounter(t, func() time.Time { return testNow })
	s, h := newHeard(t, store.Policy{}, func(o *Options) { o.Counts, o.Now = c, func() time.Time { return testNow } })
	l := listen(t, s)
	get := func(agent string) {
		exchange(t, l.Public, "GET /urn:example:a?s=I2R HTTP/1.1\r\nHost: localhost\r\nUser-Agent: "+agent+"\r\nConnection: close\r\n\r\n")
	}
	h.answer = func(nomen.Question) (*nomen.Answer, error) { return nil, nomen.ErrUpstream }
	get("Mozilla/5.0 Firefox/1.0")
	h.answer = func(q nomen.Question) (*nomen.Answer, error) {
		return &nomen.Answer{Service: nomen.I2R, Name: q.Name, Status: nomen.Active, Resource: &nomen.Resource{Type: "text/plain", Size: 1, Body: io.NopCloser(strings.NewReader("x"))}}, nil
	}
	for _, agent := range []string{"Mozilla/5.0 Firefox/140.0", "Mozilla/5.0 Firefox/140.0", "Mozilla/5.0 Firefox/141.0", "curl/8.9.1", "Googlebot/2.1"} {
		get(agent) // the second is a double click
	}
	h.answer = func(q nomen.Question) (*nomen.Answer, error) {
		return &nomen.Answer{Service: nomen.I2L, Name: q.Name, Status: nomen.Active, Locations: []nomen.Location{{URL: "https://example.org/"}}}, nil
	}
	exchange(t, l.Public, "GET /urn:example:a HTTP/1.1\r\nHost: localhost\r\nUser-Agent: Mozilla/5.0 Firefox/140.0\r\nConnection: close\r\n\r\n")
	got := counted(t, c, counts.OfName)
	slices.Sort(got)
	if d := godiff.Diff(got, []string{"urn:example:a I2L regular 1", "urn:example:a I2R bot 1", "urn:example:a I2R machine 1", "urn:example:a I2R regular 2"}); d != "" {
		t.Errorf("got -, want +:\n%s", d)
	}
}
