package handle

import (
	"bufio"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/dialect"
	"github.com/nomen-project/nomen/resolve"
	"github.com/nomen-project/nomen/server"
	"github.com/nomen-project/nomen/store"
)

// listen serves the dialect on a real listener with TLS, and on one without that also serves it. It
// returns their addresses, that of a listener without the dialect, and a client that trusts the
// certificate.
func (h *harness) listen() (secure, plain, without string, client *http.Client) {
	h.Helper()
	own := httptest.NewTLSServer(nil) // for its certificate
	client = own.Client()
	config := &tls.Config{Certificates: own.TLS.Certificates, ClientAuth: tls.RequestClientCert}
	own.Close()
	s, err := server.New(server.Options{
		Store: h.store, Resolver: resolve.New(h.store, resolve.Options{Now: h.server.now}), Now: h.server.now,
		Dialects: map[string]dialect.Handler{"handle": h.server},
	})
	if err != nil {
		h.Fatal(err)
	}
	l, err := s.Listen(
		server.Listener{Address: "127.0.0.1:0", TLS: config, Dialects: []string{"handle"}},
		server.Listener{Address: "127.0.0.1:0", Dialects: []string{"handle"}},
		server.Listener{Address: "127.0.0.1:0"},
	)
	if err != nil {
		h.Fatal(err)
	}
	h.Cleanup(func() { _ = l.Shutdown(h.Context()) })
	return "https://" + l.Addrs[0].String(), "http://" + l.Addrs[1].String(), "http://" + l.Addrs[2].String(), client
}

// An exchange is one request of a trace, with what the client expects.
type exchange struct {
	line           int
	method, target string
	authorization  string
	body           string
	status, code   int    // the code is 0 if the response is a list of handles
	part           string // part of the response, or the whole list
}

// readTrace reads the exchanges of a file.
func readTrace(t *testing.T, file string) (all []exchange) {
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var e exchange
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		text := lines.Text()
		switch {
		case text == "" || text[0] == '#':
		case strings.HasPrefix(text, "=> "):
			if _, err := fmt.Sscanf(text, "=> %d %d", &e.status, &e.code); err != nil {
				t.Fatalf("%s:%d: %v", file, n, err)
			}
			if parts := strings.SplitN(text, " ", 4); len(parts) == 4 {
				e.part = parts[3]
			}
			all = append(all, e)
			e = exchange{}
		case strings.HasPrefix(text, "Authorization: "):
			e.authorization = strings.TrimPrefix(text, "Authorization: ")
		case e.method == "":
			e.line = n
			e.method, e.target, _ = strings.Cut(text, " ")
		default:
			e.body = text
		}
	}
	if err := lines.Err(); err != nil || len(all) == 0 {
		t.Fatalf("%s: %d exchanges: %v", file, len(all), err)
	}
	return all
}

// The requests of pyhandle, in order, over a real server with TLS.
func TestTraceOfPyhandle(t *testing.T) {
	h := newHarness(t)
	h.put(&store.Record{Spelling: "hdl:20.500.9999/ADMIN", Status: nomen.Active, Values: []nomen.Value{{Index: 1, Type: "DESC", Data: "the user of our scripts"}}})
	h.put(&store.Record{Spelling: "hdl:20.500.9999/batch", Status: nomen.Active, Values: []nomen.Value{{Index: 2, Type: "CHECKSUM", Data: "from a batch file"}}})
	at, _, _, client := h.listen()
	replace := strings.NewReplacer("{secret}", asEditor, "{wrong}", basic("300:20.500.9999/ADMIN", "wrong horse"), "{uuid}", "0f8fad5b-d9cb-469f-a165-70867728950e")
	for _, e := range readTrace(t, "testdata/pyhandle.http") {
		r, err := http.NewRequestWithContext(t.Context(), e.method, at+replace.Replace(e.target), strings.NewReader(e.body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept", "application/json")
		if e.body != "" {
			r.Header.Set("Content-Type", "application/json")
		}
		if e.authorization != "" {
			r.Header.Set("Authorization", replace.Replace(e.authorization))
		}
		resp, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		if e.code == 0 {
			if resp.StatusCode != e.status || string(body) != e.part {
				t.Errorf("line %d: %s %s: got %d %s, want %d %s", e.line, e.method, e.target, resp.StatusCode, body, e.status, e.part)
			}
			continue
		}
		var got struct {
			ResponseCode int
			Handle       string
		}
		if err := json.Unmarshal(body, &got); err != nil || resp.StatusCode != e.status || got.ResponseCode != e.code || !strings.Contains(string(body), e.part) {
			t.Fatalf("line %d: %s %s: got %d %s (%v), want %d with code %d and %q", e.line, e.method, e.target, resp.StatusCode, body, err, e.status, e.code, e.part)
		}
		path, _, _ := strings.Cut(replace.Replace(e.target), "?")
		if want, ok := strings.CutPrefix(path, "/api/handles/"); ok && got.Handle != want {
			t.Errorf("line %d: got handle %q, want %q", e.line, got.Handle, want)
		}
	}
}

// Credentials are read over TLS and on loopback. A listener without the dialect does not know it.
func TestListeners(t *testing.T) {
	h := newHarness(t)
	secure, plain, without, client := h.listen()
	put := func(at string) int {
		r, err := http.NewRequestWithContext(t.Context(), "PUT", at+"/api/handles/20.500.9999/x", strings.NewReader(created))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", asEditor)
		r.Header.Set("Content-Type", "application/json")
		resp, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode
	}
	if a, b, c := put(secure), put(plain), put(without); a != 201 || b != 200 || c != 405 {
		t.Errorf("got %d over TLS, %d on loopback and %d without the dialect, want 201, 200 and 405", a, b, c)
	}
	for _, form := range []string{"/", "/v2/handles/20.500.9999/x", "/resolve/20.500.9999/x"} {
		r, err := http.NewRequestWithContext(t.Context(), map[bool]string{true: "POST", false: "GET"}[form == "/"], plain+form, strings.NewReader("hdl=20.500.9999/x"))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		resp, err := client.Transport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		if resp.StatusCode >= 400 || !strings.Contains(string(body), `"https://example.org/1"`) {
			t.Errorf("%s: got %d %s", form, resp.StatusCode, body)
		}
	}
	resp, err := client.Get(plain + "/hdl:20.500.9999/x?s=I2Ls")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, _ := io.ReadAll(resp.Body); resp.StatusCode != 200 || !strings.Contains(string(body), "https://example.org/1") {
		t.Errorf("a request for a name: got %d %s", resp.StatusCode, body)
	}
}
