package client

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/guard"
)

func moved(status int, phrase, location string) string {
	s := fmt.Sprintf("HTTP/1.0 %d %s\r\n", status, phrase)
	if location != "" {
		s += "Location: " + location + "\r\n"
	}
	return s + "\r\n"
}

// The reason phrase comes first, then Location (A95-4).
func TestDestination(t *testing.T) {
	direct, web := authority{}, site{"https://resolver.example/base/"}
	for _, tt := range []struct {
		way          way
		status       int
		phrase, loc  string
		name, url    string // expected name or URL
		newSite      string // expected new base URL, if name and url are ""
		notFetchable bool
	}{
		{way: direct, status: 301, phrase: "urn:dns:new.example:a", name: "urn:dns:new.example:a"},
		{way: direct, status: 302, phrase: "moved to URN:DNS:New.Example:A%2d, ask there", name: "URN:DNS:New.Example:A%2d"},
		{way: direct, status: 301, phrase: "Moved to urn:dns:new.example:a.", name: "urn:dns:new.example:a"},
		{way: direct, status: 301, phrase: "Moved (urn:dns:new.example:a(b)).", name: "urn:dns:new.example:a(b)"},
		{way: direct, status: 301, phrase: "urn:dns:new.example:a.", name: "urn:dns:new.example:a."},
		{way: direct, status: 301, phrase: "New URN: urn:dns:new.example:a", name: "urn:dns:new.example:a"},
		{way: direct, status: 301, phrase: "The urn:x has become urn:dns:new.example:a", name: "urn:dns:new.example:a"},
		{way: direct, status: 302, phrase: "see <urn:dns:new.example:a b>.", name: "urn:dns:new.example:ab"},
		{way: direct, status: 301, phrase: "(urn:ietf:rfc:2648 \"x\"", name: "urn:ietf:rfc:2648"},
		{way: direct, status: 301, phrase: "<urn:dns:new.example:a", name: "urn:dns:new.example:a"},
		{way: direct, status: 301, phrase: "see the xurn:no and urn:dns:new.example:a", name: "urn:dns:new.example:a"},
		{way: direct, status: 301, phrase: "urn:dns:new.example:a", loc: "urn:dns:other.example:b", name: "urn:dns:new.example:a"},
		{way: direct, status: 301, phrase: "urn:broken", loc: "urn:dns:other.example:b", name: "urn:dns:other.example:b"},
		{way: direct, status: 303, phrase: "urn:dns:new.example:a", loc: "urn:dns:other.example:b", name: "urn:dns:other.example:b"},
		{way: direct, status: 301, phrase: "Moved", loc: "/urn:dns:other.example:b", name: "urn:dns:other.example:b"},
		{way: direct, status: 308, phrase: "Moved", loc: "ark:/12345/x", name: "ark:/12345/x"},
		{way: direct, status: 307, phrase: "Moved", loc: "doi:10.1000/182", name: "doi:10.1000/182"},
		{way: direct, status: 302, phrase: "Found", loc: "http://other.example/x'y?z=%2f#f", url: "http://other.example/x'y?z=%2f#f"},
		{way: direct, status: 302, phrase: "Found", loc: "HTTP://Other.example/x", url: "HTTP://Other.example/x"},
		{way: direct, status: 302, phrase: "Found", loc: "ftp://other.example/x", url: "ftp://other.example/x", notFetchable: true},
		{way: direct, status: 302, phrase: "Found", loc: "https://other.example/urn:dns:x.example:y", url: "https://other.example/urn:dns:x.example:y"},

		{way: direct, status: 302, phrase: "Found"},
		{way: direct, status: 302, phrase: "Found", loc: "other"},
		{way: direct, status: 302, phrase: "Found", loc: "//other.example/x"},
		{way: direct, status: 302, phrase: "Found", loc: "http://other.example/ x"},
		{way: direct, status: 302, phrase: "Found", loc: "http://[other"},

		{way: web, status: 301, phrase: "x", loc: "urn:dns:other.example:b", name: "urn:dns:other.example:b"},
		{way: web, status: 301, phrase: "x", loc: "/base/urn:dns:other.example:b", name: "urn:dns:other.example:b"},
		{way: web, status: 301, phrase: "x", loc: "https://resolver.example/base/urn:dns:other.example:b?s=I2L", name: "urn:dns:other.example:b"},
		{way: web, status: 303, phrase: "x", loc: "ark:12345/x", name: "ark:12345/x"},
		{way: web, status: 301, phrase: "x", loc: "/base/https://purl.example/x", name: "https://purl.example/x"},
		{way: web, status: 301, phrase: "x", loc: "/base/https%3A%2F%2Fpurl.example%2Fx%3Fy=%2541?s=I2L", name: "https://purl.example/x?y=%41"},
		{way: web, status: 301, phrase: "x", loc: "/base/mailto:x@y.example", url: "https://resolver.example/base/mailto:x@y.example"},
		{way: web, status: 302, phrase: "x", loc: "/elsewhere", url: "https://resolver.example/elsewhere"},
		{way: web, status: 302, phrase: "x", loc: "//www.example/x", url: "https://www.example/x"},
		{way: web, status: 301, phrase: "x", loc: "http://www.resolver.example:8080/urn:dns:example.com:alb002?s=I2C", newSite: "http://www.resolver.example:8080/"},
		{way: web, status: 308, phrase: "x", loc: "https://Resolver.example/new/urn:dns:example.com:alb002", newSite: "https://resolver.example/new/"},
		{way: web, status: 303, phrase: "x", loc: "https://resolver.example/new/urn:dns:example.com:alb002", url: "https://resolver.example/new/urn:dns:example.com:alb002"},
		{way: web, status: 302, phrase: "x", loc: "https://other.example/urn:dns:example.com:alb002", url: "https://other.example/urn:dns:example.com:alb002"},
	} {
		r := &reply{status: tt.status, reason: tt.phrase, header: map[string][]string{"Location": {tt.loc}}}
		if tt.way == web {
			r.url = web.base + alb
		}
		d, err := r.destination(hop{subject: subject{spelling: alb}, way: tt.way})
		if tt.name+tt.url+tt.newSite == "" {
			var e *StatusError
			if !errors.As(err, &e) || e.Code != tt.status {
				t.Errorf("Y95-43: %d %q %q: got %+v, %v, want a *StatusError", tt.status, tt.phrase, tt.loc, d, err)
			}
			continue
		}
		if err != nil || d.subject.spelling != tt.name || d.url != tt.url || d.site != tt.newSite || d.fetchable != (tt.url != "" && !tt.notFetchable) {
			t.Errorf("Y95-43: %d %q %q: got %+v, %v, want %q %q %q", tt.status, tt.phrase, tt.loc, d, err, tt.name, tt.url, tt.newSite)
		}
	}
}

// ring returns a network with n names, each of which redirects to the next, and the last to the
// first.
func ring(t *testing.T, size int) *internet {
	n := newInternet(t)
	n.host("example.com", "192.0.2.1", func(r request) string {
		var i int
		fmt.Sscanf(r.line, "GET %d", &i)
		return moved(301, fmt.Sprintf("urn:dns:example.com:%d", (i+1)%size), "")
	})
	return n
}

// Loops of any length end, and so do endless chains.
func TestLoops(t *testing.T) {
	for _, size := range []int{1, 2, 10, 11} {
		n := ring(t, size)
		_, err := n.client(Options{MaxRedirects: 20}).Resolve(t.Context(), ask(t, "urn:dns:example.com:0", ""))
		var e *RedirectError
		if !errors.As(err, &e) || !e.Loop || len(n.asked) != size || len(e.Chain) != size+1 || e.Chain[0] != e.Chain[size] {
			t.Errorf("Y95-44: loop of %d: %v after %d requests", size, err, len(n.asked))
		}
	}
	for limit, requests := range map[int]int{0: DefaultMaxRedirects + 1, 3: 4} {
		n := ring(t, 1000)
		_, err := n.client(Options{MaxRedirects: limit}).Resolve(t.Context(), ask(t, "urn:dns:example.com:0", ""))
		var e *RedirectError
		if !errors.As(err, &e) || e.Loop || len(n.asked) != requests || !strings.Contains(err.Error(), fmt.Sprintf("more than %d redirections", requests-1)) {
			t.Errorf("Y95-44: limit %d: %v after %d requests", limit, err, len(n.asked))
		}
	}
	n := ring(t, 1000)
	a, err := n.client(Options{MaxRedirects: -1}).Resolve(t.Context(), ask(t, "urn:dns:example.com:0", ""))
	if err != nil || a.Redirect != "urn:dns:example.com:1" || a.Name.Key() != "urn:dns:example.com:0" || len(n.asked) != 1 {
		t.Errorf("without following: %+v, %v", a, err)
	}
}

// A loop is found even if each name is spelled differently each time.
func TestLoopBySpelling(t *testing.T) {
	n := newInternet(t)
	n.host("example.com", "192.0.2.1", func(r request) string {
		return moved(302, "<URN:dns:EXAMPLE.com:%61lb%30"+strings.Repeat("0", 1)+"2>", "")
	})
	_, err := n.client(Options{}).Resolve(t.Context(), ask(t, alb, ""))
	var e *RedirectError
	if !errors.As(err, &e) || !e.Loop || len(n.asked) != 1 {
		t.Errorf("Y95-44: got %v after %q", err, n.lines())
	}
}

func TestFollow(t *testing.T) {
	n := newInternet(t)
	n.host("example.com", "192.0.2.1", func(r request) string {
		switch {
		case strings.Contains(r.line, "old"):
			return moved(301, "Moved", "urn:dns:new.example:new")
		case strings.Contains(r.line, "elsewhere"):
			return moved(302, "urn:isbn:whoever:123", "")
		case strings.Contains(r.line, "page"):
			return moved(302, "Found", "https://example.org/location")
		}
		return moved(302, "Found", "gopher://example.org/0/x")
	})
	n.host("new.example", "192.0.2.2", says(urc("https://new.example/x")))
	c := n.client(Options{})

	a, err := c.Resolve(t.Context(), ask(t, "urn:dns:example.com:old", nomen.I2L))
	if err != nil || a.Name.Key() != "urn:dns:new.example:new" || a.Locations[0].URL != "https://new.example/x" ||
		!slices.Equal(a.Why, []string{"redirected to urn:dns:new.example:new"}) {
		t.Errorf("got %+v, %v", a, err)
	}
	_, err = c.Resolve(t.Context(), ask(t, "urn:dns:example.com:elsewhere", nomen.I2L)) // Y95-18
	var e *RouteError
	if !errors.As(err, &e) || e.Name != "urn:isbn:whoever:123" {
		t.Errorf("got %v", err)
	}
	for element, url := range map[string]string{"page": "https://example.org/location", "hole": "gopher://example.org/0/x"} {
		a, err = c.Resolve(t.Context(), ask(t, "urn:dns:example.com:"+element, nomen.I2L))
		if err != nil || len(a.Locations) != 1 || a.Locations[0].URL != url || a.Service != nomen.I2L {
			t.Errorf("%s: got %+v, %v", element, a, err)
		}
	}
}

// A public server cannot redirect us into a private network; a private one can.
func TestGuard(t *testing.T) {
	const publicAddress, privateAddress = "2606:2800:220:1::1", "10.0.0.1"
	for _, tt := range []struct {
		first, second string
		guard         bool
		requests      int // sent
	}{
		{publicAddress, publicAddress + "1", false, 2},
		{publicAddress, privateAddress, false, 1},
		{privateAddress, privateAddress + "1", false, 2},
		{privateAddress, publicAddress, false, 2},
		{publicAddress, publicAddress + "1", true, 2},
		{privateAddress, privateAddress + "1", true, 0},
	} {
		n := newInternet(t)
		n.host("example.com", tt.first, says(moved(301, "urn:dns:new.example:b", "")))
		n.host("new.example", tt.second, says(urc("https://new.example/x")))
		_, err := n.client(Options{Guard: tt.guard}).Resolve(t.Context(), ask(t, alb, ""))
		var e *guard.AddressError
		if refused := errors.As(err, &e); refused != (tt.requests < 2) || len(n.asked) != tt.requests {
			t.Errorf("%s to %s, guard %v: %v after %q", tt.first, tt.second, tt.guard, err, n.lines())
		}
	}
	n := newInternet(t) // a resolver that the user named is exempt
	n.host("proxy", privateAddress, says(urc("https://new.example/x")))
	if _, err := n.client(Options{Guard: true, Via: "proxy"}).Resolve(t.Context(), ask(t, alb, "")); err != nil {
		t.Error(err)
	}
	if public(netip.MustParseAddr(privateAddress)) {
		t.Error("the test is wrong")
	}
}

// Redirections of a proxy are followed through the proxy.
func TestFollowByProxy(t *testing.T) {
	n := newInternet(t)
	n.host("proxy.example", "192.0.2.9", func(r request) string {
		if strings.Contains(r.line, "2648") {
			return moved(301, "Moved", "urn:ietf:rfc:9999")
		}
		return moved(302, "Found", "https://example.org/9999.txt")
	})
	for _, service := range []nomen.Service{"", nomen.I2L} {
		a, err := n.client(Options{Via: "proxy.example"}).Resolve(t.Context(), ask(t, "urn:ietf:rfc:2648", service))
		if err != nil || a.Service != nomen.I2L || a.Name.Key() != "urn:ietf:rfc:9999" || a.Locations[0].URL != "https://example.org/9999.txt" {
			t.Errorf("Y95-64: %q: got %+v, %v", service, a, err)
		}
	}
	if want := "192.0.2.9:4500 GET urn:ietf:rfc:9999 HTTP/1.0"; n.lines()[1] != want {
		t.Errorf("Y95-64: asked %q, want %q", n.lines(), want)
	}
}

// Every redirection has exactly one target, which can be sent.
func FuzzDestination(f *testing.F) {
	f.Add(301, "Moved to urn:dns:new.example:a, ask there", "/urn:x-y:z?s=I2L#f", `<https://example.org/x>; rel="item"; title="a, b"`)
	f.Add(302, "<urn:dns:a.example:x y>", "https://example.org/x", `</x>;rel=original timegate,,<`)
	f.Add(302, "ȺȺȺȺȺȺȺȺȺȺurn:", "", "") // its length changes when folded
	f.Add(303, "See (urn:)", "//example.org", `<>;`)
	f.Fuzz(func(t *testing.T, status int, phrase, location, link string) {
		for _, w := range []way{authority{}, site{"https://resolver.example/"}, thttp{"https://resolver.example/uri-res/"}} {
			r := &reply{status: status, reason: phrase, header: map[string][]string{"Location": {location}, "Link": {link}}, url: "https://resolver.example/" + alb}
			d, err := r.destination(hop{subject: subject{spelling: alb}, way: w})
			if err != nil {
				continue
			}
			named := !d.subject.name.IsZero()
			places := 0
			for _, is := range []bool{named, d.site != "", d.url != ""} {
				if is {
					places++
				}
			}
			if places != 1 || named && !validTarget(d.subject.spelling) || d.url != "" && !validTarget(d.url) {
				t.Errorf("%d %q %q: %+v", status, phrase, location, d)
			}
			r.isItem(d.url)
			r.knowsTimes()
		}
	})
}
