package server

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
	"github.com/nomen-project/nomen/tlog"
	"github.com/nomen-project/nomen/tlog/publish"
	"github.com/nomen-project/nomen/tlog/receipt"
)

// newPublishing returns a server that publishes its log, with names of each kind.
func newPublishing(t *testing.T, content bool) (*Server, *memstore.Store, note.Verifier) {
	t.Helper()
	skey, vkey, err := tlog.GenerateKey(rand.Reader, "names.example/-/log", false)
	if err != nil {
		t.Fatal(err)
	}
	v, err := tlog.NewVerifier(vkey)
	if err != nil {
		t.Fatal(err)
	}
	var published *publish.Log
	srv, s := newTestServer(t, func(o *Options) {
		o.PublicURL = "https://names.example"
		published, err = publish.New(publish.Options{Store: o.Store.(*memstore.Store), Authorities: store.NewTable(o.Store, time.Now, 0), Key: skey, Entries: true, Content: content})
		if err != nil {
			t.Fatal(err)
		}
		o.Publication = published
	})
	put := func(key string, status nomen.Status, c store.Change) {
		n := name.MustParse(key)
		c.Record = &store.Record{Name: n, Spelling: key, Status: status, Locations: []nomen.Location{{URL: "https://example.org/" + key}}}
		c.Expected, c.Time = store.AnyRevision, modified.Add(time.Minute)
		if _, err := s.Apply(t.Context(), []store.Change{c}); err != nil {
			t.Fatal(err)
		}
	}
	if err := published.Step(t.Context()); err != nil { // from now on, digests are split
		t.Fatal(err)
	}
	put("urn:dns:example.org:open", nomen.Active, store.Change{})
	put("urn:dns:example.org:secret", nomen.Reserved, store.Change{})
	put("urn:dns:example.org:signed", nomen.Active, store.Change{Who: "anna-the-author", Why: "because-of-it"})
	put("urn:x-shut:a", nomen.Active, store.Change{})
	shut := &store.Authority{Prefix: name.PrefixFromKey("urn:x-shut"), Policy: store.Policy{Access: "denied"}}
	if _, err := s.Apply(t.Context(), []store.Change{{Authority: shut, Time: modified.Add(time.Minute)}}); err != nil {
		t.Fatal(err)
	}
	if err := published.Step(t.Context()); err != nil {
		t.Fatal(err)
	}
	return srv, s, v
}

// newPublication returns the published log of a store, with a new key.
func newPublication(t *testing.T, s store.Reader, origin string) *publish.Log {
	t.Helper()
	skey, _, err := tlog.GenerateKey(rand.Reader, origin, false)
	if err != nil {
		t.Fatal(err)
	}
	l, err := publish.New(publish.Options{Store: s.(*memstore.Store), Authorities: store.NewTable(s, time.Now, 0), Key: skey, Entries: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Step(t.Context()); err != nil {
		t.Fatal(err)
	}
	return l
}

// The published log is at /-/log/ for GET and HEAD over plain HTTP and TLS, in the pool of plain
// requests and with net/http, and not in the protocol of 1995.
func TestPublishedLog(t *testing.T) {
	s, m, v := newPublishing(t, false)
	head, err := m.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p := ask(s, "/-/log/checkpoint")
	signed, err := tlog.Open(p.body, v)
	if err != nil || signed.Size != head.Size || signed.Root != head.Hash || p.get("Cache-Control") != "max-age=1" {
		t.Fatalf("checkpoint: %d %v, %v", p.status, p.fields, err)
	}
	width := int(head.Size)
	tile := fmt.Sprintf("/-/log/tile/0/000.p/%d", width)
	for _, tt := range []struct {
		target string
		status int
		length int
	}{
		{tile, 200, 32 * width},
		{"/-/log/tile/0/000.p/1", 200, 32},
		{fmt.Sprintf("/-/log/tile/0/000.p/%d", width+1), 404, -1},
		{"/-/log/tile/0/000", 404, -1},
		{"/-/log/tile/0/000.p/0", 404, -1},
		{"/-/log/tile/0/000.p/256", 404, -1},
		{"/-/log/tile/0/000.p/01", 404, -1},
		{"/-/log/tile/0/0.p/1", 404, -1},
		{"/-/log/tile/0/x000/000.p/1", 404, -1},
		{"/-/log/tile/00/000.p/1", 404, -1},
		{"/-/log/tile/9/000.p/1", 404, -1},
		{"/-/log/tile/-1/000.p/1", 404, -1},
		{"/-/log/tile/0/000.p/1/", 404, -1},
		{"/-/log/tile/0/../0/000.p/1", 404, -1},
		{"/-/log/tile/0/x999/x999/x999/x999/x999/x999/999", 404, -1},
		{"/-/log/tile/entries/000.p/1", 403, -1},                      // the first entry is public, but not all of the bundle
		{fmt.Sprintf("/-/log/tile/entries/000.p/%d", width), 403, -1}, // the fixture has names that are not public
		{"/-/log/shown/000.p/1", 200, -1},
		{fmt.Sprintf("/-/log/shown/000.p/%d", width), 200, -1},
		{fmt.Sprintf("/-/log/shown/000.p/%d", width+1), 404, -1},
		{"/-/log/shown/entries/000.p/1", 404, -1},
		{"/-/log/shown/", 404, -1},
		{"/-/log/checkpoints", 404, -1},
		{"/-/log/", 200, -1},
		{"/-/log", 404, -1},
		{"/-/proof/", 400, -1},
	} {
		p := ask(s, tt.target)
		if p.status != tt.status || tt.length >= 0 && len(p.body) != tt.length {
			t.Errorf("%s: %d, %d bytes, want %d", tt.target, p.status, len(p.body), tt.status)
		}
		if tt.status == 200 && strings.Contains(tt.target, "tile") && !strings.Contains(p.get("Cache-Control"), "immutable") {
			t.Errorf("%s: Cache-Control %q", tt.target, p.get("Cache-Control"))
		}
		if tt.status == 403 && !strings.Contains(p.get("Cache-Control"), "no-store") {
			t.Errorf("%s: Cache-Control %q", tt.target, p.get("Cache-Control"))
		}
	}
	if p := ask(s, fmt.Sprintf("/-/log/shown/000.p/%d", width)); bytes.Contains(p.body, []byte("secret")) || bytes.Contains(p.body, []byte("x-shut:a")) || !bytes.Contains(p.body, []byte("example.org:open")) || p.get("Cache-Control") != "no-cache" {
		t.Errorf("the entries that are shown: %q, Cache-Control %q", p.body, p.get("Cache-Control"))
	}
	deny := &store.Authority{Prefix: name.PrefixFromKey("urn:x-shut"), Policy: store.Policy{Access: "denied"}}
	open, _ := newTestServer(t, func(o *Options) {
		skey, _, err := tlog.GenerateKey(rand.Reader, "names.example/-/log", false)
		if err != nil {
			t.Fatal(err)
		}
		empty := memstore.New()
		if _, err := empty.Apply(t.Context(), []store.Change{{Authority: deny, Time: modified}}); err != nil {
			t.Fatal(err)
		}
		o.Publication, err = publish.New(publish.Options{Store: empty, Authorities: store.NewTable(empty, time.Now, 0), Key: skey, Entries: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := o.Publication.Step(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
	if p := ask(open, "/-/log/tile/entries/000.p/1"); p.status != 200 || p.get("Cache-Control") != "no-cache" {
		t.Errorf("a bundle: %d, Cache-Control %q, want no-cache, because its entries may become private", p.status, p.get("Cache-Control"))
	}
	first := ask(s, tile)
	if again := ask(s, tile, func(r *request) { r.ifNoneMatch = first.get("ETag") }); again.status != 304 {
		t.Errorf("with its tag: %d, want 304", again.status)
	}
	l := listen(t, s)
	for _, request := range []string{
		"GET " + tile + " HTTP/1.1\r\nHost: names.example\r\nConnection: close\r\n\r\n", // the pool
		"GET " + tile + " HTTP/1.0\r\n\r\n",
		"GET " + tile + " HTTP/1.1\r\nHost: names.example\r\nX-Odd: 1\r\nExpect: x\r\nConnection: close\r\n\r\n",
		"HEAD " + tile + " HTTP/1.1\r\nHost: names.example\r\nConnection: close\r\n\r\n",
	} {
		status, fields, body := cutAnswer(exchange(t, l.Addrs[0], request))
		if strings.Contains(request, "Expect") && strings.Contains(status, "417") {
			continue
		}
		want := string(first.body)
		if strings.HasPrefix(request, "HEAD") {
			want = ""
		}
		if !strings.Contains(status, " 200 ") || body != want || fieldOf(fields, "Content-Length") != fmt.Sprint(32*width) {
			t.Errorf("%q: %s, %q, %d bytes", request, status, fields, len(body))
		}
	}
	if _, _, body := cutAnswer(exchange(t, l.Addrs[0], "GET -/log/checkpoint HTTP/1.0\r\n\r\n")); strings.Contains(body, "names.example/-/log\n") {
		t.Errorf("by the protocol of 1995: %q", body)
	}
	for _, method := range []string{"POST", "PUT", "DELETE"} {
		if p := ask(s, "/-/log/checkpoint", func(r *request) { r.method = method }); p.status != 405 {
			t.Errorf("%s: %d, want 405", method, p.status)
		}
	}
	off, _ := newTestServer(t, nil)
	for _, target := range []string{"/-/log/checkpoint", "/-/log/", tile, "/-/proof/urn:dns:example.org:alb001"} {
		if p := ask(off, target); p.status != 404 {
			t.Errorf("without a key, %s: %d, want 404", target, p.status)
		}
	}
}

// The published log is the same over TLS, with HTTP/1.1 and HTTP/2, and its uncached tiles count as
// costly requests of a client that is not on this machine.
func TestPublishedLogOverTLS(t *testing.T) {
	s, _, v := newPublishing(t, false)
	config, pool := certificate(t)
	config.NextProtos = []string{"h2", "http/1.1"}
	l, err := s.Listen(Listener{Address: "127.0.0.1:0", TLS: config})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Shutdown(t.Context()) })
	for _, http2 := range []bool{false, true} {
		resp, err := secureClient(t, pool, "127.0.0.1", http2).Get("https://" + l.Addrs[0].String() + "/-/log/checkpoint")
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tlog.Open(text, v); err != nil {
			t.Errorf("HTTP/2 %v: %v\n%s", http2, err, text)
		}
	}
	limited := 0
	c := secureClient(t, pool, "127.0.0.2", false)
	for range 200 {
		resp, err := c.Get("https://" + l.Addrs[0].String() + "/-/log/tile/0/000.p/1")
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode == 429 {
			limited++
		}
	}
	if limited == 0 {
		t.Error("200 uncached tiles at once, and none was refused")
	}
}

// Receipts are for names and times whose record everyone may see. All other names give the same
// answer as a name that never existed.
func TestReceipts(t *testing.T) {
	s, m, v := newPublishing(t, false)
	full, _, fullKey := newPublishing(t, true)
	check := func(s *Server, key note.Verifier, target string) *receipt.Result {
		t.Helper()
		p := ask(s, target)
		if p.status != 200 {
			t.Fatalf("%s: %d %s", target, p.status, p.body)
		}
		r, err := receipt.Check(p.body, key)
		if err != nil {
			t.Fatalf("%s: %v\n%s", target, err, p.body)
		}
		return r
	}
	if r := check(s, v, "/-/proof/urn:dns:example.org:open"); r.Change == nil || r.Change.Record.Locations[0].URL != "https://example.org/urn:dns:example.org:open" {
		t.Errorf("the content: %+v", r)
	}
	signed := "/-/proof/urn:dns:example.org:signed"
	if r := check(s, v, signed); r.Change == nil || !r.Public || r.Change.Who+r.Change.Why != "" || r.Change.Record.Locations[0].URL != "https://example.org/urn:dns:example.org:signed" {
		t.Errorf("the public content: %+v", r.Change)
	}
	_, extra, err := receipt.Parse(ask(s, signed).body)
	if err != nil || extra.Salt != nil || bytes.Contains(extra.Content, []byte("anna-the-author")) || bytes.Contains(extra.Content, []byte("because-of-it")) {
		t.Errorf("the receipt says who made the change, or how to guess it: %+v, %v", extra, err)
	}
	if r := check(full, fullKey, "/-/proof/urn:dns:example.org:signed"); r.Change == nil || r.Change.Why != "because-of-it" {
		t.Errorf("with content: %+v", r)
	}
	same := func(s *Server, a, b string) {
		t.Helper()
		pa, pb := ask(s, "/-/proof/"+a), ask(s, "/-/proof/"+b)
		body := func(p *reply, name string) string {
			return strings.ReplaceAll(string(inflate(t, p)), name, "NAME")
		}
		if pa.status != 404 || pa.status != pb.status || body(pa, a) != body(pb, b) {
			t.Errorf("%s: %d %s\n%s: %d %s", a, pa.status, pa.body, b, pb.status, pb.body)
		}
	}
	same(s, "urn:dns:example.org:secret", "urn:dns:example.org:absent")
	same(full, "urn:dns:example.org:secret", "urn:dns:example.org:absent")
	if p := ask(full, "/-/proof/urn:x-shut:a"); p.status != 403 || bytes.Contains(p.body, []byte("tlog-proof")) {
		t.Errorf("an authority that denies access: %d %s", p.status, p.body)
	}
	for _, tt := range []struct {
		target string
		status int
	}{
		{"/-/proof/urn:dns:example.org:open?at=2000-01-01", 404},
		{"/-/proof/urn:dns:example.org:open?at=2999-01-01", 200},
		{"/-/proof/urn:dns:example.org:open?at=2026-99-99", 400},
		{"/-/proof/urn:dns:example.org:open?at=2999-01-01T00:00:00Z", 200}, // the receipt says its own time
		{"/-/proof/urn:dns:example.org:open?at=" + modified.Format(time.DateOnly), 200},
		{"/-/proof/urn:dns:example.org:open?at=" + modified.Add(time.Minute).Format(time.RFC3339), 200},
		{"/-/proof/urn:dns:example.org:open?at=" + modified.Format(time.RFC3339), 404}, // before the first revision
		{"/-/proof/urn:dns:example.org:open?at=" + modified.AddDate(0, 0, -1).Format(time.DateOnly), 404},
		{"/-/proof/urn:dns:example.org:open?at=nonsense", 400},
		{"/-/proof/urn:dns:example.org:open?at=", 400},
		{"/-/proof/urn:dns:example.org:open?at", 400},
		{"/-/proof/urn:dns:example.org:open?at=2026-11-25&at=2026-11-26", 400},
		{"/-/proof/urn:dns:example.org:open?at=2026-11-25%00", 400},
		{"/-/proof/urn:dns:example.org:open?at=%", 400},
		{"/-/proof/urn:dns:example.org:open?at=0000-01-01", 400},
		{"/-/proof/urn:dns:example.org:open?format=pdf", 400},
		{"/-/proof/urn:dns:example.org:open?format=qr&format=qr", 400},
		{"/-/proof/urn:dns:example.org:open?format=qr&at=nonsense", 400},
		{"/-/proof/urn:dns:example.org:open?from=a-page", 200}, // not a parameter of receipts
		{"/-/proof/not a name", 400},
		{"/-/proof/urn:dns:example.org:open?format=qr", 200},
		{"/-/proof/urn:dns:example.org:secret?format=qr", 404},
	} {
		if p := ask(s, tt.target); p.status != tt.status {
			t.Errorf("%s: %d, want %d", tt.target, p.status, tt.status)
		}
	}
	if p := ask(s, "/-/proof/urn:dns:example.org:open?at=nonsense"); !bytes.Contains(inflate(t, p), []byte("must be a single time")) {
		t.Errorf("an invalid time is rejected without the reason: %s", inflate(t, p))
	}
	page := func(target string) string {
		return string(inflate(t, ask(s, target, func(r *request) { r.accept = "text/html" })))
	}
	if got := page("/urn:dns:example.org:open?s=I2C"); !strings.Contains(got, `href="/-/proof/urn:dns:example.org:open"`) || !strings.Contains(got, "format=qr") {
		t.Errorf("the page does not link to the receipt:\n%s", got)
	}
	next := &store.Record{Name: name.MustParse("urn:dns:example.org:open"), Spelling: "urn:dns:example.org:open", Status: nomen.Active}
	if _, err := m.Apply(t.Context(), []store.Change{{Record: next, Expected: 1, Time: modified.Add(2 * time.Minute)}}); err != nil {
		t.Fatal(err)
	}
	if p := ask(s, "/-/proof/urn:dns:example.org:open"); p.status != 503 || p.get("Retry-After") == "" {
		t.Errorf("a change that is not published yet: %d", p.status)
	}
	if err := s.publication.Step(context.Background()); err != nil {
		t.Fatal(err)
	}
	if r := check(s, v, "/-/proof/urn:dns:example.org:open"); r.Leaf.Revision != 2 {
		t.Errorf("the current revision: %+v", r.Leaf)
	}
	if r := check(s, v, "/-/proof/urn:dns:example.org:open?at="+modified.Add(time.Minute).Format(time.RFC3339)); r.Leaf.Revision != 1 {
		t.Errorf("the earlier revision: %+v", r.Leaf)
	}
}

// inflate returns the body of a reply without its coding.
func inflate(t *testing.T, p *reply) []byte {
	t.Helper()
	if p.get("Content-Encoding") != "gzip" {
		return p.body
	}
	r, err := gzip.NewReader(bytes.NewReader(p.body))
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
