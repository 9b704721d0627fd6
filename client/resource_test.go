package client

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/format"
)

// I2R and I2Rs return the resource. If it is elsewhere, fetching it is a separate step.
func TestResources(t *testing.T) {
	base, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/urn:x-y:one":
			w.Header().Set("Content-Type", "image/gif")
			w.Header().Set("Content-Length", "4")
			w.Write([]byte("GIF8"))
		case "/urn:x-y:two":
			w.Header().Set("Content-Type", "multipart/alternative; boundary=x")
			w.Write([]byte("--x\r\nContent-Type: text/plain\r\nContent-Location: https://example.org/t\r\n\r\none\r\n--x\r\nContent-Type: text/html\r\n\r\n<p>\r\n--x--\r\n"))
		case "/urn:x-y:encoded":
			w.Header().Set("Content-Type", "image/gif")
			w.Header().Set("Content-Encoding", "gzip")
			w.Write([]byte("\x1f\x8b"))
		case "/urn:x-y:broken":
			w.Header().Set("Content-Type", "multipart/alternative; boundary=x")
			w.Write([]byte("--x\r\nContent-Type: text/plain\r\n\r\none"))
		case "/urn:x-y:elsewhere":
			w.Header().Set("Location", "https://example.org/x")
			w.WriteHeader(303)
		default:
			w.Header().Set("Content-Type", format.TypeProblem)
			w.WriteHeader(404)
			w.Write([]byte(`{"type":"no-result"}`))
		}
	})
	c := newClient(t, Options{Via: base})
	a, err := c.Resolve(t.Context(), ask(t, "urn:x-y:one", nomen.I2R))
	if err != nil || a.Service != nomen.I2R || a.Resource.Type != "image/gif" || a.Resource.Size != 4 || a.Resource.URL != base+"/urn:x-y:one?s=I2R" {
		t.Fatalf("got %+v, %v", a, err)
	}
	if got := read(t, a.Resource); got != "GIF8" {
		t.Errorf("got %q", got)
	}
	a, err = c.Resolve(t.Context(), ask(t, "urn:x-y:one", nomen.I2Rs))
	if err != nil || len(a.Resources) != 1 || read(t, a.Resources[0]) != "GIF8" {
		t.Errorf("one of several: got %+v, %v", a, err)
	}
	a, err = c.Resolve(t.Context(), ask(t, "urn:x-y:two", nomen.I2Rs))
	if err != nil || len(a.Resources) != 2 || a.Resources[0].URL != "https://example.org/t" || read(t, a.Resources[1]) != "<p>" || a.Resources[1].Type != "text/html" {
		t.Errorf("two: got %+v, %v", a, err)
	}
	var bad *FormatError
	if a, err := c.Resolve(t.Context(), ask(t, "urn:x-y:broken", nomen.I2Rs)); !errors.As(err, &bad) {
		t.Errorf("broken: got %+v, %v", a, err)
	}
	for _, s := range []nomen.Service{nomen.I2R, nomen.I2Rs} {
		if a, err := c.Resolve(t.Context(), ask(t, "urn:x-y:encoded", s)); !errors.As(err, &bad) || bad.Type != "image/gif" {
			t.Errorf("encoded: got %+v, %v", a, err)
		}
		if a, err := c.Resolve(t.Context(), ask(t, "urn:x-y:elsewhere", s)); err != nil || a.Redirect != "https://example.org/x" || a.Service != s {
			t.Errorf("elsewhere: got %+v, %v", a, err)
		}
		if _, err := c.Resolve(t.Context(), ask(t, "urn:x-y:none", s)); !errors.Is(err, &nomen.Error{Kind: nomen.NoResult}) {
			t.Errorf("none: %v", err)
		}
	}
}

// A resource is streamed when its reader is ready.
func TestResourceWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newInternet(t)
		n.hosts["web.example"] = []string{"192.0.2.5"}
		n.serve["192.0.2.5:80"] = says("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 9000\r\n\r\n" + strings.Repeat("GIF8", 9000/4)) // more than one read returns
		a, err := n.client(Options{Via: "http://web.example/", Timeout: time.Second}).Resolve(t.Context(), ask(t, rfc, nomen.I2R))
		if err != nil {
			t.Fatal(err)
		}
		defer a.Resource.Body.Close()
		time.Sleep(time.Minute)
		if got, err := readBody(a.Resource.Body, 9000); err != nil || len(got) != 9000 {
			t.Errorf("got %d bytes, %v", len(got), err)
		}
	})
}

func read(t *testing.T, r *nomen.Resource) string {
	t.Helper()
	defer r.Body.Close()
	b, err := readBody(r.Body, 1000)
	if err != nil {
		t.Error(err)
	}
	return string(b)
}
