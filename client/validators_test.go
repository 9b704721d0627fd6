package client

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
)

// Y95-67: the condition is sent with the request that it came from, and with no other.
func TestConditional(t *testing.T) {
	const last = "Tue, 21 Mar 1995 08:32:49 GMT"
	n := newInternet(t)
	n.host("example.com", "192.0.2.1", func(r request) string {
		switch {
		case strings.Contains(r.line, "old"):
			return moved(301, "urn:dns:example.com:alb002", "")
		case r.field("If-Modified-Since") == last && r.field("If-None-Match") == `"1"`:
			return "HTTP/1.0 304 Not Modified\r\nETag: \"2\"\r\n\r\n"
		}
		return strings.Replace(urc("https://example.com/x"), "\r\n\r\n", "\r\nETag: \"1\"\r\nLast-Modified: "+last+"\r\n\r\n", 1)
	})
	for _, o := range []Options{{}, {Via: "example.com"}} {
		c := n.client(o)
		old := ask(t, "urn:dns:example.com:old", "")
		a, have, err := c.ResolveIf(t.Context(), old, Validators{})
		if err != nil || a.Name.Key() != alb || have.Tag != `"1"` || have.Modified != last || !have.Dated() {
			t.Fatalf("got %+v, %+v, %v", a, have, err)
		}
		n.asked = nil
		a, again, err := c.ResolveIf(t.Context(), old, have)
		if a != nil || !errors.Is(err, ErrUnchanged) || again.Tag != `"2"` || again.Modified != last || again.From != have.From {
			t.Errorf("got %+v, %+v, %v", a, again, err)
		}
		if n.asked[0].field("If-None-Match") != "" || n.asked[1].field("If-None-Match") == "" {
			t.Errorf("asked %q", n.asked)
		}
		for _, q := range []nomen.Question{ask(t, "urn:dns:example.com:other", ""), {Name: name.MustParse(alb), Languages: "sv"}} {
			n.asked = nil
			if _, _, err := c.ResolveIf(t.Context(), q, have); err != nil || n.asked[0].field("If-None-Match") != "" {
				t.Errorf("%+v: %v after %q", q, err, n.asked)
			}
		}
		n.asked = nil // the same name in another spelling
		if _, _, err := c.ResolveIf(t.Context(), ask(t, "URN:DNS:Example.com:%61lb002", ""), have); !errors.Is(err, ErrUnchanged) {
			t.Errorf("%v after %q", err, n.asked)
		}
	}
}

// Responses that must not be stored have no validators, and invalid validators do no harm.
func TestValidators(t *testing.T) {
	r := func(fields ...string) *reply {
		h := http.Header{}
		for i := 0; i < len(fields); i += 2 {
			h.Add(fields[i], fields[i+1])
		}
		return &reply{header: h, from: "x"}
	}
	const last = "Tue, 21 Mar 1995 08:32:49 GMT"
	for _, tt := range []struct {
		r    *reply
		want Validators
	}{
		{r(), Validators{}},
		{r("ETag", `"1"`), Validators{From: "x", Tag: `"1"`}},
		{r("Last-Modified", last, "Cache-Control", "no-cache"), Validators{From: "x", Modified: last}},
		{r("Last-Modified", last, "Cache-Control", "max-age=3, No-Store"), Validators{}},
	} {
		if got := tt.r.validators(); got != tt.want {
			t.Errorf("%v: got %+v, want %+v", tt.r.header, got, tt.want)
		}
	}
	if got := (Validators{From: "x", Tag: "a\r\nX: y"}).conditions("x"); len(got) != 0 {
		t.Errorf("got %v", got)
	}
	if got := (Validators{Tag: "a"}).conditions(""); got != nil {
		t.Errorf("got %v", got)
	}
}
