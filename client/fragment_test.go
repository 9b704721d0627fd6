package client

import (
	"errors"
	"strings"
	"testing"

	"github.com/nomen-project/nomen"
)

// N12-38: the fragment is not sent, but applied to the answer.
func TestFragment(t *testing.T) {
	n := newInternet(t)
	n.host("proxy", "192.0.2.1", says("HTTP/1.0 200 OK\r\nContent-Type: text/uri-list\r\n\r\nhttps://example.org/x\r\nhttps://example.org/y#own\r\n"))
	for _, s := range []string{"urn:ietf:rfc:2648#section-2", "<urn:ietf:rfc:2648?+r#section-2>", "ark:/12345/x#section-2", "https://purl.example/x#section-2"} {
		q := ask(t, s, nomen.I2Ls)
		a, err := n.client(Options{Via: "proxy"}).Resolve(t.Context(), q)
		if err != nil || a.Locations[0].URL != "https://example.org/x#section-2" || a.Locations[1].URL != "https://example.org/y#own" {
			t.Errorf("%s: got %+v, %v", s, a, err)
		}
	}
	for _, line := range n.lines() {
		if strings.Contains(line, "#") || strings.Contains(line, "section") {
			t.Errorf("sent %q", line)
		}
	}
}

// The fragment of the name that a redirection leads to takes precedence over that of the
// question (RFC 9110, 10.2.2).
func TestFragmentOfRedirection(t *testing.T) {
	for _, leads := range []string{
		moved(301, "<urn:ietf:rfc:1#near>", ""), moved(302, "Found", "urn:ietf:rfc:1#near"), moved(307, "x", "/urn:ietf:rfc:1?s=I2L#near"),
		"HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n{\"redirect\":\"urn:ietf:rfc:1#near\"}",
	} {
		n := newInternet(t)
		n.host("proxy", "192.0.2.1", func(r request) string {
			switch {
			case strings.Contains(r.line, "rfc:2648"):
				return leads
			case strings.Contains(r.line, "rfc:1 "):
				return moved(301, "urn:ietf:rfc:3", "")
			}
			return "HTTP/1.0 200 OK\r\nContent-Type: text/uri-list\r\n\r\nhttps://example.org/x\r\nhttps://example.org/y#own\r\n"
		})
		a, err := n.client(Options{Via: "proxy"}).Resolve(t.Context(), ask(t, rfc+"#far", nomen.I2Ls))
		if err != nil || a.Locations[0].URL != "https://example.org/x#near" || a.Locations[1].URL != "https://example.org/y#own" {
			t.Errorf("%q: got %+v, %v", leads, a, err)
		}
		if a, err := n.client(Options{Via: "proxy", MaxRedirects: -1}).Resolve(t.Context(), ask(t, rfc+"#far", nomen.I2Ls)); err != nil || a.Redirect != "urn:ietf:rfc:1#near" {
			t.Errorf("%q: got %+v, %v", leads, a, err)
		}
	}
}

// If a redirection now has another fragment, a kept answer is not reused, even if the resolver
// has nothing new.
func TestFragmentOfKeptAnswer(t *testing.T) {
	const last = "Tue, 21 Mar 1995 08:32:49 GMT"
	fragment := "#one"
	n := newInternet(t)
	n.host("proxy", "192.0.2.1", func(r request) string {
		switch {
		case strings.Contains(r.line, "rfc:2648"):
			return moved(302, "Found", "urn:ietf:rfc:1"+fragment)
		case r.field("If-Modified-Since") == last:
			return "HTTP/1.0 304 Not Modified\r\n\r\n"
		}
		return strings.Replace(urc("https://example.org/x"), "\r\n\r\n", "\r\nLast-Modified: "+last+"\r\n\r\n", 1)
	})
	c := n.client(Options{Via: "proxy"})
	var have Validators
	for _, tt := range []struct {
		fragment, want string // want is "" for unchanged
	}{{"#one", "https://example.org/x#one"}, {"#one", ""}, {"#two", "https://example.org/x#two"}, {"#two", ""}, {"", "https://example.org/x"}, {"", ""}, {"#one", "https://example.org/x#one"}} {
		fragment = tt.fragment
		a, got, err := c.ResolveIf(t.Context(), ask(t, rfc, nomen.I2Ls), have)
		switch {
		case tt.want == "" && !errors.Is(err, ErrUnchanged), tt.want != "" && (err != nil || a.Locations[0].URL != tt.want):
			t.Errorf("%q: got %+v, %v", tt.fragment, a, err)
		}
		have = got
	}
}
