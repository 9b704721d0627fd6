package server

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/gateway"
	"github.com/nomen-project/nomen/store"
)

// A body records when it is closed.
type closer struct {
	io.Reader
	closed int
}

func (c *closer) Close() error { c.closed++; return nil }

// RFC 2169, 3.3: the resource is sent unchanged, and its content cannot act in the name
// of this server.
func TestResource(t *testing.T) {
	s, h := newHeard(t, store.Policy{}, nil)
	for _, tt := range []struct {
		mediaType, want string
		attachment      bool
	}{
		{"text/plain; charset=iso-8859-1", "text/plain; charset=iso-8859-1", false},
		{"text/html", "text/html", true},
		{"image/svg+xml", "image/svg+xml", true},
		{"image/png", "image/png", false},
		{"", "application/octet-stream", true},
		{"text/html\r\nSet-Cookie: a=b", "application/octet-stream", true},
		{"nonsense", "application/octet-stream", true},
	} {
		body := &closer{Reader: strings.NewReader("<script>alert(1)</script>")}
		h.answer = func(q nomen.Question) (*nomen.Answer, error) {
			return &nomen.Answer{Service: nomen.I2R, Name: q.Name, Status: nomen.Active, Resource: &nomen.Resource{
				Type: tt.mediaType, Size: 25, URL: "https://example.org/1#top", Body: body,
			}}, nil
		}
		p := ask(s, "/urn:example:a?s=I2R", accepting("text/html"))
		if h.last.Accept != "text/html" {
			t.Errorf("the location is chosen by %q", h.last.Accept)
		}
		if got := p.get("Content-Type"); p.status != 200 || got != tt.want || p.get("Content-Length") != "25" || p.get("Content-Location") != "https://example.org/1" {
			t.Errorf("%q: %d, %v", tt.mediaType, p.status, p.fields)
		}
		if got := p.get("Content-Disposition") == "attachment"; got != tt.attachment {
			t.Errorf("%q: as an attachment: %v", tt.mediaType, got)
		}
		if policy := p.get("Content-Security-Policy"); !strings.HasPrefix(policy, "sandbox;") || strings.Contains(policy, "allow") || p.get("X-Content-Type-Options") != "nosniff" || p.get("Cache-Control") != "no-store" {
			t.Errorf("%q: %v", tt.mediaType, p.fields)
		}
		if got := stream(t, p); got != "<script>alert(1)</script>" {
			t.Errorf("got %q", got)
		}
		if p.drop(); body.closed != 1 {
			t.Errorf("closed %d times", body.closed)
		}
	}
}

// The number of resources forwarded at once is limited, in total and per address.
func TestResourceTurns(t *testing.T) {
	s, h := newHeard(t, store.Policy{}, func(o *Options) { o.Limits.Resources = 4 })
	of := func(from string) *reply {
		r := &request{method: "GET", target: "/urn:example:a?s=I2R", version: version{1, 1}, host: "example.org"}
		return s.decide(gateway.WithClient(t.Context(), &gateway.Client{Addr: netip.MustParseAddr(from)}), r)
	}
	resource := func(q nomen.Question) (*nomen.Answer, error) {
		return &nomen.Answer{Service: nomen.I2R, Name: q.Name, Status: nomen.Active, Resource: &nomen.Resource{Size: 0, Body: io.NopCloser(strings.NewReader(""))}}, nil
	}
	h.answer = resource
	var under []*reply
	for _, tt := range []struct {
		from string
		want int
	}{{"192.0.2.1", 200}, {"192.0.2.1", 429}, {"192.0.2.2", 200}, {"192.0.2.3", 200}, {"192.0.2.4", 200}, {"192.0.2.5", 503}} {
		p := of(tt.from)
		if p.status != tt.want || p.status != 200 && (p.get("Retry-After") == "" || !strings.Contains(string(p.body), "try again later")) {
			t.Errorf("%s: %d %v %s, want %d", tt.from, p.status, p.fields, p.body, tt.want)
		}
		under = append(under, p)
	}
	for _, p := range under {
		p.drop()
	}
	// Failed requests release their turns.
	for _, answer := range []func(nomen.Question) (*nomen.Answer, error){
		func(nomen.Question) (*nomen.Answer, error) { return nil, nomen.ErrUpstream },
		func(nomen.Question) (*nomen.Answer, error) { panic("a mistake") },
		func(q nomen.Question) (*nomen.Answer, error) {
			return &nomen.Answer{Service: nomen.I2R, Name: q.Name}, nil
		},
	} {
		h.answer = answer
		func() {
			defer func() { _ = recover() }()
			of("192.0.2.1").drop()
		}()
		h.answer = resource
		p := of("192.0.2.1")
		if p.status != 200 {
			t.Errorf("afterwards: %d", p.status)
		}
		p.drop()
	}
}

// N12-32: if an authority offers only resources, they are sent, and all of them are
// closed.
func TestResourceByDefault(t *testing.T) {
	s, h := newHeard(t, store.Policy{}, nil)
	var bodies []*closer
	h.answer = func(q nomen.Question) (*nomen.Answer, error) {
		bodies = append(bodies, &closer{Reader: strings.NewReader("abc")})
		return &nomen.Answer{Service: nomen.I2R, Name: q.Name, Status: nomen.Active, Resource: &nomen.Resource{Type: "text/plain", Size: 3, Body: bodies[len(bodies)-1]}}, nil
	}
	for _, target := range []string{"/urn:example:a", "/urn:example:a?s=I2C", "urn:example:a", "/uri-res/N2C?urn:example:a", "/urn:example:a#json"} {
		bodies = nil
		target, json := strings.CutSuffix(target, "#json")
		p := ask(s, target, accepting(map[bool]string{true: "application/json"}[json]))
		if thttp := strings.Contains(target, "uri-res"); thttp && p.status != 404 || !thttp && (p.status != 200 || stream(t, p) != "abc") {
			t.Errorf("%s: %d %s", target, p.status, p.body)
		}
		p.drop()
		for i, b := range bodies {
			if b.closed == 0 {
				t.Errorf("%s: body %d of %d is still open", target, i, len(bodies))
			}
		}
	}
}

// A truncated resource does not look complete, and one that is too long is cut.
func TestResourceOfAnotherSize(t *testing.T) {
	for _, tt := range []struct {
		content string
		size    int64
		want    string
		ok      bool
	}{{"abc", 3, "abc", true}, {"abc", 4, "abc", false}, {"abcd", 3, "abc", true}, {"abc", -1, "abc", true}} {
		var b bytes.Buffer
		if err := copyExactly(&b, strings.NewReader(tt.content), tt.size); b.String() != tt.want || (err == nil) != tt.ok {
			t.Errorf("%+v: got %q, %v", tt, b.String(), err)
		}
	}
}

// RFC 2169, 3.4: multipart/alternative with the acceptable versions; a version that
// cannot be read is left out.
func TestResources(t *testing.T) {
	s, h := newHeard(t, store.Policy{}, nil)
	big := strings.Repeat("0123456789", 10_000)
	var bodies []*closer
	resource := func(mediaType string, r io.Reader) *nomen.Resource {
		bodies = append(bodies, &closer{Reader: r})
		return &nomen.Resource{Type: mediaType, Size: -1, URL: "https://example.org/x", Body: bodies[len(bodies)-1]}
	}
	var all []*nomen.Resource
	h.answer = func(q nomen.Question) (*nomen.Answer, error) {
		return &nomen.Answer{Service: nomen.I2Rs, Name: q.Name, Status: nomen.Active, Resources: all, MaxAge: time.Minute}, nil
	}
	for accept, want := range map[string][]string{"": {"text/plain " + big, "image/gif GIF", "text/html "}, "image/*, text/html;q=0": {"image/gif GIF"}, "application/pdf": nil} {
		bodies, all = nil, nil
		all = []*nomen.Resource{
			resource("text/plain", strings.NewReader(big)), resource("image/png", broken{}), resource("image/gif", strings.NewReader("GIF")), resource("text/html", strings.NewReader("")),
		}
		p := ask(s, "/uri-res/N2Rs?urn:example:a", accepting(accept))
		kind, params, err := mime.ParseMediaType(p.get("Content-Type"))
		if err != nil || kind != "multipart/alternative" || p.get("Cache-Control") != "max-age=60" || !strings.HasPrefix(p.get("Content-Security-Policy"), "sandbox") {
			t.Fatalf("%d, %v", p.status, p.fields)
		}
		var got []string
		parts := multipart.NewReader(strings.NewReader(stream(t, p)), params["boundary"])
		for {
			part, err := parts.NextPart()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			b, err := io.ReadAll(part)
			if err != nil || part.Header.Get("Content-Location") != "https://example.org/x" {
				t.Errorf("%v, %v", part.Header, err)
			}
			got = append(got, part.Header.Get("Content-Type")+" "+string(b))
		}
		if strings.Join(got, "|") != strings.Join(want, "|") {
			t.Errorf("Accept: %s: got %.80q, want %.80q", accept, got, want)
		}
		p.drop()
		for i, b := range bodies {
			if b.closed != 1 {
				t.Errorf("body %d was closed %d times", i, b.closed)
			}
		}
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("no such file") }
