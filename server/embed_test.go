package server_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/resolve"
	"github.com/nomen-project/nomen/server"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
)

// embedded returns a server of a store in memory with some names.
func embedded(o server.Options, names ...string) (*server.Server, error) {
	st := memstore.New()
	r := registrar.New(st, registrar.Options{})
	for _, n := range names {
		record := &store.Record{Spelling: n, Locations: []nomen.Location{{URL: "https://example.org/" + n[strings.LastIndexByte(n, ':')+1:]}}}
		if _, err := r.Put(context.Background(), registrar.Operator(), registrar.Request{Record: record, Expected: store.AnyRevision}, ""); err != nil {
			return nil, err
		}
	}
	o.Resolver, o.Store = resolve.New(st, resolve.Options{}), st
	return server.New(o)
}

// A program serves names on a listener of its own, with a middleware. The listener
// also accepts the requests of the protocol of 1995.
func ExampleServer_Listen_own() {
	srv, err := embedded(server.Options{Middleware: func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Served-By", "my program")
			next.ServeHTTP(w, r)
		})
	}}, "urn:example:alb002")
	if err != nil {
		log.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	serving, err := srv.Listen(server.Listener{Open: l})
	if err != nil {
		log.Fatal(err)
	}
	c, err := net.Dial("tcp", serving.Public.String())
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	fmt.Fprint(c, "GET urn:example:alb002 HTTP/1.0\r\n\r\n") // a target without a slash
	response, err := io.ReadAll(c)
	if err != nil {
		log.Fatal(err)
	}
	for line := range strings.Lines(string(response)) {
		if strings.HasPrefix(line, "HTTP/") || strings.HasPrefix(line, "X-Served-By") || strings.HasPrefix(line, "https:") {
			fmt.Println(strings.TrimSpace(line))
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	fmt.Println(serving.Shutdown(ctx))
	// Output:
	// HTTP/1.0 200 OK
	// X-Served-By: my program
	// https://example.org/alb002
	// <nil>
}

// A program mounts the server below a path. It does not use http.ServeMux, which would
// redirect names with "//" or "..".
func ExampleServer_Public_below() {
	srv, err := embedded(server.Options{}, "urn:example:a//b")
	if err != nil {
		log.Fatal(err)
	}
	names := http.StripPrefix("/names", srv.Public())
	own := http.NotFoundHandler()
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/names/") {
			names.ServeHTTP(w, r)
			return
		}
		own.ServeHTTP(w, r)
	})
	for _, target := range []string{"/names/urn:example:a//b", "/names/urn:example:a//b?s=I2C", "/urn:example:a//b"} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, target, nil))
		fmt.Printf("%d %q\n", w.Code, w.Header().Get("Location"))
	}
	// Output:
	// 303 "https://example.org/a//b"
	// 200 ""
	// 404 ""
}

// http.ServeMux does what the documentation of Public says.
func TestServeMuxCleansNames(t *testing.T) {
	srv, err := embedded(server.Options{}, "urn:example:a//b", "urn:example:a/../b")
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/names/", http.StripPrefix("/names", srv.Public()))
	for target, want := range map[string]string{"/names/urn:example:a//b": "/names/urn:example:a/b", "/names/urn:example:a/../b": "/names/b", "/names": "/names/"} {
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, httptest.NewRequest(http.MethodGet, target, nil))
		if got := w.Header().Get("Location"); got != want || w.Code != http.StatusTemporaryRedirect {
			t.Errorf("%s: %d %q, want a redirect to %q", target, w.Code, got, want)
		}
	}
}

// A prefix is removed only if something has removed it from the path of the URL.
func TestMounted(t *testing.T) {
	srv, err := embedded(server.Options{}, "urn:example:a%2Fb", "urn:example:x")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		target   string
		stripped string
		status   int
	}{
		{"/names/urn:example:a%2Fb", "/names", 303},
		{"/urn:example:a%2Fb", "", 303},
		{"/urn:example:x", "", 303},
		{"//urn:example:x", "", 404},
		{"/deep/names/urn:example:x?s=I2C", "/deep/names", 200},
		{"/names/-/healthz", "/names", 200},
		{"/names/urn:example:x", "", 404},
	} {
		w := httptest.NewRecorder()
		http.StripPrefix(tt.stripped, srv.Public()).ServeHTTP(w, httptest.NewRequest(http.MethodGet, tt.target, nil))
		if w.Code != tt.status {
			t.Errorf("%s without %q: %d, want %d", tt.target, tt.stripped, w.Code, tt.status)
		}
	}
}

// The server has no effect on the program around it: no global collectors, and, if the
// program asks for it, no policy for scripts of other sites.
func TestEmbedding(t *testing.T) {
	for _, same := range []bool{false, true} {
		srv, err := embedded(server.Options{SameOrigin: same}, "urn:example:x")
		if err != nil {
			t.Fatal(err)
		}
		for _, method := range []string{http.MethodGet, http.MethodOptions} {
			w := httptest.NewRecorder()
			srv.Public().ServeHTTP(w, httptest.NewRequest(method, "/urn:example:x?s=I2C", nil))
			cors := false
			for field := range w.Header() {
				cors = cors || strings.HasPrefix(field, "Access-Control-")
			}
			if cors == same {
				t.Errorf("%s, SameOrigin %v: got %v", method, same, w.Header())
			}
		}
	}
	families, err := prometheus.DefaultGatherer.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if strings.HasPrefix(f.GetName(), "nomen") {
			t.Errorf("%s is registered globally", f.GetName())
		}
	}
}

// The public listener answers in the format that the client accepts.
func ExampleServer_Public_format() {
	srv, err := embedded(server.Options{}, "urn:example:x")
	if err != nil {
		log.Fatal(err)
	}
	for _, accept := range []string{"text/uri-list", "application/json"} {
		r := httptest.NewRequest(http.MethodGet, "/urn:example:x?s=I2Ls", nil)
		r.Header.Set("Accept", accept)
		w := httptest.NewRecorder()
		srv.Public().ServeHTTP(w, r)
		fmt.Println(w.Code, w.Header().Get("Content-Type"))
	}
	// Output:
	// 200 text/uri-list
	// 200 application/json
}

// Options that cannot work are an error.
func ExampleNew() {
	_, err := embedded(server.Options{PublicURL: "names.example.org"})
	fmt.Println(err != nil)
	// Output: true
}

// A server on any free port, which is shut down when its requests have been answered.
func ExampleServer_Listen() {
	srv, err := embedded(server.Options{}, "urn:example:x")
	if err != nil {
		log.Fatal(err)
	}
	l, err := srv.Listen(server.Listener{Address: "127.0.0.1:0"})
	if err != nil {
		log.Fatal(err)
	}
	response, err := http.Get("http://" + l.Public.String() + "/urn:example:x?s=I2C")
	if err != nil {
		log.Fatal(err)
	}
	response.Body.Close()
	http.DefaultClient.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	fmt.Println(response.StatusCode, l.Shutdown(ctx))
	// Output: 200 <nil>
}
