package server

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/nomen-project/nomen"
)

// A texts is a resolver of foreign names whose results are unstructured, by ElementID.
type texts struct {
	nomen.Resolver
	raw map[string]*nomen.Raw
}

func (x texts) Resolve(ctx context.Context, q nomen.Question) (*nomen.Answer, error) {
	raw := x.raw[strings.TrimPrefix(q.Name.Key(), "urn:dns:far.example:")]
	if raw == nil {
		return x.Resolver.Resolve(ctx, q)
	}
	a := &nomen.Answer{Service: nomen.I2C, Name: q.Name, Raw: raw}
	if q.Service != nomen.I2C {
		return nil, &nomen.Error{Kind: nomen.NoResult, Name: q.Name.Key(), Service: q.Service, Answer: a, Message: "not in " + raw.String()}
	}
	return a, nil
}

// Y95-35, Y95-40, Y95-63: an unstructured result is passed on unchanged, and cannot act
// in the name of this server.
func TestPassedOn(t *testing.T) {
	const page = "<html><script>alert(1)</script><form action=/-/x></form>"
	var inner texts
	s, _ := newTestServer(t, func(o *Options) {
		inner = texts{o.Resolver, map[string]*nomen.Raw{
			"text": {Type: "text/plain", Body: []byte("one\r\ntwo\r\n")}, "latin": {Type: `Text/Plain; charset="ISO-8859-1"; x="a,b"`, Body: []byte("\xf6")},
			"page": {Type: "text/html", Body: []byte(page)}, "svg": {Type: "image/svg+xml", Body: []byte("<svg/>")}, "none": {Body: []byte("\x00")},
			"odd": {Type: "text/html\r\nX: y", Body: []byte(page)}, "large": {Type: "text/plain", Body: []byte(strings.Repeat("x", maxPassed+1))},
			"urn+m": {Type: "text/plain", Body: []byte("old\r\n")}, "urn+c": {Type: "text/plain", Body: []byte("child.example\r\n")}, "urn+z": {Type: "text/plain", Body: []byte("z\r\n")},
		}}
		o.Resolver = inner
	})
	l := listen(t, s)
	for _, tt := range []struct {
		target, fields      string
		status, contentType string
		disposition, body   string
	}{
		{"urn:dns:far.example:text", "", "200", "text/plain", "", "one\r\ntwo\r\n"},
		{"/urn:dns:far.example:text", "", "200", "text/plain", "", "one\r\ntwo\r\n"}, // a request for I2L
		{"/urn:dns:far.example:text", "Accept: image/png, */*;q=0\r\n", "200", "text/plain", "", "one\r\ntwo\r\n"},
		{"/urn:dns:far.example:text", "Accept: application/json\r\n", "200", "application/json", "", `"content_type":"text/plain","body":"one\r\ntwo\r\n"`},
		{"/urn:dns:far.example:text?s=I2C", "", "200", "text/plain", "", "one\r\ntwo\r\n"},
		{"/urn:dns:far.example:text?s=I2L", "", "404", "", "", `10 bytes of "text/plain"`},
		{"/uri-res/N2L?urn:dns:far.example:text", "", "404", "", "", `10 bytes of "text/plain"`},
		{"/uri-res/N2C?urn:dns:far.example:text", "", "200", "text/plain", "", "one\r\ntwo\r\n"},
		{"urn:dns:far.example:latin", "", "200", "text/plain; charset=ISO-8859-1", "", "\xf6"},
		{"/urn:dns:far.example:page", asBrowser, "200", "text/html", "", page},
		{"/urn:dns:far.example:svg", asBrowser, "200", "image/svg+xml", "attachment", "<svg/>"},
		{"/urn:dns:far.example:none", asBrowser, "200", "application/octet-stream", "attachment", "\x00"},
		{"/urn:dns:far.example:odd", asBrowser, "200", "application/octet-stream", "attachment", page},
		{"/urn:dns:far.example:large", asBrowser, "502", "", "", ""},

		{"urn:dns:far.example:urn+m", "", "200", "text/plain", "", "old\r\n"}, // Y95-55, Y95-77
		{"/urn:dns:far.example:urn+m", "", "200", "text/plain", "", "old\r\n"},
		{"/uri-res/N2C?urn:dns:far.example:urn+m", "", "200", "text/plain", "", "old\r\n"},
		{"urn:dns:far.example:urn+c", "", "200", "text/plain", "", "child.example\r\n"}, // Y95-58
		{"/urn:dns:far.example:urn+c", "Accept: application/json\r\n", "200", "application/json", "", `"body":"child.example\r\n"`},
		{"urn:dns:far.example:urn+z", "", "200", "text/plain", "", "z\r\n"}, // its resolver may support it
		{"urn:dns:far.example:urn%2Bm", "", "404", "", "", ""},              // Y95-61
		{"urn:dns:unknown.example:urn+m", "", "404", "", "", ""},
		{"urn:dns:unknown.example:urn+c", "", "404", "", "", ""},
	} {
		status, fields, body := cutAnswer(exchange(t, l.Public, fmt.Sprintf("GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n%s\r\n", tt.target, tt.fields)))
		got := [...]string{strings.Fields(status)[1], fieldOf(fields, "Content-Type"), fieldOf(fields, "Content-Disposition")}
		if tt.contentType == "" {
			got[1] = ""
		}
		if want := [...]string{tt.status, tt.contentType, tt.disposition}; got != want || !strings.Contains(body, tt.body) {
			t.Errorf("%s, %q: got %q and %q, want %q and %q", tt.target, tt.fields, got, body, want, tt.body)
			continue
		}
		if tt.status != "200" || tt.contentType == "application/json" {
			continue
		}
		if policy := fieldOf(fields, "Content-Security-Policy"); !strings.HasPrefix(policy, "sandbox;") || !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "script") {
			t.Errorf("%s: the policy is %q", tt.target, policy)
		}
		if fieldOf(fields, "X-Content-Type-Options") != "nosniff" || fieldOf(fields, "X") != "" || strings.Contains(tt.body, "\n") && body != tt.body {
			t.Errorf("%s: got %q and %q", tt.target, fields, body)
		}
	}
}
