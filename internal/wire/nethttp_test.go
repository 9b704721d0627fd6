package wire

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// The tests of this file hold net/http to the habits that doc.go lists.

// watchedListener tells when a connection has been read from into a buffer of one
// byte, and into a larger one.
type watchedListener struct {
	net.Listener
	ahead, further chan int
}

func (l *watchedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return &watchedConn{c, l}, err
}

type watchedConn struct {
	net.Conn
	listener *watchedListener
}

func (c *watchedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 && len(p) == 1 {
		c.listener.ahead <- n
	} else if n > 0 {
		c.listener.further <- n
	}
	return n, err
}

// TestReadAhead sends a second request while the handler of the first is at work.
// net/http reads one byte of it; the rest waits, and so does its effect on what
// is written.
func TestReadAhead(t *testing.T) {
	first := seen("HTTP/1.1", "GET \"/a\" HTTP/1.1\n", "")
	refused := answer("HTTP/1.1 414 Request URI Too Long", "414 Request URI Too Long\r\nThe request line is too long.\r\n", "close")
	refused = strings.Replace(refused, "Content-Type: text/plain\r\nDate: "+date, "Date: "+date+"\r\nContent-Type: text/plain; charset=utf-8", 1)
	tests := []struct{ name, second, want string }{
		{"good", "GET /b HTTP/1.0\r\n\r\n", seen("HTTP/1.0", "GET \"/b\" HTTP/1.0\n", "")},
		{"mended", "GET b HTTP/1.0\r\n\r\n", seen("HTTP/1.0", "GET \"b\" HTTP/1.0 mended\n", "close")},
		{"empty lines", "\r\n\nGET b HTTP/1.0\r\n\r\n", seen("HTTP/1.0", "GET \"b\" HTTP/1.0 mended\n", "close")},
		{"empty lines, good", "\n\r\nGET /b HTTP/1.0\r\n\r\n", seen("HTTP/1.0", "GET \"/b\" HTTP/1.0\n", "")},
		{"other method", "POST /b HTTP/1.0\r\n\r\n", answer("HTTP/1.0 405 Method Not Allowed", "POST \"/b\" HTTP/1.0\n", "")},
		{"refused by net/http", " b\r\n", badRequest},
		{"refused by the wire", "GET /" + strings.Repeat("b", 100), refused},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := &watchedListener{listen(t), make(chan int, 100), make(chan int, 100)}
			entered, leave := make(chan bool, 2), make(chan bool, 2)
			serve(t, NewListener(l, Config{Now: clock, MaxLine: 50}), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				entered <- true
				<-leave
				echo(w, r)
			}))
			c := dial(t, l.Addr().String())
			send(t, c, "GET /a HTTP/1.1\r\nHost: a\r\n\r\n")
			<-entered
			<-l.further
			send(t, c, tt.second)
			for range strings.IndexFunc(tt.second, func(r rune) bool { return r != '\r' && r != '\n' }) + 1 {
				<-l.ahead
			}
			leave <- true
			leave <- true
			if got := receive(t, c); got != first+tt.want {
				t.Errorf("got %q, want %q", got, first+tt.want)
			}
		})
	}
}

// TestHijack checks that a hijacker gets the bytes as they are.
func TestHijack(t *testing.T) {
	const raw = "GET b HTTP/1.0\r\n\r\n\r\nGET c\r\nHTTP/1.1 200 OK\r\n\r\n"
	address := start(t, Config{}, func(w http.ResponseWriter, r *http.Request) {
		SetReason(w, r, "Not Used")
		c, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		SetReason(w, r, "Not Used Either")
		io.WriteString(rw, "ready\n")
		rw.Flush()
		line, _ := rw.ReadString('\n')
		io.WriteString(c, line)
		io.Copy(c, rw)
	})
	tests := []struct{ name, now, later string }{
		{"good", "GET /a HTTP/1.1\r\nHost: a\r\n\r\n", raw},
		{"good, pipelined", "GET /a HTTP/1.1\r\nHost: a\r\n\r\n" + raw, ""},
		{"good, one byte pipelined", "GET /a HTTP/1.1\r\nHost: a\r\n\r\n" + raw[:1], raw[1:]},
		{"mended", "GET a HTTP/1.0\r\n\r\n", raw},
		{"upgrading", "GET /a HTTP/1.1\r\nHost: a\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", raw},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := dial(t, address)
			send(t, c, tt.now)
			r := bufio.NewReader(c)
			if got, err := r.ReadString('\n'); got != "ready\n" {
				t.Fatalf("got %q, %v", got, err)
			}
			send(t, c, tt.later)
			c.CloseWrite()
			if got := receive(t, r); got != raw {
				t.Errorf("got %q, want %q", got, raw)
			}
		})
	}
}

// TestClientGone checks that a handler learns that its client has left.
func TestClientGone(t *testing.T) {
	for _, in := range []string{
		"GET /a HTTP/1.1\r\nHost: a\r\n\r\n",
		"GET a HTTP/1.0\r\n\r\n",
		"GET a HTTP/1.0\r\n\r\n\r\nGET b HTTP/1.0\r\n\r\n",
		"GET a\r\n",
		"GET a\r\n\r\nmore",
		"POST a HTTP/1.0\r\n\r\n",
		"GET a\r\n" + strings.Repeat("x", maxLinger+10*minRead), // whoever does not stop is gone too
	} {
		entered, gone := make(chan bool), make(chan bool)
		address := start(t, Config{}, func(_ http.ResponseWriter, r *http.Request) {
			entered <- true
			<-r.Context().Done()
			gone <- true
		})
		c := dial(t, address)
		send(t, c, in)
		<-entered
		if len(in) < maxLinger {
			c.Close()
		}
		<-gone
	}
}

// TestRestIsRead checks that a client which sends more than anybody reads gets
// its answer nevertheless.
func TestRestIsRead(t *testing.T) {
	address := start(t, Config{}, echo)
	rest := strings.Repeat("x", maxLinger/2)
	for in, want := range map[string]string{
		"GET a\r\n":            "GET \"a\"  mended simple\n",
		"GET a HTTP/1.0\r\n\n": seen("HTTP/1.0", "GET \"a\" HTTP/1.0 mended\n", "close"),
		"POST a HTTP/1.0\r\nContent-Length: 1000000\r\n\r\n": answer("HTTP/1.0 405 Method Not Allowed", "POST \"a\" HTTP/1.0 mended\n", "close"),
	} {
		c := dial(t, address)
		send(t, c, in)
		send(t, c, rest)
		if got := receive(t, c); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
