package ark

import (
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/dialect"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/resolve"
	"github.com/nomen-project/nomen/server"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
)

// start is the time of all changes in tests.
var start = time.Date(2026, 11, 22, 4, 0, 0, 0, time.UTC)

// contents are the authorities and records of the tests.
func contents() []store.Change {
	authority := func(prefix string, policy store.Policy) store.Change {
		return store.Change{Time: start, Authority: &store.Authority{
			Prefix: name.MustParsePrefix(prefix), Owners: []string{"Example Library", "Example Archive"}, Description: "Books", Policy: policy,
		}}
	}
	record := func(key string, r store.Record) store.Change {
		r.Name = name.MustParse(key)
		if r.Status == "" {
			r.Status = nomen.Active
		}
		return store.Change{Time: start, Record: &r}
	}
	at := []nomen.Location{{URL: "https://example.org/1"}}
	book := nomen.Metadata{"creator": {"Proust, Marcel", "Monod, C."}, "title": {"Remembrance\nof 100% Things"}, "date": {"1922"}, "publisher": {"Grasset"}}
	return []store.Change{
		authority("ark:12345", store.Policy{Commitment: "Permanent: Stable Content", Suffix: store.SuffixAppend, MaxAge: 60}),
		authority("ark:99999", store.Policy{Access: store.AccessDenied}),
		authority("ark:b2345", store.Policy{Delegation: &store.Delegation{Mode: store.ModeRedirect, To: "https://n2t.net/{+name}"}}),
		authority("ark:54321", store.Policy{}),
		record("ark:12345/x5", store.Record{Locations: at, Metadata: book}),
		record("ark:12345/query", store.Record{Locations: []nomen.Location{{URL: "https://example.org/?id=1"}}}),
		record("ark:12345/gone", store.Record{Status: nomen.Retired, Reason: "withdrawn\r\nstatus: active", Metadata: nomen.Metadata{"title": {"Letters"}}}),
		record("ark:12345/held", store.Record{Status: nomen.Reserved, Metadata: nomen.Metadata{"title": {"Secret"}}}),
		record("ark:12345/own", store.Record{Locations: at, Values: []nomen.Value{
			{Index: 1, Type: "erc-support.what", Data: "Not Guaranteed"},
			{Index: 2, Type: "erc-support.when", Data: "2020"},
			{Index: 3, Type: "erc-support.who", Data: "secret", Permissions: "1100"},
			{Index: 10001, Type: "ezid:erc.who", Data: "(:tba)"},
		}}),
		record("ark:99999/x", store.Record{Locations: at, Metadata: book}),
		record("ark:54321/x", store.Record{Locations: at, Metadata: book}),
	}
}

// listen serves the contents on a listener with the dialect, and on one without it.
func listen(t *testing.T) (with, without string) {
	t.Helper()
	s := memstore.New()
	if _, err := s.Apply(t.Context(), contents()); err != nil {
		t.Fatal(err)
	}
	now := func() time.Time { return start }
	table := store.NewTable(s, now, time.Second)
	resolver := resolve.New(s, resolve.Options{Now: now, Authorities: table})
	scope := dialect.Scope{name.MustParsePrefix("ark:12345"), name.MustParsePrefix("ark:99999"), name.MustParsePrefix("ark:b2345")}
	h, err := New(Options{Scope: scope, Store: s, Resolver: resolver, Authorities: table})
	if err != nil {
		t.Fatal(err)
	}
	srv, err := server.New(server.Options{
		Store: s, Resolver: resolver, Authorities: table, Now: now, Dialects: map[string]dialect.Handler{"ark": h},
	})
	if err != nil {
		t.Fatal(err)
	}
	l, err := srv.Listen(server.Listener{Address: "127.0.0.1:0", Dialects: []string{"ark"}}, server.Listener{Address: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Shutdown(t.Context()) })
	return l.Addrs[0].String(), l.Addrs[1].String()
}

// request sends the lines of a request, and returns the lines of the response without those that the
// server itself adds. The header fields are in the order of their names.
func request(t *testing.T, address string, lines []string) []string {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	head := slices.Concat(lines, []string{"Host: id.example.org", "Connection: close", "", ""})
	if _, err := io.WriteString(c, strings.Join(head, "\r\n")); err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(c)
	if err != nil {
		t.Fatal(err)
	}
	fields, body, _ := strings.Cut(string(text), "\r\n\r\n")
	all := strings.Split(fields, "\r\n")
	if length := fmt.Sprintf("Content-Length: %d", len(body)); !slices.Contains(all, length) && !strings.HasPrefix(lines[0], "HEAD ") {
		t.Errorf("%s: want %s in %q", lines[0], length, all)
	}
	all = slices.DeleteFunc(all, func(s string) bool {
		return strings.HasPrefix(s, "Date: ") || strings.HasPrefix(s, "Content-Length: ") || s == "Connection: close"
	})
	slices.Sort(all[1:])
	return append(append(all, ""), strings.Split(body, "\n")...)
}

// The file testdata/golden.txt has requests (">") and the bytes of the responses ("<"). The rest is
// comment.
func TestGolden(t *testing.T) {
	text, err := os.ReadFile("testdata/golden.txt")
	if err != nil {
		t.Fatal(err)
	}
	with, _ := listen(t)
	var asked, want []string
	exchanges := 0
	compare := func() {
		if len(asked) == 0 {
			return
		}
		exchanges++
		if got := request(t, with, asked); !slices.Equal(got, want) {
			t.Errorf("%s\ngot:\n%s\n\nwant:\n%s", asked[0], strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		asked, want = nil, nil
	}
	for line := range strings.SplitSeq(string(text), "\n") {
		switch {
		case strings.HasPrefix(line, ">"):
			if len(want) > 0 {
				compare()
			}
			asked = append(asked, strings.TrimPrefix(line[1:], " "))
		case strings.HasPrefix(line, "<"):
			want = append(want, strings.TrimPrefix(line[1:], " "))
		}
	}
	compare()
	if exchanges < 8 {
		t.Errorf("%d exchanges", exchanges)
	}
}
