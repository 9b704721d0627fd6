// Package servertest provides the records and helper functions that package server and the packages
// below it use in tests.
package servertest

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// Now is the time of the clock in tests, and Modified the time of all records.
var (
	Now      = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	Modified = time.Date(2026, 11, 19, 8, 30, 0, 0, time.UTC)
)

// ModifiedText is Modified in the format of HTTP dates.
const ModifiedText = "Thu, 19 Nov 2026 08:30:00 GMT"

// Authorities returns the authorities with which tests fill a store.
func Authorities() []*store.Authority {
	authority := func(prefix string, change func(*store.Authority)) *store.Authority {
		a := &store.Authority{Prefix: name.MustParsePrefix(prefix), Owners: []string{"archive", "library"}}
		change(a)
		return a
	}
	return []*store.Authority{
		authority("urn:ietf:rfc", func(a *store.Authority) { a.Default = true }),
		authority("urn:dns:example.org", func(a *store.Authority) {
			a.List, a.Contact, a.Description = true, "mailto:names@example.org", "Albums of all kinds"
			a.Children = []string{"urn:dns:labels.example.org", "urn:dns:more.example.org"}
		}),
		authority("urn:dns:other.example", func(a *store.Authority) {
			a.Parents = []string{"urn:dns:example.org", "urn:dns:example.net"}
			a.Addresses = []string{"127.0.0.9"}
			a.Redirect = 307
		}),
		authority("https://purl.example", func(*store.Authority) {}),
		authority("ark:12345", func(a *store.Authority) { a.Service = nomen.I2C }),
	}
}

// Records returns the records with which tests fill a store.
func Records() []*store.Record {
	at := func(urls ...string) (all []nomen.Location) {
		for _, u := range urls {
			all = append(all, nomen.Location{URL: u})
		}
		return all
	}
	active := func(spelling string, locations ...nomen.Location) *store.Record {
		return &store.Record{Spelling: spelling, Status: nomen.Active, Locations: locations}
	}
	retired := func(spelling string, successors ...string) *store.Record {
		return &store.Record{Spelling: spelling, Status: nomen.Retired, Reason: "a new edition", Successors: successors}
	}
	rfc := active("urn:ietf:rfc:2648",
		nomen.Location{URL: "https://www.rfc-editor.org/rfc/rfc2648.txt", Type: "text/plain", Priority: 1},
		nomen.Location{URL: "https://www.rfc-editor.org/rfc/rfc2648.html", Type: "text/html", Priority: 2},
	)
	rfc.Metadata = nomen.Metadata{"title": {"A URN Namespace for IETF Documents"}, "creator": {"R. Moats"}}
	rfc.SameAs = []string{"urn:doi:10.17487/rfc2648"}
	return []*store.Record{
		rfc,
		active("urn:dns:example.org:alb002", nomen.Location{URL: "https://example.org/albums/2", Note: "The second album"}),
		active("urn:dns:example.org:queried", at("https://example.org/q?a=1#top")...),
		active("urn:dns:example.org:a%2Fb", at("https://example.org/escaped")...),
		active("urn:dns:example.org:a%0D%0Ab", at("https://example.org/crlf")...),
		active("urn:dns:example.org:deep/er", at("https://example.org/deeper")...),
		active("urn:dns:example.org:bare"),
		active("urn:dns:example.org:data", nomen.Location{URL: "https://example.org/data.json", Type: "application/json"}),
		active("urn:dns:other.example:alb002", at("https://other.example/2")...),
		active("https://purl.example/net/x", at("https://example.org/purl")...),
		active("https://purl.example/cgi?id=7&s=I2C", at("https://example.org/by-id")...),
		active("ark:12345/x", at("https://example.org/ark")...),
		active("urn:example:pipe%7Ced", at("https://example.org/pipe")...),
		retired("urn:dns:example.org:old", "urn:dns:example.org:alb002"),
		retired("urn:dns:example.org:split", "urn:dns:example.org:alb002", "urn:dns:example.org:queried"),
		{Spelling: "urn:dns:example.org:secret", Status: nomen.Reserved, Locations: at("https://example.org/secret")},
	}
}

// Fill writes [Authorities] and [Records] into a store.
func Fill(t testing.TB, s store.Store) {
	t.Helper()
	var changes []store.Change
	for _, a := range Authorities() {
		changes = append(changes, store.Change{Authority: a, Time: Modified})
	}
	for _, r := range Records() {
		r.Name = name.MustParse(r.Spelling)
		changes = append(changes, store.Change{Record: r, Time: Modified})
	}
	if _, err := s.Apply(context.Background(), changes); err != nil {
		t.Fatal(err)
	}
}

// Exchange connects to addr, sends the bytes of request, and returns everything that it receives
// until the connection is closed.
func Exchange(t testing.TB, addr net.Addr, request string) string {
	t.Helper()
	c, err := net.Dial("tcp", addr.String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(time.Minute))
	if _, err := io.WriteString(c, request); err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(c)
	if err != nil {
		t.Fatalf("after %q: %v", b, err)
	}
	return string(b)
}

// CutAnswer splits a response into its status line, its header fields and its body.
func CutAnswer(answer string) (status string, fields []string, body string) {
	head, body, _ := strings.Cut(answer, "\r\n\r\n")
	lines := strings.Split(head, "\r\n")
	return lines[0], lines[1:], body
}

// FieldOf returns the value of the header field with the given name, or "".
func FieldOf(fields []string, name string) string {
	for _, f := range fields {
		if k, v, _ := strings.Cut(f, ": "); strings.EqualFold(k, name) {
			return v
		}
	}
	return ""
}

// A Buffer is a buffer that a test may read while a server writes to it.
type Buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write implements [io.Writer].
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

// String returns what was written.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// Logged returns a logger, and the buffer to which it writes.
func Logged() (*slog.Logger, *Buffer) {
	b := new(Buffer)
	return slog.New(slog.NewTextHandler(b, nil)), b
}

// Grant stores a token and returns its text, with the secret.
func Grant(t testing.TB, s store.Store, g adminapi.Grant) string {
	t.Helper()
	spelling, token := adminapi.NewToken(g, Now)
	if _, err := s.Apply(context.Background(), []store.Change{{Token: token, Time: Now}}); err != nil {
		t.Fatal(err)
	}
	return spelling
}
