package ezid

import (
	"crypto/tls"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/dialect"
	"github.com/nomen-project/nomen/dialect/dialecttest"
	"github.com/nomen-project/nomen/server"
)

// A ticking dialect is a fixture whose clock moves with each request.
type ticking struct{ *fixture }

func (f ticking) Serve(w http.ResponseWriter, r *http.Request, c *dialect.Call) bool {
	f.clock.Add(1)
	return f.Handler.Serve(w, r, c)
}

// listen serves the fixture on a listener with TLS, and on one without the dialect. It returns their
// URLs.
func (f *fixture) listen(t *testing.T) (secure, without string) {
	t.Helper()
	own := httptest.NewTLSServer(nil) // for its certificate
	config := &tls.Config{Certificates: own.TLS.Certificates}
	f.client = own.Client()
	f.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	own.Close()
	s, err := server.New(server.Options{
		Store: f.store, Resolver: f.Resolver, Authorities: f.Authorities, Now: f.now,
		Dialects: map[string]dialect.Handler{"ezid": ticking{f}},
	})
	if err != nil {
		t.Fatal(err)
	}
	l, err := s.Listen(
		server.Listener{Address: "127.0.0.1:0", TLS: config, Dialects: []string{"ezid"}},
		server.Listener{Address: "127.0.0.1:0"},
	)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Shutdown(t.Context()) })
	return "https://" + l.Addrs[0].String(), "http://" + l.Addrs[1].String()
}

// EZID's own client works with a real server, by TLS.
func TestClientOverTLS(t *testing.T) {
	f := open(t)
	secure, _ := f.listen(t)
	(&dialecttest.Runner{Client: f.client, Bases: []string{secure}, Variables: variables()}).Run(t, "testdata/client.trace")
}

// A batch download works by TLS with a real server.
func TestDownloadOverTLS(t *testing.T) {
	f := filled(t)
	secure, _ := f.listen(t)
	f.url = secure
	status, text := f.ask(t, http.MethodPost, "/download_request", "T.owner", "format=anvl")
	path, ok := strings.CutPrefix(text, "success: "+secure)
	if status != 200 || !ok {
		t.Fatalf("got %d %s, want a URL", status, text)
	}
	f.building.running.Wait()
	if status, text = f.ask(t, http.MethodGet, path, "", ""); status != 200 || !strings.HasPrefix(text, "\x1f\x8b") {
		t.Errorf("got %d with %.100q", status, text)
	}
}

// The server itself answers what the dialect does not: tombstones, other paths, and all requests at
// listeners that do not speak the dialect.
func TestServerAnswersTheRest(t *testing.T) {
	f := open(t)
	secure, without := f.listen(t)
	do := func(method, url, body string) (int, string) {
		t.Helper()
		req, err := http.NewRequest(method, url, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", basic("T.owner"))
		res, err := f.client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, string(text)
	}
	do("PUT", secure+"/id/ark:/99999/fk4gone", "_target: https://example.org/1")
	do("POST", secure+"/id/ark:/99999/fk4gone", "_status: unavailable | withdrawn by the author")
	for _, tt := range []struct {
		method, url string
		status      int
		text        string // part of the body
	}{
		{"GET", secure + "/ark:/99999/fk4gone", 410, "withdrawn by the author"},
		{"GET", secure + "/ark:/99999/fk4gone/part", 410, `"error": "Gone."`},
		{"GET", secure + "/-/healthz", 200, ""},
		{"GET", without + "/id/ark:/99999/fk4gone", 404, ""},
		{"PUT", without + "/id/ark:/99999/fk4new", 405, ""},
	} {
		if status, text := do(tt.method, tt.url, ""); status != tt.status || !strings.Contains(text, tt.text) {
			t.Errorf("%s %s: got %d with %q, want %d with %q", tt.method, tt.url, status, text, tt.status, tt.text)
		}
	}
}

func TestBadEscape(t *testing.T) {
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	if !open(t).Handler.Serve(w, r, &dialect.Call{Target: "/id/ark:/99999/%zz"}) || w.Code != 400 || w.Body.String() != "error: bad request - invalid identifier" {
		t.Errorf("got %d with %q", w.Code, w.Body)
	}
}

// What follows an identifier in a request never leads to another server.
func FuzzAppended(f *testing.F) {
	f.Add("https://example.org", ".evil.example")
	f.Add("https://example.org/a?b", "/../../x")
	f.Add("https://example.org/a", "/%2e%2e/x")
	f.Add("mailto:a@example.org", ".example")
	f.Fuzz(func(t *testing.T, to, extra string) {
		longer, ok := appended(to, extra)
		if !ok || extra == "" {
			return
		}
		host := func(s string) string {
			_, rest, _ := strings.Cut(s, "://")
			return rest[:len(rest)-len(strings.TrimLeft(rest, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_~:@[]%!$&'()*+,;="))]
		}
		if host(longer) != host(to) || !strings.HasPrefix(longer, to) {
			t.Errorf("%q with %q is %q", to, extra, longer)
		}
	})
}
