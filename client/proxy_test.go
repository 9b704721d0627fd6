package client

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/discover"
)

// bare is a resolver of 1995 that knows only ElementIDs (3.3: Y95-30).
func bare(r request) string {
	switch r.line {
	case "GET alb002 HTTP/1.0":
		return urc("https://example.com/" + r.field("Host"))
	case "GET gone HTTP/1.0":
		return "HTTP/1.0 410 Gone\r\n\r\n"
	}
	return "HTTP/1.0 404 Not Found\r\n\r\n"
}

// whole is a resolver that knows only full names.
func whole(r request) string {
	if r.line == "GET urn:dns:example.com:alb002 HTTP/1.0" || r.line == "GET "+rfc+" HTTP/1.0" {
		return urc("https://example.com/whole")
	}
	return "HTTP/1.0 404 Not Found\r\n\r\n"
}

// typed is a resolver that explains its 404, as our own server does.
func typed(request) string {
	return "HTTP/1.0 404 Unknown name\r\nContent-Type: application/problem+json\r\n\r\n" + `{"type":"https://github.com/nomen-project/nomen/problems#unknown-name","status":404}`
}

// Y95-30, Y95-38: a resolver named by HOST:PORT is asked in the form that it understands, and
// without a second request once the form is known.
func TestFormsOfNames(t *testing.T) {
	const full, element, other = "GET " + alb + " HTTP/1.0", "GET alb002 HTTP/1.0", "GET other HTTP/1.0"
	for _, tt := range []struct {
		name   string
		via    string
		serve  func(request) string
		asked  []string // names, in order
		want   []string // locations, or kinds of errors
		traces []string // request lines
	}{
		{"elements only", "h.example", bare, []string{alb, alb, "urn:dns:example.com:other"}, []string{"https://example.com/example.com", "https://example.com/example.com", "unknown-name"}, []string{full, element, element, other}},
		{"elements only, gone", "h.example", bare, []string{"urn:dns:example.com:gone"}, []string{"retired"}, []string{"GET urn:dns:example.com:gone HTTP/1.0", "GET gone HTTP/1.0"}},
		{"elements only, told so", "h.example:4500/element", bare, []string{alb}, []string{"https://example.com/example.com"}, []string{element}},
		{"elements only, told otherwise", "h.example/full", bare, []string{alb}, []string{"unknown-name"}, []string{full}},
		{"full names only", "h.example", whole, []string{alb, alb, "urn:dns:example.com:other"}, []string{"https://example.com/whole", "https://example.com/whole", "unknown-name"}, []string{full, full, "GET urn:dns:example.com:other HTTP/1.0"}},
		{"full names only, told so", "h.example/full", whole, []string{alb}, []string{"https://example.com/whole"}, []string{full}},
		{"full names only, told otherwise", "h.example/element", whole, []string{alb}, []string{"unknown-name"}, []string{element}},
		{"neither", "h.example", says("HTTP/1.0 404 No\r\n\r\n"), []string{alb}, []string{"unknown-name"}, []string{full, element}},
		{"a reason is enough", "h.example", typed, []string{alb}, []string{"unknown-name"}, []string{full}},
		{"a reason phrase is enough", "h.example", says("HTTP/1.0 404 Unknown name\r\n\r\n"), []string{alb}, []string{"unknown-name"}, []string{full}},
		{"bad request, then not found", "h.example", func(r request) string {
			if r.line == full {
				return "HTTP/1.0 400 Bad Request\r\n\r\n"
			}
			return "HTTP/1.0 404 Not Found\r\n\r\n"
		}, []string{alb}, []string{"unknown-name"}, []string{full, element}},
		{"hangs up on full names", "h.example", func(r request) string {
			if r.line == full {
				return ""
			}
			return bare(r)
		}, []string{alb}, []string{"https://example.com/example.com"}, []string{full, element}},
		{"not implemented", "h.example", func(r request) string {
			if r.line == full {
				return "HTTP/1.0 501 Not Implemented\r\n\r\n"
			}
			return bare(r)
		}, []string{alb}, []string{"https://example.com/example.com"}, []string{full, element}},
		{"other schemes", "h.example", func(r request) string {
			if r.line == "GET 2648 HTTP/1.0" && r.field("Host") == "" {
				return urc("https://example.com/2648")
			}
			return "HTTP/1.0 404 Not Found\r\n\r\n"
		}, []string{rfc}, []string{"https://example.com/2648"}, []string{"GET " + rfc + " HTTP/1.0", "GET 2648 HTTP/1.0"}},
		{"without an ElementID", "h.example", says("HTTP/1.0 404 No\r\n\r\n"), []string{"urn:isbn:0451450523", "doi:10.1/x"}, []string{"unknown-name", "unknown-name"}, []string{"GET urn:isbn:0451450523 HTTP/1.0", "GET doi:10.1/x HTTP/1.0"}},
		{"components", "h.example", says("HTTP/1.0 404 No\r\n\r\n"), []string{alb + "?=q"}, []string{"unknown-name"}, []string{"GET " + alb + "?=q HTTP/1.0"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := newInternet(t)
			n.host("h.example", "192.0.2.1", tt.serve)
			c := n.client(Options{Via: tt.via, Retries: -1})
			for i, s := range tt.asked {
				if got := outcome(c.Resolve(t.Context(), ask(t, s, nomen.I2C))); got != tt.want[i] {
					t.Errorf("%s: got %s, want %s", s, got, tt.want[i])
				}
			}
			var lines []string
			for _, r := range n.asked {
				lines = append(lines, r.line)
			}
			if !slices.Equal(lines, tt.traces) {
				t.Errorf("asked %q, want %q", lines, tt.traces)
			}
		})
	}
	var route *RouteError
	n := newInternet(t)
	n.host("h.example", "192.0.2.1", bare)
	if _, err := n.client(Options{Via: "h.example/element"}).Resolve(t.Context(), ask(t, "urn:isbn:0451450523", nomen.I2C)); !errors.As(err, &route) || len(n.asked) != 0 {
		t.Errorf("an invalid ElementID: %v", err)
	}
	if c, err := New(Options{Via: "h.example/both"}); err == nil {
		t.Errorf("got %#v", c.via)
	}
	r, err := n.client(Options{Via: "h.example"}).Audit(t.Context(), ask(t, alb, nomen.I2Ls))
	if err != nil || !r.Agree() || len(r.Answers[0].Answer.Locations) != 1 {
		t.Errorf("audit: got %+v, %v", r, err)
	}
	w := discover.Way{Kind: discover.Authority, Host: "h.example", Port: 4500, Form: discover.FormElement}
	if got := outcome(n.client(Options{Finder: finder{alb: {w}}}).Resolve(t.Context(), ask(t, alb, nomen.I2C))); got != "https://example.com/example.com" {
		t.Errorf("from a table: got %s", got)
	}
}

// outcome describes the result of a question.
func outcome(a *nomen.Answer, err error) string {
	var e *nomen.Error
	switch {
	case errors.As(err, &e):
		return e.Kind.String()
	case err != nil:
		return err.Error()
	case len(a.Locations) != 1:
		return fmt.Sprintf("%+v", a)
	}
	return a.Locations[0].URL
}

// Y95-35, Y95-40: text for people and unknown types are kept. For a service that asks for a part of
// a description, the error is NoResult.
func TestUnstructured(t *testing.T) {
	for _, tt := range []struct{ head, contentType string }{
		{"text/plain", "text/plain"}, {"text/html; charset=iso-8859-1", "text/html; charset=iso-8859-1"}, {"application/x-foo", "application/x-foo"},
	} {
		n := newInternet(t)
		n.host("example.com", "192.0.2.1", says("HTTP/1.0 200 OK\r\nContent-Type: "+tt.head+"\r\nLast-Modified: Tue, 21 Mar 1995 08:32:49 GMT\r\n\r\none\r\ntwo"))
		n.serve["192.0.2.1:80"] = n.serve["192.0.2.1:4500"]
		for _, o := range []Options{{}, {Via: "example.com"}, {Via: "http://example.com/"}, {Via: "http://example.com/uri-res/"}} {
			for _, s := range []nomen.Service{"", nomen.I2C, nomen.I2Cs} {
				a, err := n.client(o).Resolve(t.Context(), ask(t, alb, s))
				if err != nil || a.Raw == nil || a.Raw.Type != tt.contentType || string(a.Raw.Body) != "one\r\ntwo" || a.Status != "" || a.Modified.IsZero() {
					t.Errorf("%s, %+v, %q: got %+v, %v", tt.head, o.Via, s, a, err)
				}
			}
			for _, s := range []nomen.Service{nomen.I2L, nomen.I2Ls, nomen.I2N, nomen.I2Ns, nomen.IisI} {
				q := ask(t, alb, s)
				q.Other = ask(t, rfc, "").Subject
				_, err := n.client(o).Resolve(t.Context(), q)
				var e *nomen.Error
				var bad *FormatError
				if !errors.As(err, &e) || e.Kind != nomen.NoResult || e.Answer == nil || string(e.Answer.Raw.Body) != "one\r\ntwo" || !errors.As(err, &bad) || !strings.Contains(e.Message, `of "`+tt.contentType) {
					t.Errorf("%s, %+v, %q: got %v", tt.head, o.Via, s, err)
				}
			}
		}
	}
}

// Y95-41: the target of a redirection is known even if nothing answers there.
func TestRedirectToDeadPage(t *testing.T) {
	for name, page := range map[string]func(request) string{"no answer": nil, "not found": says("HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n"), "broken": says("x")} {
		n := newInternet(t)
		n.host("example.com", "2606:2800:220:1::1", says(moved(302, "Found", "http://dead.example/x")))
		if page != nil {
			n.hosts["dead.example"], n.serve["[2606:2800:220:1::2]:80"] = []string{"2606:2800:220:1::2"}, page
		}
		for _, o := range []Options{{Retries: -1}, {Retries: -1, Via: "example.com"}} {
			for _, s := range []nomen.Service{nomen.I2C, nomen.I2Cs, nomen.I2L, nomen.I2Ls} {
				a, err := n.client(o).Resolve(t.Context(), ask(t, alb, s))
				if got := outcome(a, err); got != "http://dead.example/x" || a.Service != s || a.Status != "" {
					t.Errorf("%s, %s: got %s, %v", name, s, got, err)
				}
			}
		}
	}
	// An error after a redirection names its target.
	n := newInternet(t)
	n.host("example.com", "192.0.2.1", says(moved(301, "urn:dns:dead.example:x", "")))
	_, err := n.client(Options{Retries: -1}).Resolve(t.Context(), ask(t, alb, nomen.I2C))
	if err == nil || !strings.Contains(err.Error(), "redirected to urn:dns:dead.example:x") {
		t.Errorf("got %v", err)
	}
}
