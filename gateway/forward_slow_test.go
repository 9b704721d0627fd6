package gateway

import (
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// If a server stops in the middle of its response, the proxy ends the response after the time for a
// silent tunnel, or at once if the client has disconnected. If the server continues slowly, the
// proxy waits.
func TestForwardSilentBody(t *testing.T) {
	gone := make(chan string, 10)
	server := func(w http.ResponseWriter, r *http.Request) {
		defer func() { gone <- r.URL.Path }()
		for range 5 {
			io.WriteString(w, "far ")
			w.(http.Flusher).Flush()
			if r.URL.Path != "/slow" {
				<-r.Context().Done() // until the proxy closes the connection
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
		io.WriteString(w, "away")
	}
	hasty, _ := proxied(t, ForwardOptions{Idle: 500 * time.Millisecond}, server)
	patient, _ := proxied(t, ForwardOptions{}, server)
	wait := func(what, path string) {
		t.Helper()
		select {
		case got := <-gone:
			if got != path {
				t.Errorf("%s: %s has ended, want %s", what, got, path)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%s: the connection to the server stays open", what)
		}
	}
	begun := time.Now()
	if got := exchange(t, hasty, get("http://there.example/stops")); time.Since(begun) > 30*time.Second || !strings.HasPrefix(got, "HTTP/1.1 200 ") || !strings.Contains(got, "far") || strings.HasSuffix(got, "\r\n0\r\n\r\n") {
		t.Errorf("a response that stops: %q after %v", got, time.Since(begun))
	}
	wait("a response that stops", "/stops")
	if got := exchange(t, hasty, get("http://there.example/slow")); !strings.Contains(got, "away") || !strings.HasSuffix(got, "\r\n0\r\n\r\n") {
		t.Errorf("a slow response: %q", got)
	}
	wait("a slow response", "/slow")

	c, err := net.Dial("tcp", patient)
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(c, get("http://there.example/left"))
	_ = c.SetReadDeadline(time.Now().Add(time.Minute))
	for got := ""; !strings.Contains(got, "far"); {
		b := make([]byte, 1000)
		n, err := c.Read(b)
		if got += string(b[:n]); err != nil && !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
	}
	c.Close()
	wait("a client that has left", "/left")
}
