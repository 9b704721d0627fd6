package wire

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// sleepers returns how many connections of a listener wait without a worker.
func sleepers(l net.Listener) (n int) {
	of := &l.(*listener).pool
	of.mu.Lock()
	defer of.mu.Unlock()
	for w := range of.all {
		if w.sleeper {
			n++
		}
	}
	return n
}

// TestPoolSleep checks that a connection on which nothing arrives for long loses its worker, that
// its next request is answered, and that it ends in the same time as others.
func TestPoolSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := newChanListener()
		const idle, first = 5 * time.Minute, 90 * time.Second
		l := NewListener(in, Config{HeadTimeout: first, IdleTimeout: idle, WriteTimeout: time.Minute, Short: func(_, _ net.Addr) Answerer {
			return func(out []byte, q Plain) ([]byte, bool) {
				if q.Target == "/x" {
					return out, false
				}
				return sayTarget(out, q)
			}
		}})
		server := &http.Server{ConnContext: ConnContext, IdleTimeout: idle, Handler: http.HandlerFunc(func(_ http.ResponseWriter, _ *http.Request) {})}
		go server.Serve(l)
		defer server.Close()
		connect := func() (net.Conn, *bufio.Reader) {
			c, conn := net.Pipe()
			in.conns <- conn
			return c, bufio.NewReader(c)
		}
		silent, _ := connect()
		begun := time.Now()
		c, from := connect()
		for range 3 {
			for _, request := range []string{"GET /a HTTP/1.1\r\nHost: a\r\n\r\n", "GET /b HTTP/1.1\r\nHost: a\r\nAccept: " + strings.Repeat("a", 1000) + "\r\n\r\n"} {
				send(t, c, request)
				if got := bodyOf(t, from); got != request[4:6] {
					t.Fatalf("got %q", got)
				}
			}
			time.Sleep(2*workerRest + time.Second)
			synctest.Wait()
			if got, all := sleepers(l), workers(l); got != 2 || all > 4 { // two workers may still rest
				t.Fatalf("%d of %d wait without a worker, want 2", got, all)
			}
		}
		if got := receive(t, silent); got != "" || time.Since(begun) != first {
			t.Errorf("a silent connection got %q, and ends after %v, want %v", got, time.Since(begun), first)
		}
		send(t, c, "GET /x HTTP/1.1\r\nHost: a\r\n\r\n")
		if got := bodyOf(t, from); got != "" {
			t.Errorf("got %q from net/http", got)
		}
		last, fromLast := connect()
		send(t, last, "GET /a HTTP/1.1\r\nHost: a\r\n\r\n")
		bodyOf(t, fromLast)
		begun = time.Now()
		if got := receive(t, fromLast); got != "" || time.Since(begun) != idle {
			t.Errorf("an idle connection got %q, and ends after %v, want %v", got, time.Since(begun), idle)
		}
		c.Close()
		wantNoWorkers(t, l)
	})
}

// TestPoolSleepTimes sends requests at all times around those at which connections fall asleep, and
// closes the listener at one of them.
func TestPoolSleepTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := newChanListener()
		l := NewListener(in, Config{IdleTimeout: time.Hour, WriteTimeout: time.Hour, Short: func(_, _ net.Addr) Answerer { return sayTarget }})
		server := &http.Server{ConnContext: ConnContext, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "/a") })}
		go server.Serve(l)
		defer server.Close()
		var clients sync.WaitGroup
		for i := range 60 {
			clients.Go(func() {
				c, conn := net.Pipe()
				in.conns <- conn
				from := bufio.NewReader(c)
				for k := range 10 {
					send(t, c, "GET /a HTTP/1.1\r\nHost: a\r\n\r\n")
					if got := bodyOf(t, from); got != "/a" {
						t.Errorf("connection %d, request %d: got %q", i, k, got)
					}
					time.Sleep(workerRest*time.Duration(i%3) + time.Duration(i/3-10)*time.Millisecond*time.Duration(k%2))
				}
				if _, err := from.ReadByte(); err != io.EOF {
					t.Errorf("connection %d: got %v, want EOF", i, err)
				}
			})
		}
		time.Sleep(10*2*workerRest + time.Minute)
		synctest.Wait()
		if got := sleepers(l); got != 60 {
			t.Errorf("%d connections wait without a worker, want 60", got)
		}
		l.Close()
		clients.Wait()
		synctest.Wait()
		if got := workers(l); got != 0 {
			t.Errorf("%d workers, want none", got)
		}
	})
}
