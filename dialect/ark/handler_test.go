package ark

import (
	"slices"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/dialect"
	"github.com/nomen-project/nomen/name"
)

// What the dialect does not answer has the same response as on a listener without it. In particular,
// a response does not tell a reserved name from an unknown one.
func TestServerAnswersTheRest(t *testing.T) {
	with, without := listen(t)
	for _, first := range []string{
		"GET /ark:12345/x5 HTTP/1.1",
		"GET /ark:12345/x5?page=2 HTTP/1.1",
		"GET /ark:12345/x5?info=1 HTTP/1.1",
		"POST /ark:12345/x5?info HTTP/1.1",
		"GET /ark:12345/query/part?info HTTP/1.1", // its location has a query
		"GET /ark:12345/held?info HTTP/1.1",
		"GET /ark:12345/unknown?info HTTP/1.1",
		"GET /ark:99999/x?info HTTP/1.1",
		"GET /ark:99999?info HTTP/1.1",
		"GET /ark:54321/x?info HTTP/1.1", // not in the scope
		"GET /ark:54321?info HTTP/1.1",
		"GET /ark:77777/x?info HTTP/1.1",
		"GET /ark:?info HTTP/1.1",
		"GET /ark:123_5/x?info HTTP/1.1",
		"GET /urn:isbn:9780395363416?info HTTP/1.1",
		"GET /.well-known/ark? HTTP/1.1",
		"GET /? HTTP/1.1",
		"GET ark:12345/x5?? HTTP/1.0",
	} {
		got, want := request(t, with, []string{first}), request(t, without, []string{first})
		if !slices.Equal(got, want) {
			t.Errorf("%s\ngot:\n%s\n\nwant:\n%s", first, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	held := strings.Join(request(t, with, []string{"GET /ark:12345/held?info HTTP/1.1"}), "\n")
	none := strings.Join(request(t, with, []string{"GET /ark:12345/none?info HTTP/1.1"}), "\n")
	if strings.ReplaceAll(held, "held", "none") != none || !strings.HasPrefix(none, "HTTP/1.1 404 ") {
		t.Errorf("a reserved name gets\n%s\nand an unknown one\n%s", held, none)
	}
}

func TestNewNeedsARKs(t *testing.T) {
	for prefix, want := range map[string]bool{"ark:12345": true, "ark": true, "hdl:20.500.9999": false, "urn:x-ark": false} {
		if _, err := New(Options{Scope: dialect.Scope{name.MustParsePrefix(prefix)}}); (err == nil) != want {
			t.Errorf("New with %s: %v, want an error: %v", prefix, err, !want)
		}
	}
}

// A client gets JSON only if it prefers it to plain text.
func TestNegotiation(t *testing.T) {
	with, _ := listen(t)
	for field, want := range map[string]string{
		"":    "text/plain; charset=utf-8",
		"*/*": "text/plain; charset=utf-8",
		"text/html, application/xhtml+xml, */*;q=0.8": "text/plain; charset=utf-8",
		"text/html":                          "text/plain; charset=utf-8",
		"application/json":                   "application/json",
		"application/json, */*;q=0.1":        "application/json",
		"application/json;q=0.4, text/plain": "text/plain; charset=utf-8",
		"application/json;q=0":               "text/plain; charset=utf-8",
	} {
		lines := []string{"GET /ark:12345/x5?info HTTP/1.1"}
		if field != "" {
			lines = append(lines, "Accept: "+field)
		}
		if got := request(t, with, lines); !slices.Contains(got, "Content-Type: "+want) || !slices.Contains(got, "Vary: Accept") {
			t.Errorf("Accept: %s: got %q, want %s", field, got[:12], want)
		}
	}
}
