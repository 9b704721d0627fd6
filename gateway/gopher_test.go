package gateway

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/resolve"
	"github.com/nomen-project/nomen/server/servertest"
	"github.com/nomen-project/nomen/store"
)

// burrow serves records of urn:dns:here.example to Gopher clients, and returns the address.
func burrow(t testing.TB, o GopherOptions, records ...*store.Record) string {
	t.Helper()
	s := newStore(t, records,
		&store.Authority{Prefix: name.MustParsePrefix("urn:ietf:rfc"), Owners: []string{"a", "b"}, Description: "RFCs\r\n1Fake\tx\ty\t70"})
	o.Store, o.Authorities = s, store.NewTable(s, time.Now, time.Hour)
	if o.Resolver == nil {
		o.Resolver = resolve.New(s, resolve.Options{})
	}
	g, err := NewGopher(o)
	if err != nil {
		t.Fatal(err)
	}
	at, served := serveGopher(t, g)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		g.Shutdown(ctx)
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return at
}

// serveGopher serves at an address and reports a failure.
func serveGopher(t testing.TB, g *Gopher) (at string, served <-chan error) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- g.Serve(l) }()
	return l.Addr().String(), done
}

// dig sends bytes to a Gopher server and returns the response.
func dig(t testing.TB, at, request string) string {
	t.Helper()
	return servertest.Exchange(t, net.TCPAddrFromAddrPort(netip.MustParseAddrPort(at)), request)
}

// menuLines checks that each line of a menu has four fields, and returns them
// without the last.
func menuLines(t testing.TB, answer string) []string {
	t.Helper()
	body, ok := strings.CutSuffix(answer, "\r\n.\r\n")
	if !ok {
		t.Errorf("a menu without an end: %q", answer)
	}
	lines := strings.Split(body, "\r\n")
	for _, l := range lines {
		if strings.Count(l, "\t") != 3 || strings.ContainsAny(l, "\r\n\x00\x1b") {
			t.Errorf("a line %q", l)
		}
	}
	return lines
}

func TestGopherNames(t *testing.T) { // Y95-53; RFC 1436, 3.8
	fish := here("fish",
		nomen.Location{URL: "gopher://gopher.example/1/fish", Note: "The pond"},
		nomen.Location{URL: "gopher://[2001:db8::1]:7070/0/fish.txt"},
		nomen.Location{URL: "https://fish.example/a?b=1&c", Note: "On the web\nand more", Type: "text/html"},
		nomen.Location{URL: "telnet://fish.example/"},
	)
	fish.Metadata = nomen.Metadata{"title": {"All about\tfish\r\n.\r\n1Fake\tx\ty\t70"}}
	gone := here("gone")
	gone.Status, gone.Reason, gone.Successors = nomen.Retired, "moved", []string{"urn:dns:here.example:fish"}
	secret := here("secret")
	secret.Status = nomen.Reserved
	at := burrow(t, GopherOptions{}, fish, gone, secret)
	_, port, _ := net.SplitHostPort(at)
	own := "\t127.0.0.1\t" + port

	for _, tt := range []struct {
		request string
		want    []string // lines that are in the menu
		not     string
	}{
		{"\r\n", []string{
			"7Enter a name, such as urn:ietf:rfc:2648\t/-/name" + own,
			"1urn:dns:here.example\t/-/list/urn:dns:here.example" + own,
			"iurn:ietf:rfc: RFCs 1Fake x y 70\t\terror.host\t1",
		}, ""},
		{"/\n", []string{"7Enter a name, such as urn:ietf:rfc:2648\t/-/name" + own}, ""},
		{"urn:dns:here.example:fish\r\n", []string{
			"iurn:dns:here.example:fish\t\terror.host\t1",
			"ititle: All about fish . 1Fake x y 70\t\terror.host\t1",
			"0Complete record\t/-/text/urn:dns:here.example:fish" + own,
			"1The pond\t/fish\tgopher.example\t70",
			"0gopher://[2001:db8::1]:7070/0/fish.txt\t/fish.txt\t2001:db8::1\t7070",
			"hOn the web (text/html)\tURL:https://fish.example/a?b=1&c" + own,
			"htelnet://fish.example/\tURL:telnet://fish.example/" + own,
		}, ""},
		{"/URN:dns:HERE.example:fish\t+\r\n", []string{"1The pond\t/fish\tgopher.example\t70"}, ""}, // Gopher+
		{"/-/name\t<urn:dns:here.example: fish>\r\n", []string{"1The pond\t/fish\tgopher.example\t70"}, ""},
		{"/-/name\tURN:DNS:here.example:fish\r\n", []string{"1The pond\t/fish\tgopher.example\t70"}, ""},
		{"urn:dns:here.example:gone\r\n", []string{
			"iThis name was retired.\t\terror.host\t1", "ireason: moved\t\terror.host\t1",
			"1Use instead: urn:dns:here.example:fish\turn:dns:here.example:fish" + own,
		}, ""},
		{"/-/list/urn:dns:here.example\r\n", []string{
			"1fish: All about fish . 1Fake x y 70\turn:dns:here.example:fish" + own, "1gone\turn:dns:here.example:gone" + own,
		}, "secret"},
		{"/-/list/urn:ietf:rfc\r\n", []string{"3no such authority lists its names here\t\terror.host\t1"}, ""},
		{"/-/list/nonsense\r\n", []string{"3no such authority lists its names here\t\terror.host\t1"}, ""},
		{"urn:dns:here.example:secret\r\n", []string{"3urn:dns:here.example:secret: unknown-name"}, ""},
		{"urn:dns:here.example:other\r\n", []string{"3urn:dns:here.example:other: unknown-name"}, ""},
		{"urn:\r\n", []string{"3invalid name: offset "}, ""},
		{"GET / HTTP/1.0\r\n", []string{"3"}, "HTTP/"},
		{"a\x00b\r\n", []string{"3invalid selector: control character\t\terror.host\t1"}, ""},
		{"a\x1b[2Jb\r\n", []string{"3invalid selector: control character\t\terror.host\t1"}, ""},
		{"a\rb\r\n", []string{"3invalid selector: control character\t\terror.host\t1"}, ""},
		{strings.Repeat("a", 5000) + "\r\n", []string{"3invalid selector: must be one line, at most 4096 bytes\t\terror.host\t1"}, ""},
		{"/-/name\r\n", []string{"3please enter a name"}, ""},
		{"\r\nurn:dns:here.example:fish\r\n", []string{"7Enter a name, such as urn:ietf:rfc:2648\t/-/name" + own}, "pond"},
	} {
		got := dig(t, at, tt.request)
		lines := menuLines(t, got)
		for _, want := range tt.want {
			found := false
			for _, l := range lines {
				found = found || l == want || !strings.Contains(want, "\t") && strings.HasPrefix(l, want)
			}
			if !found {
				t.Errorf("%.60q: got\n%s\nwant a line %q", tt.request, strings.ReplaceAll(got, "\t", " | "), want)
			}
		}
		if tt.not != "" && strings.Contains(got, tt.not) {
			t.Errorf("%.60q: got %q in\n%s", tt.request, tt.not, got)
		}
	}
}

// Y95-55 to Y95-59: reserved requests about authorities that are served here.
func TestGopherReserved(t *testing.T) {
	s := newStore(t, []*store.Record{here("fish")},
		&store.Authority{
			Prefix: name.MustParsePrefix("urn:dns:org.example"), Owners: []string{"anna", "ben"}, Description: "Names\r\n1Fake\tx\ty\t70",
			Contact: "mailto:names@org.example", Children: []string{"urn:dns:here.example", "urn:dns:far.example"},
		},
		&store.Authority{Prefix: name.MustParsePrefix("urn:dns:closed.example"), Owners: []string{"carl"}, Policy: store.Policy{Access: store.AccessDenied}})
	g, err := NewGopher(GopherOptions{Resolver: resolve.New(s, resolve.Options{}), Store: s, Authorities: store.NewTable(s, time.Now, time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	at, served := serveGopher(t, g)
	defer func() {
		g.Shutdown(t.Context())
		<-served
	}()
	_, port, _ := net.SplitHostPort(at)
	own := "\t127.0.0.1\t" + port
	for _, tt := range []struct {
		request string
		want    []string
		not     string
	}{
		{"urn:dns:org.example:urn+m", []string{
			"iThis is the resolver of the naming authority urn:dns:org.example.\t\terror.host\t1",
			"iNames 1Fake x y 70\t\terror.host\t1", "icontact: mailto:names@org.example\t\terror.host\t1", "iowners: anna, ben\t\terror.host\t1",
		}, "Its names"},
		{"/URN:DNS:ORG.example:urn+m", []string{"iowners: anna, ben\t\terror.host\t1"}, ""},
		{"urn:dns:here.example:urn+m", []string{"1Its names\t/-/list/urn:dns:here.example" + own}, ""},
		{"urn:dns:here.example:urn+a", []string{"1fish\turn:dns:here.example:fish" + own}, ""},
		{"urn:dns:org.example:urn+a", []string{"3urn:dns:org.example: this naming authority does not list its names\t\terror.host\t1"}, "fish"},
		{"urn:dns:org.example:urn+c", []string{"1urn:dns:here.example\turn:dns:here.example:urn+m" + own, "iurn:dns:far.example\t\terror.host\t1"}, ""},
		{"urn:dns:org.example:urn+p", []string{"iNo parent authorities are known.\t\terror.host\t1"}, ""},
		{"urn:dns:org.example:urn+z", []string{"3urn+z: unknown reserved request\t\terror.host\t1"}, ""},
		{"urn:dns:closed.example:urn+m", nil, "carl"},
	} {
		got := dig(t, at, tt.request+"\r\n")
		lines := menuLines(t, got)
		for _, want := range tt.want {
			if !slices.Contains(lines, want) {
				t.Errorf("Y95-55: %s: got\n%s\nwant %q", tt.request, got, want)
			}
		}
		if tt.not != "" && strings.Contains(got, tt.not) {
			t.Errorf("Y95-57: %s: got\n%s\nnot %q", tt.request, got, tt.not)
		}
	}
}

func TestGopherText(t *testing.T) {
	r := here("dots", nomen.Location{URL: "https://here.example/"})
	r.Metadata = nomen.Metadata{"title": {"Dots"}, "description": {"one\n.\n.two"}}
	at := burrow(t, GopherOptions{}, r)
	got := dig(t, at, "/-/text/urn:dns:here.example:dots\r\n")
	body, ok := strings.CutSuffix(got, "\r\n.\r\n")
	if !ok || !strings.Contains(body, "https://here.example/") || strings.Contains(body, "\r\n.\r\n") {
		t.Errorf("got %q", got)
	}
	for line := range strings.SplitSeq(body, "\r\n") {
		if strings.HasPrefix(line, ".") && !strings.HasPrefix(line, "..") || strings.ContainsAny(line, "\r\n\t\x1b") {
			t.Errorf("a line %q", line)
		}
	}
	if got := dig(t, at, "/-/text/nothing\r\n"); !strings.HasPrefix(got, "3invalid name\t") {
		t.Errorf("got %q", got)
	}
}

// Selectors with a URL lead to a page with a link, and to no script.
func TestGopherURL(t *testing.T) {
	at := burrow(t, GopherOptions{})
	got := dig(t, at, "URL:https://there.example/?a=1&b=\"><script>\r\n")
	if strings.Contains(got, "<script>") || strings.Contains(got, "http-equiv") || !strings.HasPrefix(got, "<!DOCTYPE html>") {
		t.Errorf("got %q", got)
	}
	if got := dig(t, at, "URL:https://there.example/?a=1&b\r\n"); !strings.Contains(got, `<A HREF="https://there.example/?a=1&amp;b" rel="noreferrer">`) {
		t.Errorf("got %q", got)
	}
	if got := dig(t, at, "URL:javascript:alert(1)\r\n"); strings.Contains(got, "javascript") {
		t.Errorf("got %q", got)
	}
}

// Text that clients of Gopher+ add to a search is not part of the name; empty text is not a name.
func TestGopherSearch(t *testing.T) {
	at := burrow(t, GopherOptions{}, here("x"))
	plain := dig(t, at, "/-/name\turn:dns:here.example:x\r\n")
	for _, more := range []string{"\t+", "\t$", "\t+application/gopher+-menu"} {
		if got := dig(t, at, "/-/name\turn:dns:here.example:x"+more+"\r\n"); got != plain {
			t.Errorf("%q: got %q, want %q", more, got, plain)
		}
	}
	for _, nothing := range []string{"/-/name", "/-/name\t", "/-/name\t <> ", "/-/name\t\t+"} {
		if got := dig(t, at, nothing+"\r\n"); !strings.HasPrefix(got, "3please enter a name\t") {
			t.Errorf("%q: got %q", nothing, got)
		}
	}
}

// A foreign name is resolved on behalf of the client, and the answer says where it comes from.
func TestGopherWorld(t *testing.T) {
	w := newWorld(t, Access{Policy: Own, Own: prefixes("127.0.0.0/8"), Total: 1}, func(ctx context.Context, q nomen.Question) (*nomen.Answer, error) {
		return &nomen.Answer{
			Service: q.Service, Name: q.Name, Status: nomen.Active,
			Locations: []nomen.Location{{URL: "javascript:alert(1)"}, {URL: "gopher://there.example/1", Note: "far\r\n.\r\naway"}},
		}, nil
	})
	at := burrow(t, GopherOptions{Resolver: w, Host: "names.example"})
	_, port, _ := net.SplitHostPort(at)
	got := dig(t, at, "urn:dns:there.example:x\r\n")
	menuLines(t, got)
	for _, want := range []string{"1far\t\tthere.example\t70\r\n", "ithis answer comes from there.example", "\tnames.example\t" + port + "\r\n"} {
		if !strings.Contains(got, want) || strings.Contains(got, "javascript") {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	leave, err := w.o.Access.enter(&Client{Addr: prefixes("127.0.0.1/32")[0].Addr()})
	if err != nil {
		t.Fatal(err)
	}
	defer leave()
	if got := dig(t, at, "urn:dns:there.example:x\r\n"); !strings.HasPrefix(got, "3too many requests; please try again in 1 s\t") {
		t.Errorf("got %q", got)
	}
}

// When Shutdown closes a connection, the question for its client ends.
func TestGopherEnd(t *testing.T) {
	s := newStore(t, nil)
	asked := make(chan bool)
	g, err := NewGopher(GopherOptions{
		Store: s, Authorities: store.NewTable(s, time.Now, time.Hour), Timeout: time.Minute,
		Resolver: resolverFunc(func(ctx context.Context, _ nomen.Question) (*nomen.Answer, error) {
			close(asked)
			<-ctx.Done()
			return nil, ctx.Err()
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	at, served := serveGopher(t, g)
	c, err := net.Dial("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	io.WriteString(c, "urn:dns:there.example:one\r\n")
	<-asked
	over, cancel := context.WithCancel(context.Background())
	cancel()
	begin := time.Now()
	if err := g.Shutdown(over); !errors.Is(err, context.Canceled) || time.Since(begin) > 20*time.Second {
		t.Errorf("got %v after %s", err, time.Since(begin))
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}

func TestGopherLimits(t *testing.T) {
	t.Parallel() // it waits for the timeout
	at := burrow(t, GopherOptions{Timeout: 5 * time.Second, PerAddress: 2})
	var waiting []net.Conn
	for range 2 {
		c, err := net.Dial("tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		io.WriteString(c, "urn:") // an incomplete selector
		waiting = append(waiting, c)
	}
	c, err := net.Dial("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(time.Minute))
	if b, err := io.ReadAll(c); !strings.HasPrefix(string(b), "3too many connections") {
		t.Errorf("got %q, %v", b, err)
	}
	for _, c := range waiting { // clients that send nothing get an error and are disconnected
		c.SetDeadline(time.Now().Add(time.Minute))
		if b, err := io.ReadAll(c); err != nil || !strings.HasPrefix(string(b), "3invalid selector: must be one line") {
			t.Errorf("got %q, %v", b, err)
		}
		c.Close()
	}
	deadline := time.Now().Add(time.Minute)
	for answered := false; !answered; {
		c, err := net.Dial("tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(c, "\r\n")
		b, _ := io.ReadAll(c) // the server may reset the connection of a client that it rejects
		c.Close()
		answered = strings.HasPrefix(string(b), "iThis server")
		if time.Now().After(deadline) {
			t.Fatal("no room again")
		}
	}
}

func TestGopherOptions(t *testing.T) {
	if _, err := NewGopher(GopherOptions{}); err == nil {
		t.Error("a server of nothing")
	}
	s := newStore(t, nil)
	o := GopherOptions{Resolver: resolve.New(s, resolve.Options{}), Store: s, Authorities: store.NewTable(s, time.Now, time.Hour)}
	for host, want := range map[string]string{"a.example": "a.example ", "A.example:7070": "A.example 7070", "[2001:db8::1]:70": "2001:db8::1 70"} {
		o.Host = host
		if g, err := NewGopher(o); err != nil || g.host+" "+g.port != want {
			t.Errorf("%s: got %+v, %v", host, g, err)
		}
	}
	for _, host := range []string{"a b", "a\tb", "a/b"} {
		o.Host = host
		if _, err := NewGopher(o); err == nil {
			t.Errorf("%q is taken", host)
		}
	}
}

// The text about a retired name shows its record, and is not a menu.
func TestGopherTextOfTombstone(t *testing.T) {
	gone := here("gone")
	gone.Status, gone.Reason, gone.Successors = nomen.Retired, "moved", []string{"urn:dns:here.example:fish"}
	at := burrow(t, GopherOptions{}, gone)
	got := exchange(t, at, "/-/text/urn:dns:here.example:gone\r\n")
	if !strings.Contains(got, "moved") || !strings.Contains(got, "urn:dns:here.example:fish") || strings.Contains(got, "error.host") {
		t.Errorf("got %q", got)
	}
}

// While the storage is unavailable, the response to Gopher clients says when to retry, without a line in
// the log for each of them.
func TestGopherStorageAway(t *testing.T) {
	var log bytes.Buffer
	at := burrow(t, GopherOptions{
		Log: slog.New(slog.NewTextHandler(&log, nil)),
		Resolver: resolverFunc(func(context.Context, nomen.Question) (*nomen.Answer, error) {
			return nil, fmt.Errorf("engine: %w", &store.AwayError{Cause: "the disk is on holiday", After: 7 * time.Second})
		}),
	})
	for _, selector := range []string{"urn:ietf:rfc:1", "/-/name\turn:ietf:rfc:1", "/-/text/urn:ietf:rfc:1"} {
		if got := dig(t, at, selector+"\r\n"); !strings.Contains(got, "the storage is unavailable; please try again in 7 s") {
			t.Errorf("%s: %q", selector, got)
		}
	}
	if log.Len() > 0 {
		t.Errorf("log: %s", &log)
	}
}
