package server

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
)

// shutDown shuts a server down and returns how long that took.
func shutDown(t *testing.T, l *Listening) <-chan time.Duration {
	t.Helper()
	took := make(chan time.Duration, 1)
	go func() {
		begin := time.Now()
		if err := l.Shutdown(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
		took <- time.Since(begin)
	}()
	return took
}

const getWeb = "GET /urn:dns:example.org:alb002 HTTP/1.1\r\nHost: a\r\n\r\n"

// A shutdown closes idle connections between requests, never in the middle of one: a request
// of which a part has arrived is answered.
func TestShutdownAnswersArrivingRequests(t *testing.T) {
	s, _ := newTestServer(t, nil)
	l := listen(t, s)
	idle, arriving := dialShort(t, l), dialShort(t, l)
	for range 2 { // the second one is a short answer
		idle.ask(t, "GET", getWeb)
		arriving.ask(t, "GET", getWeb)
	}
	if _, err := io.WriteString(arriving, getWeb[:30]); err != nil {
		t.Fatal(err)
	}
	time.Sleep(20 * time.Millisecond) // until the server has read it; if it has not, the test is easier
	took := shutDown(t, l)
	if b, err := io.ReadAll(idle.in); len(b) > 0 || err != nil {
		t.Errorf("an idle connection ends with %q, %v", b, err)
	}
	got := arriving.ask(t, "GET", getWeb[30:])
	if !strings.HasPrefix(got, "HTTP/1.1 303 ") || !strings.Contains(got, "Connection: close\r\n") {
		t.Errorf("the arriving request got %q", got)
	}
	if b, err := io.ReadAll(arriving.in); len(b) > 0 || err != nil {
		t.Errorf("after the last answer: %q, %v", b, err)
	}
	if d := <-took; d > 5*time.Second {
		t.Errorf("the shutdown took %v", d)
	}
}

// A shutdown waits for a request that is answered without net/http, even if that takes longer than
// the listener waits for connections that arrive.
func TestShutdownAnswersShort(t *testing.T) {
	asked, goOn := make(chan struct{}, 1), make(chan struct{})
	s, _ := newTestServer(t, func(o *Options) {
		engine := o.Resolver
		o.Resolver = resolverFunc(func(ctx context.Context, q nomen.Question) (*nomen.Answer, error) {
			asked <- struct{}{}
			<-goOn
			return engine.Resolve(ctx, q)
		})
	})
	l := listen(t, s)
	c := dialShort(t, l)
	if _, err := io.WriteString(c, getWeb); err != nil {
		t.Fatal(err)
	}
	<-asked
	took := shutDown(t, l)
	select {
	case d := <-took:
		t.Errorf("the shutdown ended after %v, before the response", d)
	case <-time.After(1500 * time.Millisecond):
	}
	close(goOn)
	if got := c.next(t, "GET"); !strings.HasPrefix(got, "HTTP/1.1 303 ") {
		t.Errorf("got %q", got)
	}
	if d := <-took; d > 5*time.Second {
		t.Errorf("the shutdown took %v", d)
	}
}

// Connections that the server has accepted are answered, whenever the shutdown begins.
func TestShutdownAnswersAcceptedConnections(t *testing.T) {
	s, _ := newTestServer(t, nil)
	for range 30 {
		own, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		queued := &countingListener{Listener: own}
		l := listenAll(t, s, Listener{Open: queued})
		const clients = 20
		results := make(chan string, clients)
		for range clients {
			go func() { results <- tryOnce(own.Addr(), "GET urn:dns:example.org:alb002 HTTP/1.0\r\n\r\n") }()
		}
		<-results // some are answered, some accepted, some neither
		<-shutDown(t, l)
		answered := 1
		for range clients - 1 {
			if got := <-results; strings.HasSuffix(got, urcAlb002) {
				answered++
			}
		}
		if accepted := int(queued.n.Load()); answered < accepted {
			t.Fatalf("%d of %d accepted connections were answered", answered, accepted)
		}
	}
}

// tryOnce sends a request on a new connection, and returns what comes back.
func tryOnce(to net.Addr, request string) string {
	c, err := net.Dial("tcp", to.String())
	if err != nil {
		return err.Error()
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(30 * time.Second))
	if _, err := io.WriteString(c, request); err != nil {
		return err.Error()
	}
	b, err := io.ReadAll(c)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// A connection on which nothing arrives delays a shutdown only for a short time. Without such a
// connection, the shutdown takes no time.
func TestShutdownTime(t *testing.T) {
	secure, pool := certificate(t)
	for name, most := range map[string]time.Duration{"": 500 * time.Millisecond, "silent": 4 * time.Second, "idle": 500 * time.Millisecond} {
		s, _ := newTestServer(t, nil)
		l := listenAll(t, s, Listener{Address: "127.0.0.1:0"}, Listener{Address: "127.0.0.1:0", TLS: secure}, Listener{Address: "127.0.0.1:0", Admin: true})
		switch name {
		case "silent":
			for _, at := range l.Addrs {
				c, err := net.Dial("tcp", at.String())
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
			}
			time.Sleep(10 * time.Millisecond) // until they are accepted
		case "idle":
			dialShort(t, l).ask(t, "GET", getWeb)
			resp, err := secureClient(t, pool, "127.0.0.1", false).Get("https://" + l.Addrs[1].String() + "/-/healthz")
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, bufio.NewReader(resp.Body))
			resp.Body.Close()
			if resp.StatusCode != http.StatusOK {
				t.Error(resp.Status)
			}
		}
		if d := <-shutDown(t, l); d > most {
			t.Errorf("with %q connections the shutdown took %v, want at most %v", name, d, most)
		}
	}
}

// A countingListener counts the connections that it has accepted.
type countingListener struct {
	net.Listener
	n atomic.Int64
}

func (l *countingListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err == nil {
		l.n.Add(1)
	}
	return c, err
}
