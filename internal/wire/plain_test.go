package wire

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestReadPlain(t *testing.T) {
	const host = "Host: a.example:4500\r\n"
	plain := Plain{Method: "GET", Target: "/a", Host: "a.example:4500"}
	for _, tt := range []struct {
		head string
		want Plain
		ok   bool
	}{
		{"GET /a HTTP/1.1\r\n" + host + "\r\n", plain, true},
		{"HEAD /a?b HTTP/1.1\r\nhost:\t[::1]:80 \r\n\r\n", Plain{Method: "HEAD", Target: "/a?b", Host: "[::1]:80"}, true},
		{
			"GET /a HTTP/1.1\r\nACCEPT: a/b\r\naccept-language: fi\r\n" + host + "Accept-Encoding: gzip\r\nUser-Agent: x y\r\nConnection: Keep-Alive\r\n\r\n",
			Plain{Method: "GET", Target: "/a", Host: "a.example:4500", Accept: "a/b", Languages: "fi", Coding: "gzip", Agent: "x y"},
			true,
		},
		{"GET /a HTTP/1.0\r\n" + host + "\r\n", Plain{Method: "GET", Target: "/a", Old: true, Final: true, Host: "a.example:4500"}, true},
		{"GET /a HTTP/1.0\r\n\r\n", Plain{Method: "GET", Target: "/a", Old: true, Final: true}, true},
		{"GET /a HTTP/1.0\r\nConnection: close\r\n\r\n", Plain{Method: "GET", Target: "/a", Old: true, Final: true}, true},
		{"GET /a HTTP/1.0\r\n" + host + "Connection: keep-alive\r\n\r\n", Plain{}, false},
		{"GET /a HTTP/1.0\r\nHost: a/b\r\n\r\n", Plain{}, false},
		{"GET /a HTTP/1.2\r\n" + host + "\r\n", Plain{}, false},
		{"GET /a HTTP/1.1\r\n" + host + "Connection: Close\r\n\r\n", Plain{Method: "GET", Target: "/a", Final: true, Host: "a.example:4500"}, true},
		{browser, Plain{
			Method: "GET", Target: "/urn:ietf:rfc:2648", Host: "localhost:4500", Agent: "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
			Accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", Languages: "en-US,en;q=0.5", Coding: "gzip, deflate, br, zstd",
		}, true},
		{"GET /a HTTP/1.1\r\n" + host + "sec-fetch-mode: a\r\nSec-Fetch-Mode: b\r\nPragma:\r\n\r\n", plain, true},
		{"GET /a HTTP/1.1\r\n" + host + "Sec-Fetch-Mode : a\r\n\r\n", Plain{}, false},
		{"GET /a HTTP/1.1\r\n" + host + "Sec-Fetch-Other: a\r\n\r\n", Plain{}, false},
		{"GET /a HTTP/1.1\r\n" + host + "Priority: a\x00\r\n\r\n", Plain{}, false},
		{"GET /a HTTP/1.1\r\n" + host + "Cookie: a=b\r\n\r\n", Plain{}, false},
		{"GET /a HTTP/1.1\r\nHo\u017ft: a.example\r\n\r\n", Plain{}, false}, // a long s, of which Unicode makes an s
		{"GET a HTTP/1.1\r\n" + host + "\r\n", Plain{}, false},
		{"GET http://a/ HTTP/1.1\r\n" + host + "\r\n", Plain{}, false},
		{"POST /a HTTP/1.1\r\n" + host + "\r\n", Plain{}, false},
		{"GET /a b HTTP/1.1\r\n" + host + "\r\n", Plain{}, false},
		{"GET /a HTTP/1.1\r\n\r\n", Plain{}, false},
		{"GET /a HTTP/1.1\r\nHost:\r\n\r\n", Plain{}, false},
		{"GET /a HTTP/1.1\r\nHost: a/b\r\n\r\n", Plain{}, false},
		{"GET /a HTTP/1.1\r\n" + host + host + "\r\n", Plain{}, false},
		{"GET /a HTTP/1.1\r\n" + host + "Accept: a/b\r\nAccept: c/d\r\n\r\n", Plain{}, false},
		{"GET /a HTTP/1.1\r\n" + host + "Accept: \r\n\r\n", Plain{}, false},
		{"GET /a HTTP/1.1\r\n" + host + "Accept: a\x01b\r\n\r\n", Plain{}, false},
		{"GET /a HTTP/1.1\r\n" + host + "Accept: a\rb\r\n\r\n", Plain{}, false},
		{"GET /a HTTP/1.1\r\n" + host + "Accept: \xe9\r\n\r\n", Plain{}, false},
		{"GET /a HTTP/1.1\r\n" + host + "Accept : a/b\r\n\r\n", Plain{}, false},
		{"GET /a HTTP/1.1\r\n" + host + " folded\r\n\r\n", Plain{}, false},
		{"GET /a HTTP/1.1\r\n" + host + "Connection: close, x\r\n\r\n", Plain{}, false},
		{"GET /a HTTP/1.1\r\n" + host + "Connection: keep-alive, x\r\n\r\n", Plain{}, false},
		{"GET /a HTTP/1.1\r\n" + host + "Via: 1.1 b\r\n\r\n", Plain{}, false},
		{"GET /a HTTP/1.1\r\n" + host + "If-None-Match: \"x\"\r\n\r\n", Plain{}, false},
		{"GET /a HTTP/1.1\r\n" + host + "Content-Length: 0\r\n\r\n", Plain{}, false},
		{"GET /a HTTP/1.1\n" + host + "\n", Plain{}, false},
		{"GET /a HTTP/1.1\r\n" + host + "\n", Plain{}, false},
	} {
		got, ok := readPlain(tt.head)
		if ok != tt.ok || ok && got != tt.want {
			t.Errorf("%q: got %+v, %v, want %+v, %v", tt.head, got, ok, tt.want, tt.ok)
		}
	}
}

// TestLastPlain checks that what was read before has no influence on how a head is read.
func TestLastPlain(t *testing.T) {
	limits := Config{MaxLine: 200, MaxHeader: 1000}.withDefaults()
	const host = "Host: a\r\n"
	all := slices.Concat(heads, ambiguousHeads, []string{
		browser,
		"GET /a HTTP/1.1\r\n" + host + "\r\n",
		"GET /b%20c?d HTTP/1.1\r\n" + host + "\r\nGET /a HTTP/1.1\r\n" + host + "\r\n",
		"HEAD /a HTTP/1.1\r\n" + host + "\r\n",
		"POST /a HTTP/1.1\r\n" + host + "\r\n",
		"GET /a HTTP/1.0\r\n" + host + "\r\n",
		"GET /a HTTP/1.0\r\n\r\n",
		"GET /a HTTP/1.1\r\n\r\n",
		"GET /a HTTP/1.1\n" + host + "\r\n",
		"GET /a HTTP/1.1x\n" + host + "\r\n",
		"GET /a HTTP/1.1\r\n" + host + "\r",
		"GET /a\x01 HTTP/1.1\r\n" + host + "\r\n",
		"GET /% HTTP/1.1\r\n" + host + "\r\n",
		"GET /" + strings.Repeat("a", limits.MaxLine-len("GET / HTTP/1.1")) + " HTTP/1.1\r\n" + host + "\r\n",
		"GET /" + strings.Repeat("a", limits.MaxLine-len("GET / HTTP/1.1")+1) + " HTTP/1.1\r\n" + host + "\r\n",
		"GET /a HTTP/1.1\r\n" + host + "Connection: close\r\n\r\n",
	})
	for _, before := range all {
		for _, head := range all {
			var fresh, used lastPlain
			used.read([]byte(before), &limits)
			want, wantEnd, wantOK := fresh.read([]byte(head), &limits)
			got, end, ok := used.read([]byte(head), &limits)
			if ok != wantOK || ok && (got != want || end != wantEnd) {
				t.Errorf("%q after %q: got %+v, %d, %v, want %+v, %d, %v", head, before, got, end, ok, want, wantEnd, wantOK)
			}
		}
	}
}

// short answers all but /slow.
func short(answered *int) func(_, _ net.Addr) Answerer {
	return func(_, _ net.Addr) Answerer {
		return func(out []byte, q Plain) ([]byte, bool) {
			if q.Target == "/slow" {
				return out, false
			}
			*answered++
			return fmt.Appendf(out, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(q.Target), q.Target), true
		}
	}
}

// bodyOf reads an answer.
func bodyOf(t *testing.T, in *bufio.Reader) string {
	t.Helper()
	resp, err := http.ReadResponse(in, nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestShortTimes checks that a connection whose requests are answered without
// net/http has the times that it would have: between requests, for the rest of a
// head, and for a client that does not read.
func TestShortTimes(t *testing.T) {
	t.Run("pool", func(t *testing.T) { testShortTimes(t, "") })
	t.Run("net/http", func(t *testing.T) { testShortTimes(t, "GET /slow HTTP/1.1\r\nHost: a\r\n\r\n") })
}

// testShortTimes checks the times of a connection after a first request, for which net/http has
// the connection; none if it is empty.
func testShortTimes(t *testing.T, first string) {
	const get = "GET /a HTTP/1.1\r\nHost: a\r\n\r\n"
	serve := func(t *testing.T, answered *int) (net.Conn, *bufio.Reader) {
		server := &http.Server{IdleTimeout: 64 * time.Second, WriteTimeout: 64 * time.Second}
		server.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "slow "+r.RequestURI) })
		c := pipeServer(t, server, Config{Short: short(answered), IdleTimeout: server.IdleTimeout, WriteTimeout: server.WriteTimeout})
		in := bufio.NewReader(c)
		if first != "" {
			send(t, c, first)
			if got := bodyOf(t, in); got != "slow /slow" {
				t.Fatalf("the first answer is %q", got)
			}
			synctest.Wait()
		}
		return c, in
	}
	t.Run("idle", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			answered := 0
			c, in := serve(t, &answered)
			for i := range 5 {
				if i > 0 || first != "" {
					time.Sleep(50 * time.Second)
				}
				send(t, c, get)
				if got := bodyOf(t, in); got != "/a" {
					t.Fatalf("got %q", got)
				}
			}
			start := time.Now()
			if _, err := in.ReadByte(); err != io.EOF {
				t.Fatalf("got %v, want EOF", err)
			}
			if took := time.Since(start); took < 63*time.Second || took > 65*time.Second {
				t.Errorf("closed after %v", took)
			}
			if answered != 5 {
				t.Errorf("%d answers, want 5", answered)
			}
		})
	})
	t.Run("half a head", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			answered := 0
			c, in := serve(t, &answered)
			send(t, c, get+get[:10])
			if got := bodyOf(t, in); got != "/a" {
				t.Fatalf("got %q", got)
			}
			start := time.Now()
			resp, err := http.ReadResponse(in, nil)
			if err != nil || resp.StatusCode != http.StatusRequestTimeout || time.Since(start) != DefaultHeadTimeout {
				t.Errorf("got %v, %v after %v", resp, err, time.Since(start))
			}
		})
	})
	t.Run("not read", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			answered := 0
			c, in := serve(t, &answered)
			start := time.Now()
			send(t, c, get)
			time.Sleep(65 * time.Second)
			synctest.Wait()
			if _, err := in.ReadByte(); err != io.EOF {
				t.Errorf("got %v after %v, want EOF", err, time.Since(start))
			}
		})
	})
	// net/http takes its deadline away when it has answered.
	t.Run("not read after an answer of net/http", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			answered := 0
			c, in := serve(t, &answered)
			for _, target := range []string{"/a", "/slow"} {
				send(t, c, "GET "+target+" HTTP/1.1\r\nHost: a\r\n\r\n")
				if got := bodyOf(t, in); !strings.HasSuffix(got, target) {
					t.Fatalf("got %q", got)
				}
				synctest.Wait()
			}
			send(t, c, get)
			time.Sleep(65 * time.Second)
			synctest.Wait()
			if b, err := in.ReadByte(); err != io.EOF {
				t.Errorf("got %q, %v, want EOF", b, err)
			}
		})
	})
}

// TestShortMixed checks the order of answers that come in one piece.
func TestShortMixed(t *testing.T) {
	answered := 0
	c := dial(t, start(t, Config{Short: short(&answered), IdleTimeout: time.Minute, WriteTimeout: time.Minute}, func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "slow "+r.RequestURI)
	}))
	in := bufio.NewReader(c)
	var all strings.Builder
	request := func(target string) { fmt.Fprintf(&all, "GET %s HTTP/1.1\r\nHost: a\r\n\r\n", target) }
	request("/first")
	send(t, c, all.String())
	if got := bodyOf(t, in); got != "/first" {
		t.Fatalf("got %q", got)
	}
	all.Reset()
	for _, target := range []string{"/a", "/b", "/slow", "/c", "/slow", "/slow", "/d"} {
		request(target)
	}
	send(t, c, all.String())
	for _, want := range []string{"/a", "/b", "/slow", "/c", "/slow", "/slow", "/d"} {
		if got := strings.TrimPrefix(bodyOf(t, in), "slow "); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
	send(t, c, "GET /e HTTP/1.1\r\nHost: a\r\n\r\nGET f HTTP/1.0\r\n\r\n")
	for _, want := range []string{"/e", "/mended/"} {
		if got := strings.TrimPrefix(bodyOf(t, in), "slow "); !strings.HasPrefix(got, want) {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
}

// TestShortShutdown checks that an answer that is under way is sent before the
// connection is closed.
func TestShortShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &http.Server{}
		c := pipeServer(t, server, Config{IdleTimeout: time.Minute, WriteTimeout: time.Minute, Short: func(_, _ net.Addr) Answerer {
			return func(out []byte, _ Plain) ([]byte, bool) {
				time.Sleep(lingerTime / 2)
				return append(out, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"...), true
			}
		}})
		in := bufio.NewReader(c)
		const get = "GET /a HTTP/1.1\r\nHost: a\r\n\r\n"
		send(t, c, get)
		bodyOf(t, in)
		synctest.Wait()
		send(t, c, get)
		synctest.Wait()
		down := make(chan error, 1)
		go func() { down <- server.Shutdown(context.Background()) }()
		if got := bodyOf(t, in); got != "" {
			t.Errorf("got %q", got)
		}
		if err := <-down; err != nil {
			t.Error(err)
		}
		if _, err := in.ReadByte(); err == nil {
			t.Error("the connection is still open")
		}
	})
}

// TestShortShutdownTime checks that clients who do not read their answers do not
// hold a server up one after the other.
func TestShortShutdownTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newChanListener()
		answered := 0
		server := &http.Server{ConnContext: ConnContext, Handler: http.HandlerFunc(echo)}
		go server.Serve(NewListener(l, Config{Now: clock, Short: short(&answered), IdleTimeout: time.Hour, WriteTimeout: time.Hour}))
		for range 20 {
			c, conn := net.Pipe()
			defer c.Close()
			l.conns <- conn
			const get = "GET /a HTTP/1.1\r\nHost: a\r\n\r\n"
			send(t, c, get)
			bodyOf(t, bufio.NewReader(c))
			synctest.Wait()
			send(t, c, get)
			synctest.Wait()
		}
		start := time.Now()
		if err := server.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		if took := time.Since(start); took > 2*lingerTime {
			t.Errorf("took %v", took)
		}
		if answered != 40 {
			t.Errorf("%d answers, want 40", answered)
		}
	})
}
