package wire

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// brief writes the answer of these tests to a request: what a plain request can have.
func brief(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Date", date)
	w.Header().Set("Content-Type", "text/plain")
	io.WriteString(w, briefBody(Plain{
		Method: r.Method, Target: Target(r), Host: r.Host, Agent: r.UserAgent(), Accept: r.Header.Get("Accept"),
		Languages: r.Header.Get("Accept-Language"), Coding: r.Header.Get("Accept-Encoding"),
	}))
}

func briefBody(q Plain) string {
	return fmt.Sprintf("%q\n", []string{q.Method, q.Target, q.Host, q.Accept, q.Languages, q.Coding, q.Agent})
}

// A plainLog makes Answerers that write the same answer as brief, except to targets with an x,
// and records the targets that they answer.
type plainLog struct {
	mu      sync.Mutex
	targets []string
}

func (l *plainLog) answerer(_, _ net.Addr) Answerer {
	return func(out []byte, q Plain) ([]byte, bool) {
		if strings.Contains(q.Target, "x") {
			return out, false
		}
		l.mu.Lock()
		l.targets = append(l.targets, q.Target)
		l.mu.Unlock()
		version, body, closes := "1", briefBody(q), ""
		if q.Old {
			version = "0"
		} else if q.Final {
			closes = "Connection: close\r\n"
		}
		out = fmt.Appendf(out, "HTTP/1.%s 200 OK\r\nContent-Type: text/plain\r\nDate: %s\r\nContent-Length: %d\r\n%s\r\n", version, date, len(body), closes)
		if q.Method == http.MethodHead {
			return out, true
		}
		return append(out, body...), true
	}
}

// take returns the targets that were answered since the last call.
func (l *plainLog) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := l.targets
	l.targets = nil
	return all
}

// startPool serves brief with a pool and without, and returns functions that send pieces on a new
// connection and return all that comes back.
func startPool(tb testing.TB) (log *plainLog, inLane, without func(pieces ...[]byte) string) {
	log = new(plainLog)
	times := Config{Now: clock, IdleTimeout: time.Minute, WriteTimeout: time.Minute}
	fast, slow := newChanListener(), newChanListener()
	serve(tb, NewListener(slow, times), http.HandlerFunc(brief))
	times.Short = log.answerer
	serve(tb, NewListener(fast, times), http.HandlerFunc(brief))
	return log, func(pieces ...[]byte) string { return runScript(fast, pieces...) }, func(pieces ...[]byte) string { return runScript(slow, pieces...) }
}

// TestPool checks which requests the pool answers, and that all bytes of the responses are those
// of net/http, however the requests are cut into pieces.
func TestPool(t *testing.T) {
	log, inLane, without := startPool(t)
	const host = "Host: a\r\n"
	for _, tt := range []struct {
		in   string
		want string // the targets answered in the pool, if the bytes arrive at once
	}{
		{"GET /a HTTP/1.1\r\n" + host + "\r\n", "/a"},
		{"HEAD /a HTTP/1.1\r\n" + host + "\r\nGET /b HTTP/1.1\r\n" + host + "\r\n", "/a /b"},
		{"GET /a HTTP/1.1\r\n" + host + "Connection: close\r\n\r\n", "/a"},
		{"GET /a HTTP/1.1\r\n" + host + "Connection: close\r\n\r\nGET /b HTTP/1.1\r\n" + host + "\r\n", "/a"},
		{"GET /a HTTP/1.0\r\n\r\n", "/a"},
		{"HEAD /a HTTP/1.0\r\n" + host + "\r\nGET /b HTTP/1.0\r\n\r\n", "/a"},
		{"GET /a HTTP/1.0\r\n" + host + "Connection: keep-alive\r\n\r\nGET /b HTTP/1.1\r\n" + host + "\r\n", ""},
		{"GET /a HTTP/1.1\r\n" + host + "\r\nGET /b HTTP/1.0\r\n\r\n", "/a /b"},
		{"GET /x HTTP/1.1\r\n" + host + "\r\nGET /b HTTP/1.1\r\n" + host + "\r\n", ""},
		{"GET /a HTTP/1.1\r\n" + host + "\r\nGET /x HTTP/1.1\r\n" + host + "Connection: close\r\n\r\n", "/a"},
		{"GET /a HTTP/1.1\r\n" + host + "\r\nGET b HTTP/1.0\r\n\r\n", "/a"},
		{"GET a HTTP/1.0\r\n\r\n", ""},
		{"GET a\r\n", ""},
		{"GET /a HTTP/1.1\r\n" + host + "\r\nGET b\r\n", "/a"}, // no Simple-Request: it is not the first
		{"\r\nGET /a HTTP/1.1\r\n" + host + "\r\n", ""},
		{"POST /a HTTP/1.1\r\n" + host + "Content-Length: 2\r\n\r\nhiGET /b HTTP/1.1\r\n" + host + "\r\n", ""},
		{"GET /a HTTP/1.1\r\n\r\n", ""},
		{"GET /a HTTP/1.1\r\n" + host + "Cookie: " + strings.Repeat("c", poolBuffer) + "\r\n\r\n", ""},
		{"GET /a HTTP/1.1\r\nHos", ""},
		{"", ""},
	} {
		in := []byte(tt.in)
		want := without(in)
		if got := inLane(in); got != want {
			t.Errorf("%q:\ngot  %q\nwant %q", tt.in, got, want)
		}
		if got := strings.Join(log.take(), " "); got != tt.want {
			t.Errorf("%q: the pool answers %q, want %q", tt.in, got, tt.want)
		}
		for i := range in {
			if got := inLane(in[:i], in[i:]); got != want {
				t.Errorf("%q, %q:\ngot  %q\nwant %q", tt.in[:i], tt.in[i:], got, want)
			}
		}
		log.take()
	}
}

// TestPoolSmuggling checks that the pool answers none of the requests above, at the beginning of a
// connection and after a plain request, and that a plain request that follows in the same
// connection is treated as without a pool.
func TestPoolSmuggling(t *testing.T) {
	log, inLane, without := startPool(t)
	const plain = "GET /plain HTTP/1.1\r\nHost: a\r\n\r\n"
	for _, head := range ambiguousHeads {
		for _, before := range []string{"", plain} {
			in := []byte(before + head + plain)
			want := without(in)
			if got := inLane(in); got != want {
				t.Errorf("%q:\ngot  %q\nwant %q", in, got, want)
			}
			if slices.Contains(log.take(), "/a") {
				t.Errorf("%q was answered in the pool", head)
			}
		}
	}
}

// FuzzPool gives the same bytes to the wire with a pool and without, which must answer the same
// bytes. net/http ignores less than four bytes of a request that is not the first one. The pool has
// passed on such a request as the first one, and net/http answers 400.
func FuzzPool(f *testing.F) {
	for _, s := range slices.Concat(heads, ambiguousHeads) {
		f.Add([]byte(s), uint8(0))
		f.Add([]byte("GET /a HTTP/1.1\r\nHost: a\r\n\r\n"+s), uint8(7))
	}
	_, inLane, without := startPool(f)
	f.Fuzz(func(t *testing.T, in []byte, size uint8) {
		if len(in) > DefaultMaxLine {
			return
		}
		pieces := cut(in, size)
		if got, want := undated(inLane(pieces...)), undated(without(pieces...)); got != want && got != want+badRequest {
			t.Errorf("sent %q\ngot  %q\nwant %q", in, got, want)
		}
	})
}

// poolServer serves a pool on a port of this machine. net/http answers "slow" and the target.
func poolServer(t *testing.T, answer Answerer) (address string, l net.Listener) {
	t.Helper()
	l = NewListener(listen(t), Config{IdleTimeout: time.Minute, WriteTimeout: time.Minute, Short: func(_, _ net.Addr) Answerer { return answer }})
	serve(t, l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "slow "+r.RequestURI) }))
	return l.Addr().String(), l
}

func sayTarget(out []byte, q Plain) ([]byte, bool) {
	return fmt.Appendf(out, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(q.Target), q.Target), true
}

// TestPoolLastAnswer checks that a client gets the last response of a connection, even if it has
// sent more than the server reads. Closing the connection at once would reset it.
func TestPoolLastAnswer(t *testing.T) {
	long := strings.Repeat("a", 64<<10)
	address, _ := poolServer(t, func(out []byte, _ Plain) ([]byte, bool) {
		return fmt.Appendf(out, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", len(long), long), true
	})
	for range 20 {
		c := dial(t, address)
		send(t, c, "GET /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"+strings.Repeat("more", 10_000))
		if got := receive(t, c); !strings.HasSuffix(got, "\r\n\r\n"+long) {
			t.Fatalf("got %d bytes", len(got))
		}
	}
}

// TestPoolHalfClosed checks that a client that closes its side after the request gets the response.
func TestPoolHalfClosed(t *testing.T) {
	address, _ := poolServer(t, sayTarget)
	c := dial(t, address)
	send(t, c, "GET /a HTTP/1.1\r\nHost: a\r\n\r\n")
	c.CloseWrite()
	if got := receive(t, c); !strings.HasSuffix(got, "\r\n\r\n/a") {
		t.Errorf("got %q", got)
	}
}

// TestPoolLeft checks that net/http answers the last request of a connection that it has: only
// net/http can close it.
func TestPoolLeft(t *testing.T) {
	address, _ := poolServer(t, sayTarget)
	c := dial(t, address)
	in := bufio.NewReader(c)
	for _, other := range []string{"X-Other: 1\r\n", "Connection: close\r\n"} {
		send(t, c, "GET /a HTTP/1.1\r\nHost: a\r\n"+other+"\r\n")
		if got := bodyOf(t, in); got != "slow /a" {
			t.Errorf("%q: got %q", other, got)
		}
		time.Sleep(time.Millisecond) // until net/http waits for the next request; if it does not, the test is easier
	}
	if got := receive(t, in); got != "" {
		t.Errorf("after the last response: got %q", got)
	}
}

// workers returns the number of workers of a listener.
func workers(l net.Listener) int {
	of := &l.(*listener).pool
	of.mu.Lock()
	defer of.mu.Unlock()
	return len(of.all)
}

// TestPoolWorkers checks that the pool uses its goroutines again, and ends those that are idle for
// long.
func TestPoolWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := newChanListener()
		l := NewListener(in, Config{IdleTimeout: time.Hour, WriteTimeout: time.Hour, Short: func(_, _ net.Addr) Answerer { return sayTarget }})
		server := &http.Server{ConnContext: ConnContext}
		go server.Serve(l)
		defer server.Close()
		open := func() net.Conn {
			c, conn := net.Pipe()
			in.conns <- conn
			send(t, c, "GET /a HTTP/1.1\r\nHost: a\r\n\r\n")
			bodyOf(t, bufio.NewReader(c))
			return c
		}
		for range 100 {
			open().Close()
			synctest.Wait()
		}
		if got := workers(l); got != 1 {
			t.Errorf("100 connections, one after the other: %d workers, want 1", got)
		}
		var all []net.Conn
		for range 10 {
			all = append(all, open())
		}
		synctest.Wait()
		if got := workers(l); got != 10 {
			t.Errorf("10 connections at once: %d workers", got)
		}
		for _, c := range all[1:] {
			c.Close()
		}
		time.Sleep(workerRest - time.Second)
		open().Close()
		if got := workers(l); got != 10 {
			t.Errorf("%d workers before their rest ends, want 10", got)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if got := workers(l); got != 2 { // one has a connection, and one had one a moment ago
			t.Errorf("%d workers after their rest, want 2", got)
		}
		all[0].Close()
		wantNoWorkers(t, l)
	})
}

// wantNoWorkers checks that no worker is left some time after the last connection was closed.
func wantNoWorkers(t *testing.T, l net.Listener) {
	t.Helper()
	time.Sleep(3 * workerRest)
	synctest.Wait()
	if got := workers(l); got != 0 {
		t.Errorf("%d workers at the end, want none", got)
	}
}

// TestPoolShutdown checks what becomes of the connections of the pool when the server shuts down:
// one that has sent nothing is served by net/http, one between two requests is closed, and one
// whose request is being answered gets the response.
func TestPoolShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := newChanListener()
		l := NewListener(in, Config{IdleTimeout: time.Hour, WriteTimeout: time.Hour, Short: func(_, _ net.Addr) Answerer {
			return func(out []byte, q Plain) ([]byte, bool) {
				if q.Target == "/wait" {
					time.Sleep(5 * lingerTime)
				}
				return sayTarget(out, q)
			}
		}})
		server := &http.Server{ConnContext: ConnContext, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "slow "+r.RequestURI) })}
		go server.Serve(l)
		defer server.Close()
		connect := func() (net.Conn, *bufio.Reader) {
			c, conn := net.Pipe()
			in.conns <- conn
			return c, bufio.NewReader(c)
		}
		silent, fromSilent := connect()
		idle, fromIdle := connect()
		waiting, fromWaiting := connect()
		send(t, idle, "GET /idle HTTP/1.1\r\nHost: a\r\n\r\n")
		bodyOf(t, fromIdle)
		send(t, waiting, "GET /wait HTTP/1.1\r\nHost: a\r\n\r\n")
		synctest.Wait()
		begun := time.Now()
		l.Close()
		synctest.Wait()
		if _, err := fromIdle.ReadByte(); err != io.EOF {
			t.Errorf("an idle connection: got %v, want EOF", err)
		}
		send(t, silent, "GET /silent HTTP/1.1\r\nHost: a\r\n\r\n")
		if got := bodyOf(t, fromSilent); got != "slow /silent" {
			t.Errorf("got %q", got)
		}
		ended := make(chan struct{})
		go func() {
			Drain(context.Background(), l)
			close(ended)
		}()
		synctest.Wait()
		select {
		case <-ended:
			t.Error("Drain did not wait for the response")
		default:
		}
		if got := bodyOf(t, fromWaiting); got != "/wait" {
			t.Errorf("got %q", got)
		}
		<-ended
		if _, err := fromWaiting.ReadByte(); err != io.EOF {
			t.Errorf("after the response: got %v, want EOF", err)
		}
		if took := time.Since(begun); took != 5*lingerTime {
			t.Errorf("took %v, want the time of the response", took)
		}
	})
}

// TestPoolSilent checks that a connection on which nothing arrives is closed in the time for a head.
func TestPoolSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := pipeServer(t, &http.Server{}, Config{IdleTimeout: time.Hour, WriteTimeout: time.Hour, Short: func(_, _ net.Addr) Answerer { return sayTarget }})
		begun := time.Now()
		if got := receive(t, c); got != "" || time.Since(begun) != DefaultHeadTimeout {
			t.Errorf("got %q after %v", got, time.Since(begun))
		}
	})
}

// TestPoolDrainEnds checks that Drain closes connections whose client does not read when its time
// ends.
func TestPoolDrainEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := newChanListener()
		l := NewListener(in, Config{IdleTimeout: time.Hour, WriteTimeout: time.Hour, Short: func(_, _ net.Addr) Answerer { return sayTarget }})
		server := &http.Server{ConnContext: ConnContext}
		go server.Serve(l)
		defer server.Close()
		c, conn := net.Pipe()
		in.conns <- conn
		send(t, c, "GET /a HTTP/1.1\r\nHost: a\r\n\r\n")
		l.Close()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		start := time.Now()
		Drain(ctx, l)
		if took := time.Since(start); took != time.Minute {
			t.Errorf("took %v, want a minute", took)
		}
		if b, err := io.ReadAll(c); len(b) > 0 || err != nil {
			t.Errorf("got %q, %v", b, err)
		}
		synctest.Wait()
		if got := workers(l); got != 0 {
			t.Errorf("%d workers, want none", got)
		}
	})
}

// TestPoolPanic checks that a panic ends the connection only.
func TestPoolPanic(t *testing.T) {
	address, _ := poolServer(t, func(out []byte, q Plain) ([]byte, bool) {
		if q.Target == "/panic" {
			panic(errors.New("a mistake"))
		}
		return sayTarget(out, q)
	})
	for range 3 {
		c := dial(t, address)
		send(t, c, "GET /panic HTTP/1.1\r\nHost: a\r\n\r\n")
		if got := receive(t, c); got != "" {
			t.Errorf("got %q", got)
		}
		c = dial(t, address)
		send(t, c, "GET /a HTTP/1.0\r\n\r\n")
		if got := receive(t, c); !strings.HasSuffix(got, "/a") {
			t.Errorf("got %q", got)
		}
	}
}

// TestPoolRace shuts servers down while clients send requests of all kinds: each gets complete
// responses or none.
func TestPoolRace(t *testing.T) {
	for range 20 {
		own := listen(t)
		l := NewListener(own, Config{IdleTimeout: time.Minute, WriteTimeout: time.Minute, Short: func(_, _ net.Addr) Answerer { return sayTarget }})
		server := &http.Server{
			ConnContext: ConnContext, ConnState: SetState,
			Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "/slow") }),
		}
		go server.Serve(l)
		var clients sync.WaitGroup
		for i := range 16 {
			clients.Go(func() { askUntilClosed(t, own.Addr().String(), i) })
		}
		time.Sleep(2 * time.Millisecond)
		if err := server.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		Drain(t.Context(), l)
		clients.Wait()
		for range 1000 { // a worker ends a moment after its connection
			if workers(l) == 0 {
				break
			}
			time.Sleep(time.Millisecond)
		}
		if got := workers(l); got != 0 {
			t.Errorf("%d workers, want none", got)
		}
	}
}

// askUntilClosed sends requests until the server does not accept the connection.
func askUntilClosed(t *testing.T, address string, i int) {
	for {
		c, err := net.Dial("tcp", address)
		if err != nil {
			return
		}
		c.SetDeadline(time.Now().Add(time.Minute))
		in := bufio.NewReader(c)
		for k := range 3 {
			other := ""
			if (i+k)%3 == 0 {
				other = "X-Other: 1\r\nConnection: close\r\n"
			}
			if _, err := io.WriteString(c, "GET /slow HTTP/1.1\r\nHost: a\r\n"+other+"\r\n"); err != nil {
				break
			}
			resp, err := http.ReadResponse(in, nil)
			if err != nil {
				break
			}
			if b, err := io.ReadAll(resp.Body); string(b) != "/slow" || err != nil {
				t.Errorf("got %q, %v", b, err)
			}
		}
		c.Close()
	}
}
