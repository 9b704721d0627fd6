package client_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/client"
	"github.com/nomen-project/nomen/internal/trace"
	"github.com/nomen-project/nomen/name"
)

const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

// The field is sent to resolvers at a URL and to those of 1995, unless the request is a
// Simple-Request. It is not made up unless the options say so.
func TestTraceparent(t *testing.T) {
	var got []string
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.Header.Values(trace.Header)...)
		w.Header().Set("Content-Type", "text/uri-list")
		fmt.Fprint(w, "https://example.org/\r\n")
	}))
	defer web.Close()
	old, requests := oldResolver(t)
	traced, ok := client.WithTraceparent(t.Context(), parent)
	if !ok {
		t.Fatal("a valid value is rejected")
	}
	if ctx, ok := client.WithTraceparent(t.Context(), parent+"\r\nX: y"); ok || ctx != t.Context() {
		t.Error("an invalid value is accepted")
	}
	q := nomen.Question{Name: name.MustParse("urn:dns:example.org:a"), Service: nomen.I2Ls}
	ask := func(o client.Options, traces bool) {
		t.Helper()
		c, err := client.New(o)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		ctx := t.Context()
		if traces {
			ctx = traced
		}
		_, _ = c.Resolve(ctx, q) // only the request matters
	}
	for _, transport := range []http.RoundTripper{nil, http.DefaultTransport} {
		got = nil
		ask(client.Options{Via: web.URL, Transport: transport}, true)
		if len(got) != 1 || got[0] != parent {
			t.Errorf("web: got %q", got)
		}
		got = nil
		ask(client.Options{Via: web.URL, Transport: transport}, false)
		if len(got) != 0 {
			t.Errorf("web without a trace: got %q", got)
		}
		ask(client.Options{Via: web.URL, Transport: transport, NewTraces: true}, true)
		ask(client.Options{Via: web.URL, Transport: transport, NewTraces: true}, false)
		if len(got) != 2 || got[0] != parent || got[1] == parent {
			t.Errorf("new traces: got %q", got)
		} else if _, ok := trace.Parse(got[1]); !ok {
			t.Errorf("new trace: got %q", got[1])
		}
	}
	for _, simple := range []bool{false, true} {
		ask(client.Options{Via: old, Simple: simple}, true)
		if request := <-requests; strings.Contains(request, trace.Header+": "+parent+"\r\n") == simple {
			t.Errorf("1995, simple %v: got %q", simple, request)
		}
	}
}

// oldResolver starts a resolver of 1995 and returns its address and the requests that it gets.
func oldResolver(t *testing.T) (address string, requests <-chan string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	got := make(chan string, 8)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			in := bufio.NewReader(conn)
			request := ""
			for line := "x"; line != "\r\n" && err == nil; request += line {
				line, err = in.ReadString('\n')
				if request == "" && !strings.Contains(line, " HTTP/") { // a Simple-Request
					request = line
					break
				}
			}
			got <- request
			if strings.Contains(request, " HTTP/") {
				fmt.Fprint(conn, "HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\n")
			}
			fmt.Fprint(conn, "https://example.org/\r\n")
			conn.Close()
		}
	}()
	return l.Addr().String(), got
}
