package wire

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// date is the Date of every answer in these tests.
const date = "Tue, 21 Mar 1995 12:00:00 GMT"

func clock() time.Time { return time.Date(1995, 3, 21, 12, 0, 0, 0, time.UTC) }

// serve serves h on l until the test ends.
func serve(tb testing.TB, l net.Listener, h http.Handler) {
	tb.Helper()
	server := &http.Server{
		Handler:     h,
		ConnContext: ConnContext,
		ErrorLog:    slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		server.Serve(l)
	}()
	tb.Cleanup(func() {
		server.Close()
		<-done
	})
}

// start serves h behind the wire on a port of this machine.
func start(tb testing.TB, c Config, h http.HandlerFunc) (address string) {
	tb.Helper()
	l := listen(tb)
	c.Now = clock
	serve(tb, NewListener(l, c), h)
	return l.Addr().String()
}

func listen(tb testing.TB) net.Listener {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	return l
}

func dial(tb testing.TB, address string) *net.TCPConn {
	tb.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(time.Minute))
	return c.(*net.TCPConn)
}

func send(tb testing.TB, c net.Conn, s string) {
	tb.Helper()
	if _, err := io.WriteString(c, s); err != nil {
		tb.Fatal(err)
	}
}

func receive(tb testing.TB, r io.Reader) string {
	tb.Helper()
	b, err := io.ReadAll(r)
	if err != nil {
		tb.Fatalf("read %q, then %v", b, err)
	}
	return string(b)
}

// echo tells what the handler sees, as a body of one line.
func echo(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Date", date)
	w.Header().Set("Content-Type", "text/plain")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
	io.WriteString(w, view(r))
}

func view(r *http.Request) string {
	s := fmt.Sprintf("%s %q %s", r.Method, Target(r), Proto(r))
	if mendedOf(r) != nil {
		s += " mended"
	}
	if Simple(r) {
		s += " simple"
	}
	for _, name := range []string{"Accept", "X-A", "X-B"} {
		if v, ok := r.Header[name]; ok {
			s += fmt.Sprintf(" %s=%q", name, v)
		}
	}
	return s + "\n"
}

// seen is the answer of echo to a request, as it stands on the wire. For a
// request of HTTP/1.0 that was let through there is nothing to say in closes.
func seen(version, body, connection string) string {
	return answer(version+" 200 OK", body, connection)
}

func answer(status, body, connection string) string {
	allow := ""
	if strings.Contains(status, " 405 ") {
		allow = "Allow: GET, HEAD\r\n"
	}
	if connection != "" {
		connection = "Connection: " + connection + "\r\n"
	}
	return fmt.Sprintf("%s\r\n%sContent-Type: text/plain\r\nDate: %s\r\nContent-Length: %d\r\n%s\r\n%s",
		status, allow, date, len(body), connection, body)
}

// misframedAnswer is how the wire refuses a request of ambiguous framing.
var misframedAnswer = string(badFraming.answer(false, clock()))

// badRequest is how net/http refuses a request.
const badRequest = "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n400 Bad Request"

// scriptedConn is a connection whose client sends the pieces one by one, as fast
// as they are read, then no more. It keeps what it is sent.
type scriptedConn struct {
	net.Conn // nil: no other method is called
	pieces   [][]byte
	out      bytes.Buffer
	closed   chan struct{}
	once     sync.Once
	mu       sync.Mutex
}

func newScriptedConn(pieces ...[]byte) *scriptedConn {
	return &scriptedConn{pieces: slices.Clone(pieces), closed: make(chan struct{})}
}

func (c *scriptedConn) Read(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.pieces) > 0 && len(c.pieces[0]) == 0 {
		c.pieces = c.pieces[1:]
	}
	if len(c.pieces) == 0 {
		return 0, io.EOF
	}
	n := copy(p, c.pieces[0])
	c.pieces[0] = c.pieces[0][n:]
	return n, nil
}

func (c *scriptedConn) Write(p []byte) (int, error)      { return c.out.Write(p) }
func (c *scriptedConn) Close() error                     { c.once.Do(func() { close(c.closed) }); return nil }
func (c *scriptedConn) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (c *scriptedConn) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (c *scriptedConn) SetDeadline(time.Time) error      { return nil }
func (c *scriptedConn) SetReadDeadline(time.Time) error  { return nil }
func (c *scriptedConn) SetWriteDeadline(time.Time) error { return nil }

// chanListener accepts what it is sent.
type chanListener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newChanListener() *chanListener {
	return &chanListener{conns: make(chan net.Conn), closed: make(chan struct{})}
}

func (l *chanListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *chanListener) Close() error   { l.once.Do(func() { close(l.closed) }); return nil }
func (l *chanListener) Addr() net.Addr { return &net.TCPAddr{} }

// runScript serves one connection to its end and returns what it was sent.
func runScript(l *chanListener, pieces ...[]byte) string {
	c := newScriptedConn(pieces...)
	l.conns <- c
	<-c.closed
	return c.out.String()
}
