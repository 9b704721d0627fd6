package client

import (
	"errors"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
)

// Each service takes its part of a description.
func TestProject(t *testing.T) {
	for _, tt := range []struct {
		service          nomen.Service
		locations, names int
		described        bool
	}{
		{nomen.I2L, 1, 0, false},
		{nomen.I2Ls, 2, 0, false},
		{nomen.I2N, 0, 1, false},
		{nomen.I2Ns, 0, 2, false},
		{nomen.I2C, 2, 2, true},
		{nomen.I2Cs, 2, 2, true},
	} {
		a := rich(t, nomen.I2C)
		a.Names = append(a.Names, "urn:x-y:z")
		a, err := project(a, hop{}, tt.service)
		if err != nil || a.Service != tt.service || len(a.Locations) != tt.locations || len(a.Names) != tt.names || (a.Metadata != nil) != tt.described {
			t.Errorf("%s: got %+v, %v", tt.service, a, err)
		}
		got, err := project(&nomen.Answer{Service: nomen.I2Cs}, hop{subject: subject{spelling: alb}}, tt.service)
		var e *nomen.Error
		switch errors.As(err, &e); {
		case tt.service.List() || tt.described:
			if err != nil || got.Service != tt.service {
				t.Errorf("%s of nothing: got %+v, %v", tt.service, got, err)
			}
		case e == nil || e.Kind != nomen.NoResult || e.Name != alb || e.Service != tt.service:
			t.Errorf("%s of nothing: got %+v, %v", tt.service, got, err)
		}
	}
	if _, err := project(rich(t, nomen.I2C), hop{}, nomen.IisI); !errors.Is(err, &nomen.Error{Kind: nomen.NoResult}) {
		t.Errorf("I=I of a description: %v", err)
	}
	if a, err := project(rich(t, nomen.I2N), hop{}, "I2X"); err != nil || a.Service != nomen.I2N {
		t.Errorf("an unknown service: %+v, %v", a, err)
	}
}

// What a format leaves to the header fields is taken from there.
func TestComplete(t *testing.T) {
	n := newInternet(t)
	n.host("example.com", "192.0.2.1", says("HTTP/1.0 200 OK\r\nContent-Type: text/uri-list\r\nLast-Modified: Tue, 21 Mar 1995 08:32:49 GMT\r\nCache-Control: public, Max-Age=60\r\n\r\nhttps://example.org/x\r\n"))
	a, err := n.client(Options{}).Resolve(t.Context(), ask(t, alb, nomen.I2Ls))
	if err != nil || !a.Modified.Equal(time.Date(1995, 3, 21, 8, 32, 49, 0, time.UTC)) || a.MaxAge != time.Minute ||
		a.Name != name.MustParse(alb) || a.Status != "" || a.Service != nomen.I2Ls || !slices.Equal(a.Locations, []nomen.Location{{URL: "https://example.org/x"}}) {
		t.Errorf("got %+v, %v", a, err)
	}
}

// A list of URIs from a protocol without services does not say whether they are names. They
// count as names if names were asked for.
func TestNamesInList(t *testing.T) {
	n := newInternet(t)
	n.host("example.com", "192.0.2.1", says("HTTP/1.0 200 OK\r\nContent-Type: text/uri-list\r\n\r\n# x\r\nurn:isbn:1\r\nhttps://example.org/x\r\nark:/12345/x\r\n"))
	for service, want := range map[nomen.Service][]string{nomen.I2Ns: {"urn:isbn:1", "ark:/12345/x"}, nomen.I2N: {"urn:isbn:1"}, nomen.I2Ls: nil} {
		a, err := n.client(Options{}).Resolve(t.Context(), ask(t, alb, service))
		if err != nil || !slices.Equal(a.Names, want) || a.Service != service {
			t.Errorf("%s: got %+v, %v", service, a, err)
		}
	}
}

func TestMaxAge(t *testing.T) {
	for field, want := range map[string]time.Duration{
		"":                          0,
		"max-age=5":                 5 * time.Second,
		"public,  MAX-AGE=5":        5 * time.Second,
		"max-age=5, no-cache":       0,
		"no-store":                  0,
		"max-age=-5":                0,
		"max-age=4294967295":        365 * 24 * time.Hour,
		"max-age=99999999999999999": 0,
		"s-maxage=5":                0,
	} {
		if got := maxAge(http.Header{"Cache-Control": {field}}); got != want {
			t.Errorf("%q: got %v, want %v", field, got, want)
		}
	}
}

// The Link fields of a redirection give the name that the resolver cites and describe the
// location. Links about other resources are ignored.
func TestLinks(t *testing.T) {
	for _, tt := range []struct {
		links []string
		name  string
		want  nomen.Location
	}{
		{nil, alb, nomen.Location{URL: "https://example.org/x"}},
		{[]string{`<https://resolver.example/r/urn:dns:example.com:Other>; rel="cite-as"`}, "urn:dns:example.com:Other", nomen.Location{URL: "https://example.org/x"}},
		{[]string{`<https://elsewhere.example/urn:dns:example.com:Other>; rel="cite-as"`}, alb, nomen.Location{URL: "https://example.org/x"}},
		{[]string{`<https://resolver.example/r/about>; rel="cite-as"`, `<https://example.org/y>; type="text/html"`}, alb, nomen.Location{URL: "https://example.org/x"}},
		{
			[]string{`</x>; rel=describedby, <https://example.org/x>; rel="archive"; type="text/html"; hreflang="en"`},
			alb,
			nomen.Location{URL: "https://example.org/x", Type: "text/html", Lang: "en", Rel: "archive"},
		},
		{[]string{`<https://example.org/x`, `;;`}, alb, nomen.Location{URL: "https://example.org/x"}},
	} {
		r := &reply{header: http.Header{"Link": tt.links}}
		s := hop{subject: subject{name: name.MustParse(alb), spelling: alb}, way: site{"https://resolver.example/r/"}}
		a, err := r.located(s, "https://example.org/x", nomen.Question{Service: nomen.I2L}, time.Time{})
		if err != nil || a.Name.Key() != tt.name || !slices.Equal(a.Locations, []nomen.Location{tt.want}) {
			t.Errorf("%q: got %+v, %v", tt.links, a, err)
		}
	}
}

// A stale answer from a server that cannot read its store is recognised. A hit in a cache on
// the way is not the same.
func TestStaleSince(t *testing.T) {
	const date = "Sun, 22 Nov 2026 09:30:30 GMT"
	for _, tt := range []struct {
		age, status, date string
		want              time.Time
	}{
		{"30", "nomen; hit; ttl=-30; detail=storage-away", date, time.Date(2026, 11, 22, 9, 30, 0, 0, time.UTC)},
		{"30", "", date, time.Time{}},
		{"30", "proxy; hit; ttl=30", date, time.Time{}},
		{"", "nomen; hit; ttl=-30", date, time.Time{}},
		{"x", "nomen; hit; ttl=-30", date, time.Time{}},
		{"30", "nomen; hit; ttl=-30", "", time.Time{}},
	} {
		if got := staleSince(http.Header{"Age": {tt.age}, "Cache-Status": {tt.status}, "Date": {tt.date}}); !got.Equal(tt.want) {
			t.Errorf("%+v: got %v", tt, got)
		}
	}
}
