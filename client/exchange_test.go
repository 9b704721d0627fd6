package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/discover"
	"github.com/nomen-project/nomen/name"
)

func ask(t *testing.T, s string, service nomen.Service) nomen.Question {
	t.Helper()
	q, err := Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	q.Service = service
	return q
}

const alb = "urn:dns:example.com:alb002"

// addresses resolves every host to the same addresses.
type addresses []netip.Addr

func (a addresses) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) { return a, nil }

// listen opens the same port at each address and serves connections there.
func listen(t *testing.T, serve map[string]func(net.Conn)) uint16 {
	t.Helper()
	port := uint16(0)
	for address, f := range serve {
		l, err := net.Listen("tcp", hostPort(address, port))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		port = netip.MustParseAddrPort(l.Addr().String()).Port()
		go func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				go f(conn)
			}
		}()
	}
	return port
}

// once reads a request, answers and closes the connection.
func once(answer string) func(net.Conn) {
	return func(conn net.Conn) {
		defer conn.Close()
		if _, err := readRequest(conn, ""); err == nil {
			io.WriteString(conn, answer)
		}
	}
}

// Y95-24, Y95-26: of four addresses one refuses, one is silent, one answers with an error and
// one is right, on real sockets.
func TestEachAddressInTurn(t *testing.T) {
	t.Parallel() // it waits for the timeout
	release := make(chan struct{})
	defer close(release)
	port := listen(t, map[string]func(net.Conn){ // nothing listens at 127.0.0.1
		"127.0.0.2": func(conn net.Conn) { defer conn.Close(); <-release },
		"127.0.0.3": once("HTTP/1.0 500 Out of order\r\n\r\n"),
		"127.0.0.4": once(urc("https://example.com/right")),
	})
	all := addresses{
		netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("127.0.0.2"),
		netip.MustParseAddr("127.0.0.3"), netip.MustParseAddr("127.0.0.4"),
	}
	var steps []string
	o := Options{DNS: all, Port: port, Timeout: 3 * time.Second, Stagger: -1, Trace: func(step string) { steps = append(steps, step) }}
	a, err := newClient(t, o).Resolve(t.Context(), ask(t, alb, ""))
	if err != nil || len(a.Locations) != 1 || a.Locations[0].URL != "https://example.com/right" {
		t.Fatalf("got %+v, %v", a, err)
	}
	told := strings.Join(steps, "\n")
	for _, want := range []string{ // Y95-70: the trace says that it is not encrypted
		"unencrypted: GET alb002 HTTP/1.0", "127.0.0.1:", "refused", "no answer within 3s", "status 500 Out of order", "127.0.0.4:", "200 OK",
	} {
		if !strings.Contains(told, want) {
			t.Errorf("the trace does not say %q:\n%s", want, told)
		}
	}

	o.DNS = all[:3]
	_, err = newClient(t, o).Resolve(t.Context(), ask(t, alb, ""))
	var e *UnreachableError
	var s *StatusError
	if !errors.As(err, &e) || len(e.Tried) != 3 || !errors.As(err, &s) || s.Code != 500 || !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("got %v, want an *UnreachableError of three attempts", err)
	}
	for i, a := range e.Tried {
		if a.Addr != netip.AddrPortFrom(all[i], port) || a.Err == nil || !strings.Contains(err.Error(), a.Addr.String()) {
			t.Errorf("attempt %d: %v", i, a)
		}
	}
}

// Y95-26: the load is shared, and the family that the system prefers comes first.
func TestShuffle(t *testing.T) {
	c, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	six, four := netip.MustParseAddr("2001:db8::1"), []netip.Addr{netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")}
	firsts := map[netip.AddrPort]bool{}
	for range 200 {
		got := c.inTurn([]netip.Addr{four[0], six, four[1]}, 1)
		if len(got) != 3 || got[1].Addr() != six { // RFC 8305, 4
			t.Fatalf("got %v, want %v between those of IPv4", got, six)
		}
		firsts[got[0]] = true
	}
	if len(firsts) != 2 {
		t.Errorf("only %v were ever tried first", firsts)
	}
}

// TestAnswers tries what servers may send, from a single address.
func TestAnswers(t *testing.T) {
	isFormat := func(mediaType, body string) func(error) bool {
		return func(err error) bool {
			var e *FormatError
			return errors.As(err, &e) && e.Type == mediaType && string(e.Body) == body
		}
	}
	isKind := func(k nomen.Kind) func(error) bool {
		return func(err error) bool { return errors.Is(err, &nomen.Error{Kind: k}) }
	}
	says := func(text string) func(error) bool {
		return func(err error) bool {
			var e *UnreachableError
			return errors.As(err, &e) && strings.Contains(err.Error(), text)
		}
	}
	for _, tt := range []struct {
		name, answer string
		fails        func(error) bool // nil for the location https://example.com/x
		raw          *nomen.Raw       // instead of that location
	}{
		{"well formed", urc("https://example.com/x"), nil, nil},
		{"bare line feeds", strings.ReplaceAll(urc("https://example.com/x"), "\r\n", "\n"), nil, nil},
		{"no reason phrase", strings.Replace(urc("https://example.com/x"), " OK", "", 1), nil, nil},
		{"HTTP/1.1", strings.Replace(urc("https://example.com/x"), "1.0", "1.1", 1), nil, nil},
		{"chunked", "HTTP/1.1 200 OK\r\nContent-Type: text/urc-0\r\nTransfer-Encoding: chunked\r\n\r\n" +
			"7\r\n=====\r\n\r\n15\r\nhttps://example.com/x\r\n0\r\n\r\n", nil, nil},
		{"with a length and more", "HTTP/1.0 200 OK\r\nContent-Type: text/urc-0\r\nContent-Length: 28\r\n\r\n=====\nhttps://example.com/x\r\nrubbish", nil, nil},
		{"HTTP/0.9", "=====\r\nhttps://example.com/x\r\n", nil, nil}, // Y95-32
		{"uri-list", "HTTP/1.0 200 OK\r\nContent-Type: text/uri-list; charset=utf-8\r\n\r\n# x\r\nhttps://example.com/x\r\n", nil, nil},
		{"json", "HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n{\"locations\":[{\"url\":\"https://example.com/x\"}]}", nil, nil},

		// Y95-35: a typed result with the raw body
		{"unknown type", "HTTP/1.0 200 OK\r\nContent-Type: application/x-foo\r\n\r\n\x00\x01", nil, &nomen.Raw{Type: "application/x-foo", Body: []byte("\x00\x01")}},
		{"type without structure", "HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nhello", nil, &nomen.Raw{Type: "text/plain", Body: []byte("hello")}},
		{"no type", "HTTP/1.0 200 OK\r\n\r\nhello", nil, &nomen.Raw{Type: "text/plain", Body: []byte("hello")}},
		{"no type, as it was with HTTP/1.0 (RFC 1945, 7.2.1)", "HTTP/1.0 200 OK\r\n\r\n=====\r\nhttps://example.com/x\r\n", nil, nil},
		{"an unsupported encoding", "HTTP/1.0 200 OK\r\nContent-Type: text/urc-0\r\nContent-Encoding: gzip\r\n\r\n\x1f\x8b", func(err error) bool {
			return isFormat("text/urc-0", "\x1f\x8b")(err) && strings.Contains(err.Error(), `unsupported content encoding "gzip"`)
		}, nil},
		{"HTTP/0.9 of HTML", "<html>hello", nil, &nomen.Raw{Type: "text/html", Body: []byte("<html>hello")}},
		{"HTTP/0.9 of text", "hello", nil, &nomen.Raw{Type: "text/plain", Body: []byte("hello")}},
		{"invalid JSON", "HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n{", isFormat("application/json", "{"), nil},

		{"nothing", "", says("connection closed before a response"), nil},
		{"garbage", "\x16\x03\x01\x02\x00", says("malformed HTTP response"), nil},
		{"less than a status line", "HTTP/1.0 2", says("malformed HTTP response"), nil},
		{"a status line alone", "HTTP/1.0 200 OK\r\n", says("malformed HTTP response"), nil},
		{"no status", "HTTP/1.0 OK\r\n\r\n", says("malformed HTTP response"), nil},
		{"a status out of range", "HTTP/1.0 99999 OK\r\n\r\n", says("malformed HTTP response"), nil},
		{"a malformed field", "HTTP/1.0 200 OK\r\nrubbish\r\n\r\n", says("malformed HTTP response"), nil},
		{"two lengths", "HTTP/1.0 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx", says("malformed HTTP response"), nil},
		{"cut off", "HTTP/1.0 200 OK\r\nContent-Type: text/urc-0\r\nContent-Length: 1000\r\n\r\n=====\n", says("response truncated"), nil},
		{"cut off in a chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n=====\n", says("response truncated"), nil},
		{"503", "HTTP/1.0 503 Come back\a later\r\n\r\n", says("status 503 Come back later"), nil},
		{"a huge head", "HTTP/1.0 200 OK\r\n" + strings.Repeat("X-Field: x\r\n", maxHead/12+1) + "\r\n", isSize("head"), nil},
		{"a huge status line", "HTTP/1.0 200 " + strings.Repeat("x", 2*maxHead), isSize("head"), nil},
		{"a huge body", "HTTP/1.0 200 OK\r\n\r\n" + strings.Repeat("x", testMaxBody+1), isSize("body"), nil},
		{"a huge body alone", strings.Repeat("x", testMaxBody+1), isSize("body"), nil},

		// Y95-41
		{"400", "HTTP/1.0 400 Bad\r\n\r\n", isKind(nomen.Malformed), nil},
		{"401", "HTTP/1.0 401 Who\r\n\r\n", isKind(nomen.Denied), nil},
		{"403", "HTTP/1.0 403 No\r\n\r\n", isKind(nomen.Denied), nil},
		{"404", "HTTP/1.0 404 Not Found\r\nContent-Type: text/plain\r\n\r\n", isKind(nomen.Unknown), nil},
		{"410", "HTTP/1.0 410 Gone\r\n\r\n", isKind(nomen.Gone), nil},
		{"451", "HTTP/1.0 451 The law\r\n\r\n", func(err error) bool {
			var e *nomen.Error
			return errors.As(err, &e) && e.Kind == nomen.Denied && e.Legal && e.Message == "The law"
		}, nil},
		{"406", "HTTP/1.0 406 \r\n\r\n", func(err error) bool { var e *StatusError; return errors.As(err, &e) && e.Code == 406 }, nil},
		{"304", "HTTP/1.0 304 Not Modified\r\n\r\n", func(err error) bool { var e *StatusError; return errors.As(err, &e) && e.Code == 304 }, nil},
		{"101", "HTTP/1.1 101 Switching Protocols\r\n\r\n", func(err error) bool { var e *StatusError; return errors.As(err, &e) && e.Code == 101 }, nil},

		// RFC 9110, 15.2: an informational response is not the answer.
		{"after 100 and 103", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" + urc("https://example.com/x"), nil, nil},
		{"100 alone", "HTTP/1.1 100 Continue\r\n\r\n", says("malformed HTTP response"), nil},
		{"100 without end", strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", maxHead/25+1), isSize("head"), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			port := listen(t, map[string]func(net.Conn){"127.0.0.1": once(tt.answer)})
			c := newClient(t, Options{DNS: addresses{netip.MustParseAddr("127.0.0.1")}, Port: port, MaxBody: testMaxBody, Retries: -1})
			a, err := c.Resolve(t.Context(), ask(t, alb, nomen.I2C))
			switch {
			case tt.fails != nil && (a != nil || !tt.fails(err)):
				t.Errorf("got %+v, %v", a, err)
			case tt.raw != nil && (err != nil || !reflect.DeepEqual(a.Raw, tt.raw) || a.Status != "" || a.Service != nomen.I2C):
				t.Errorf("got %+v, %v", a, err)
			case tt.fails == nil && tt.raw == nil && (err != nil || len(a.Locations) != 1 || a.Locations[0].URL != "https://example.com/x" || a.Service != nomen.I2C):
				t.Errorf("got %+v, %v", a, err)
			}
		})
	}
}

const testMaxBody = 100_000

func isSize(what string) func(error) bool {
	return func(err error) bool {
		var e *SizeError
		return errors.As(err, &e) && e.What == what
	}
}

// The error contains the details that the server sent and the question. For a service that the
// 1995 protocol does not support it suggests HTTP.
func TestQuestionOfTheWeb(t *testing.T) {
	n := newInternet(t)
	n.host("proxy.example", "192.0.2.9", says(urc("https://new.example/x")))
	q := ask(t, alb, nomen.IisI)
	q.Other = q.Subject
	_, err := n.client(Options{Via: "proxy.example"}).Resolve(t.Context(), q)
	var e *nomen.Error
	if !errors.As(err, &e) || e.Kind != nomen.NoResult || !strings.Contains(e.Message, "over HTTP, at http://proxy.example:4500/") {
		t.Errorf("got %v", err)
	}
}

func TestRefusalTellsTheQuestion(t *testing.T) {
	n := newInternet(t)
	n.host("example.com", "192.0.2.1", says("HTTP/1.0 404 Not Found\r\nContent-Type: text/plain\r\n\r\nno such \x1b[31malbum\r\nsecond line\r\n"))
	_, err := n.client(Options{}).Resolve(t.Context(), ask(t, "URN:dns:Example.com:Alb%2d2", nomen.I2Ls))
	var e *nomen.Error
	if !errors.As(err, &e) || e.Kind != nomen.Unknown || e.Name != "URN:dns:Example.com:Alb%2d2" || e.Service != nomen.I2Ls || e.Message != "no such [31malbum" {
		t.Errorf("got %+v", e)
	}
}

// Y95-32, Y95-37, Y95-70: the request contains nothing that the user did not ask for.
func TestRequest(t *testing.T) {
	for _, tt := range []struct {
		o       Options
		service nomen.Service
		want    request
	}{
		{Options{}, "", request{line: "GET a%2D%2Fb HTTP/1.0", header: []string{"Host: example.com"}}},
		{Options{}, nomen.I2L, request{line: "GET a%2D%2Fb HTTP/1.0", header: []string{"Host: example.com"}}},
		{Options{}, nomen.I2Ns, request{line: "GET a%2D%2Fb HTTP/1.0", header: []string{"Host: example.com", "Accept: application/json, text/urc-0;q=0.5"}}},
		{Options{Accept: "text/html"}, nomen.I2N, request{line: "GET a%2D%2Fb HTTP/1.0", header: []string{"Host: example.com", "Accept: text/html"}}},
		{Options{UserAgent: "x/1"}, "", request{line: "GET a%2D%2Fb HTTP/1.0", header: []string{"Host: example.com", "User-Agent: x/1"}}},
		{Options{Simple: true, Accept: "text/html"}, "", request{line: "GET a%2D%2Fb"}},
		{Options{Via: "192.0.2.1"}, "", request{line: "GET urn:dns:EXAMPLE.com:a%2D%2Fb HTTP/1.0"}},
		{Options{Via: "192.0.2.1", Simple: true}, "", request{line: "GET urn:dns:EXAMPLE.com:a%2D%2Fb"}},
		{Options{Via: "example.com"}, nomen.I2L, request{
			line: "GET urn:dns:EXAMPLE.com:a%2D%2Fb HTTP/1.0", header: []string{"Accept: application/json, text/urc-0;q=0.5"},
		}},
	} {
		n := newInternet(t)
		n.host("example.com", "192.0.2.1", says(urc("https://example.com/x")))
		n.client(tt.o).Resolve(t.Context(), ask(t, "urn:dns:EXAMPLE.com:a%2D%2Fb", tt.service))
		if len(n.asked) != 1 || n.asked[0].line != tt.want.line || !slices.Equal(n.asked[0].header, tt.want.header) {
			t.Errorf("%+v, %s: sent %q, want %q", tt.o, tt.service, n.asked, tt.want)
		}
	}
}

// Y95-72: nothing that could end a line early is sent, whatever its origin.
func TestNoInjection(t *testing.T) {
	for _, m := range []message{
		{target: "a\r\nX: y"},
		{target: "a b"},
		{target: ""},
		{target: "a\x00"},
		{target: "\u00e9"},
		{target: "a", host: "h\r\nX: y"},
		{target: "a", header: []field{{"Accept", "x\ny"}}},
		{target: "a", header: []field{{"Accept-Language", "x"}, {"User-Agent", "x\ry"}}},
		{target: "a", conditions: []field{{"If-None-Match", "x\r\ny"}}},
	} {
		if b, err := m.bytes(); err == nil {
			t.Errorf("%+v became %q", m, b)
		}
	}
	m := message{target: "a", host: "h", header: []field{{"Accept", "x"}}, conditions: []field{{"If-None-Match", "x"}}, simple: true}
	if b, err := m.bytes(); string(b) != "GET a\r\n" || err != nil { // Y95-32: only the line
		t.Errorf("a Simple-Request is %q, %v", b, err)
	}
	if _, err := New(Options{Accept: "a\r\nb"}); err == nil {
		t.Error("an option with a line break is accepted")
	}
	n := newInternet(t)
	n.host("example.com", "192.0.2.1", says(urc("https://example.com/x")))
	for _, via := range []string{"", "example.com", "http://example.com:4500/"} {
		for _, q := range []nomen.Question{
			{Languages: "en\r\nX: y", Service: nomen.I2L},
			{Accept: "*/*\r\nX: y", Service: nomen.I2L},
			{R: "a b"},
			{Q: "a\r\nX: y"},
			{R: "a#b"},
		} {
			q.Name = name.MustParse(alb)
			if a, err := n.client(Options{Via: via}).Resolve(t.Context(), q); err == nil && (q.Accept == "" || via == "http://example.com:4500/") {
				t.Errorf("%q: %+v became %+v", via, q, a)
			}
		}
	}
	if slices.ContainsFunc(n.asked, func(r request) bool { return r.field("X") != "" || strings.Contains(r.line, " b") }) {
		t.Errorf("sent %q", n.asked)
	}
	n.asked = nil
	if _, err := n.client(Options{}).Resolve(t.Context(), ask(t, "urn:dns:example.com:a%0D%0Ab", "")); err != nil {
		t.Fatal(err)
	}
	if got := n.asked[0].line; got != "GET a%0D%0Ab HTTP/1.0" {
		t.Errorf("sent %q", got)
	}
}

// The client abandons a silent server after the timeout of one attempt, and at once if the caller
// cancels.
func TestSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var open []net.Conn
		var mu sync.Mutex
		defer func() {
			for _, c := range open {
				c.Close()
			}
		}()
		c := newClient(t, Options{
			DNS: addresses{netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")},
			DialContext: func(context.Context, string, string) (net.Conn, error) {
				ours, theirs := net.Pipe()
				mu.Lock()
				open = append(open, theirs)
				mu.Unlock()
				go io.Copy(io.Discard, theirs)
				return ours, nil
			},
		})
		start := time.Now()
		_, err := c.Resolve(t.Context(), ask(t, alb, ""))
		var e *UnreachableError
		if took := time.Since(start); !errors.As(err, &e) || len(e.Tried) != 2 || took != DefaultTimeout+DefaultStagger {
			t.Errorf("got %v after %v, want two attempts of %v, one a little after the other", err, took, DefaultTimeout)
		}
		start = time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := c.Resolve(ctx, ask(t, alb, "")); err != context.DeadlineExceeded || time.Since(start) != time.Second {
			t.Errorf("got %v after %v, want the error of the context after a second", err, time.Since(start))
		}
	})
}

// The client abandons a server that sends only a byte now and then after the same time.
func TestDrip(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var servers sync.WaitGroup
		defer servers.Wait()
		c := newClient(t, Options{
			DNS: addresses{netip.MustParseAddr("192.0.2.1")},
			DialContext: func(context.Context, string, string) (net.Conn, error) {
				ours, theirs := net.Pipe()
				servers.Go(func() {
					defer theirs.Close()
					readRequest(theirs, "")
					for _, err := io.WriteString(theirs, "HTTP/1.0 200 OK\r\n\r\n"); err == nil; _, err = io.WriteString(theirs, "x") {
						time.Sleep(time.Second)
					}
				})
				return ours, nil
			},
		})
		start := time.Now()
		if _, err := c.Resolve(t.Context(), ask(t, alb, "")); err == nil || time.Since(start) != DefaultTimeout {
			t.Errorf("got %v after %v, want an error after %v", err, time.Since(start), DefaultTimeout)
		}
	})
}

func TestNoAddress(t *testing.T) {
	n := newInternet(t)
	for _, o := range []Options{{}, {Via: "example.com:80"}} {
		_, err := n.client(o).Resolve(t.Context(), ask(t, alb, ""))
		var e *UnreachableError
		if !errors.As(err, &e) || !errors.Is(err, errNoSuchHost) || !strings.HasPrefix(e.Host, "example.com:") {
			t.Errorf("Y95-23: %+v: got %v", o, err)
		}
	}
}

func TestPort(t *testing.T) {
	for port, want := range map[uint16]string{0: fmt.Sprint(discover.Port), 4600: "4600"} {
		n := newInternet(t)
		n.hosts["example.com"] = []string{"2001:db8::1"}
		n.serve["[2001:db8::1]:"+want] = says(urc("https://example.com/x"))
		if _, err := n.client(Options{Port: port}).Resolve(t.Context(), ask(t, alb, "")); err != nil {
			t.Errorf("Y95-29: %v", err)
		}
	}
}

func FuzzReadReply(f *testing.F) {
	for _, s := range []string{
		urc("https://example.com/x"), "=====\r\nhttps://example.com/x", "HTTP/1.0 301 urn:dns:a.example:b\r\nLocation: x\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n", "HTTP/1.0 404\r\nContent-Length: 3\r\n\r\nabc", "",
	} {
		f.Add([]byte(s))
	}
	at := hop{subject: subject{spelling: alb}, way: authority{}}
	f.Fuzz(func(t *testing.T, b []byte) {
		const limit = 1000
		r, err := readReply(strings.NewReader(string(b)), limit)
		if err != nil {
			return
		}
		if len(r.body) > limit || r.status < 0 || r.header == nil || strings.ContainsFunc(r.reason, func(c rune) bool { return c < ' ' || c == 0x7f }) {
			t.Fatalf("%q: %+v", b, r)
		}
		if !r.redirects() {
			if r.status != http.StatusOK && refusal(at, r, nomen.Question{}) == nil {
				t.Fatalf("%q: neither an answer nor an error", b)
			}
			return
		}
		d, err := r.destination(at)
		if (err == nil) == (d.subject.name.IsZero() && d.site == "" && d.url == "") {
			t.Fatalf("%q: %+v, %v", b, d, err)
		}
		if !validTarget(d.subject.spelling+"x") || !validTarget(d.url+"x") {
			t.Fatalf("%q leads to %+v", b, d)
		}
	})
}
