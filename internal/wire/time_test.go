package wire

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// pipeServer serves echo on one end of a pipe and returns the other. It must be
// called in a bubble, where no time passes but when everybody waits.
func pipeServer(t *testing.T, server *http.Server, c Config) net.Conn {
	t.Helper()
	l := newChanListener()
	c.Now = clock
	server.ConnContext = ConnContext
	if server.Handler == nil {
		server.Handler = http.HandlerFunc(echo)
	}
	go server.Serve(NewListener(l, c))
	t.Cleanup(func() { server.Close() })
	client, conn := net.Pipe()
	t.Cleanup(func() { client.Close() })
	l.conns <- conn
	return client
}

// drip sends s at a rate of one byte a second, until the connection fails.
func drip(c net.Conn, s string) {
	for _, b := range []byte(s) {
		if _, err := c.Write([]byte{b}); err != nil {
			return
		}
		time.Sleep(time.Second)
	}
}

// TestSlowHead checks that a head has its time from its first byte on, and that
// progress does not extend it (Y95-72).
func TestSlowHead(t *testing.T) {
	good := "GET /a HTTP/1.1\r\nHost: a\r\n\r\n"
	answered := seen("HTTP/1.1", "GET \"/a\" HTTP/1.1\n", "")
	timeout := "HTTP/1.1 408 Request Timeout\r\n"
	slow := strings.Repeat("a", 100)
	tests := []struct {
		name     string
		at, drip string // sent at once, and after it byte by byte
		want     string // what the answer begins with
		after    time.Duration
	}{
		{"line", "", "GET /" + slow, timeout, 10 * time.Second},
		{"odd line", "", "GET " + slow, timeout, 10 * time.Second},
		{"header", good[:20], slow, timeout, 10 * time.Second},
		{"folds", good[:25], strings.Repeat("\n ", 100), timeout, 10 * time.Second},
		{"other method", "POST /a HTTP/1.1\r\n", slow, timeout, 10 * time.Second},
		{"second request", good + "G", slow, answered + timeout, 10 * time.Second},
		{"empty lines only", "", strings.Repeat("\r\n", 100), "", 10 * time.Second},
		{"nothing after the head", good, "", answered, 120 * time.Second},
		{"slow, but in time", "GET alb002 HTTP/1.", "0\r\n\r\n", seen("HTTP/1.0", "GET \"alb002\" HTTP/1.0 mended\n", "close"), 4 * time.Second},
		{"Simple-Request that is not done", "GET alb002", "", timeout, 10 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := pipeServer(t, &http.Server{IdleTimeout: 2 * time.Minute}, Config{})
				begin := time.Now()
				sent := make(chan bool)
				go func() {
					defer close(sent)
					io.WriteString(c, tt.at)
					drip(c, tt.drip)
				}()
				got := receive(t, c)
				if !strings.HasPrefix(got, tt.want) || tt.want == "" && got != "" {
					t.Errorf("got %q, want %q and more", got, tt.want)
				}
				if after := time.Since(begin); after != tt.after {
					t.Errorf("closed after %v, want %v", after, tt.after)
				}
				<-sent
			})
		})
	}
}

// TestServerDeadlines checks that the deadlines which net/http sets hold too.
func TestServerDeadlines(t *testing.T) {
	const good = "GET /a HTTP/1.1\r\nHost: a\r\n\r\n"
	answered := seen("HTTP/1.1", "GET \"/a\" HTTP/1.1\n", "")
	tests := []struct {
		name     string
		at, drip string
		server   *http.Server
		want     string
		after    time.Duration
	}{
		{"nothing comes", "", "", &http.Server{ReadHeaderTimeout: 3 * time.Second}, "", 3 * time.Second},
		{"half a head", "GET /a", "", &http.Server{ReadHeaderTimeout: 3 * time.Second}, "", 3 * time.Second},
		{"idle", good, "", &http.Server{IdleTimeout: 5 * time.Second}, answered, 5 * time.Second},
		{"idle after a slow head", good[:25], good[25:], &http.Server{IdleTimeout: time.Minute}, answered, time.Minute + 2*time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := pipeServer(t, tt.server, Config{})
				begin := time.Now()
				sent := make(chan bool)
				go func() {
					defer close(sent)
					io.WriteString(c, tt.at)
					drip(c, tt.drip)
				}()
				if got := receive(t, c); got != tt.want {
					t.Errorf("got %q, want %q", got, tt.want)
				}
				if after := time.Since(begin); after != tt.after {
					t.Errorf("closed after %v, want %v", after, tt.after)
				}
				<-sent
			})
		})
	}
}

// TestSlowHandler checks that neither the deadline of a head nor the reading
// ahead disturbs a request that takes its time, and that the next head has its
// own time.
func TestSlowHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			select {
			case <-time.After(time.Minute):
				echo(w, r)
			case <-r.Context().Done():
			}
		})}
		c := pipeServer(t, server, Config{})
		go func() {
			io.WriteString(c, "GET /a HTTP/1.1\r\n")
			time.Sleep(5 * time.Second)
			io.WriteString(c, "Host: a\r\n\r\nGET ")
			time.Sleep(time.Minute + 5*time.Second)
			io.WriteString(c, "b HTTP/1.1\r\n\r\n")
		}()
		want := seen("HTTP/1.1", "GET \"/a\" HTTP/1.1\n", "") + seen("HTTP/1.0", "GET \"b\" HTTP/1.1 mended\n", "close")
		if got := receive(t, c); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

// shutPipe is a pipe whose end can be announced, as a socket's can, and that
// counts how it is closed.
type shutPipe struct {
	net.Conn
	shut, closed chan time.Time
}

func (c *shutPipe) CloseWrite() error { c.shut <- time.Now(); return nil }
func (c *shutPipe) Close() error      { c.closed <- time.Now(); return c.Conn.Close() }

// TestLinger checks that the connection outlives the last answer for a moment,
// and not longer, whatever the client does.
func TestLinger(t *testing.T) {
	tests := []struct {
		name, in string
		stays    bool
		want     time.Duration
	}{
		{"mended, client leaves", "GET a\r\n", false, 0},
		{"mended, client stays", "GET a\r\n", true, lingerTime},
		{"refused, client leaves", "GET /" + strings.Repeat("a", 100), false, 0},
		{"refused, client stays", "GET /" + strings.Repeat("a", 100), true, lingerTime},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newChanListener()
				server := &http.Server{Handler: http.HandlerFunc(echo), ConnContext: ConnContext}
				go server.Serve(NewListener(l, Config{MaxLine: 50}))
				defer server.Close()
				client, conn := net.Pipe()
				pipe := &shutPipe{conn, make(chan time.Time, 9), make(chan time.Time, 9)}
				l.conns <- pipe
				go io.Copy(io.Discard, client)
				io.WriteString(client, tt.in)
				shut := <-pipe.shut
				if !tt.stays {
					client.Close()
				}
				if got := (<-pipe.closed).Sub(shut); got != tt.want {
					t.Errorf("closed after %v, want %v", got, tt.want)
				}
				client.Close()
			})
		})
	}
}
