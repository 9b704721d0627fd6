package links

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nomen-project/nomen/internal/guard"
)

// archiveOf returns an Archive whose hosts are all at a server.
func archiveOf(t *testing.T, h http.HandlerFunc, o ArchiveOptions) *Archive {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	o.DNS, o.Gap, o.Agent = everywhere{}, time.Nanosecond, "nomen/test"
	o.Allow = func(netip.Addr) error { return nil }
	o.Dial = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, s.Listener.Addr().String())
	}
	if o.Now == nil {
		o.Now = func() time.Time { return time.Date(2026, 11, 24, 0, 0, 0, 0, time.UTC) }
	}
	a, err := NewArchive(o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// everywhere is a resolver for which all hosts exist.
type everywhere struct{}

func (everywhere) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("192.0.2.1")}, nil
}

var lastGood = time.Date(2024, 3, 1, 12, 0, 0, 0, time.UTC)

// closest is an answer of an availability interface.
func closest(url, timestamp, status string) string {
	return fmt.Sprintf(`{"url":"x","archived_snapshots":{"closest":{"status":%q,"available":true,"url":%q,"timestamp":%q}}}`, status, url, timestamp)
}

// TestAvailability checks which answers of an availability interface are copies, and that hostile
// answers are rejected.
func TestAvailability(t *testing.T) {
	const of = "http://a.example/x?y=1&z#part"
	for _, tt := range []struct {
		what, body, want, err string
		status                int
	}{
		{"a copy", closest("http://web.archive.example/web/20240229000000/http://a.example/x", "20240229000000", "200"), "http://web.archive.example/web/20240229000000/http://a.example/x 2024-02-29", "", 0},
		{"a copy at another host of the archive", closest("http://store.example/1", "20240229000000", "200"), "http://store.example/1 2024-02-29", "", 0},
		{"nothing", `{"archived_snapshots":{}}`, "", "no copy", 0},
		{"not available", `{"archived_snapshots":{"closest":{"available":false}}}`, "", "no copy", 0},
		{"a copy of an error page", closest("http://archive.example/1", "20240229000000", "404"), "", "no copy", 0},
		{"status 404", "{}", "", "no copy", 404},
		{"status 500", "{}", "", "status 500", 500},
		{"status 429", "{}", "", "try again after", 429},
		{"another host", closest("http://evil.example/1", "20240229000000", "200"), "", "not one of the archive", 0},
		{"a host that ends like the archive", closest("http://evilarchive.example/1", "20240229000000", "200"), "", "not one of the archive", 0},
		{"a script", closest("javascript:alert(1)", "20240229000000", "200"), "", "scheme", 0},
		{"a private address", closest("http://127.0.0.1/1", "20240229000000", "200"), "", "not one of the archive", 0},
		{"a user", closest("http://archive.example@evil.example/1", "20240229000000", "200"), "", "user", 0},
		{"another port", closest("http://archive.example:25/1", "20240229000000", "200"), "", "port", 0},
		{"a space", closest("http://archive.example/a b", "20240229000000", "200"), "", "cannot be a location", 0},
		{"a line break", closest("http://archive.example/a\nb", "20240229000000", "200"), "", "invalid", 0},
		{"a long URL", closest("http://archive.example/"+strings.Repeat("a", 5000), "20240229000000", "200"), "", "longer than", 0},
		{"no time", closest("http://archive.example/1", "2024", "200"), "", "timestamp", 0},
		{"a time in the future", closest("http://archive.example/1", "20990101000000", "200"), "", "impossible", 0},
		{"HTML", "<html>", "", "not the JSON", 0},
		{"endless", `{"a":"` + strings.Repeat("a", 1<<20), "", "longer than", 0},
		{"a redirect", "", "", "status 302", 302},
	} {
		a := archiveOf(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/available" || r.FormValue("url") != "http://a.example/x?y=1&z" || r.FormValue("timestamp") != "20240301120000" || r.FormValue("key") != "k" {
				t.Errorf("%s: got request %s", tt.what, r.URL)
			}
			if tt.status == 302 {
				w.Header().Set("Location", "http://127.0.0.1/")
			}
			if tt.status != 0 {
				w.WriteHeader(tt.status)
			}
			_, _ = w.Write([]byte(tt.body))
		}, ArchiveOptions{Availability: "http://archive.example/available?key=k", Hosts: []string{"store.example"}})
		c, err := a.Find(t.Context(), of, lastGood)
		got := ""
		if err == nil {
			got = c.URL + " " + c.Time.Format(time.DateOnly)
		}
		if got != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s: got %q, %v, want %q, %q", tt.what, got, err, tt.want, tt.err)
		}
	}
}

// TestTimeGate checks negotiation with a TimeGate (RFC 7089, 4): by redirect and with the memento in the
// response; and that redirects to other hosts are not followed.
func TestTimeGate(t *testing.T) {
	when := "Thu, 29 Feb 2024 00:00:00 GMT"
	for _, tt := range []struct{ what, path, want, err string }{
		{"a redirect to a memento", "/a", "http://archive.example/memento/a 2024-02-29", ""},
		{"a memento in the response", "/here", "http://archive.example/memento/here 2024-02-29", ""},
		{"a memento that is the TimeGate", "/self", "http://archive.example/gate/http://a.example/self 2024-02-29", ""},
		{"unknown", "/unknown", "", "no copy"},
		{"a redirect to another host", "/away", "", "not one of the archive"},
		{"a redirect to a private address", "/private", "", "not one of the archive"},
		{"a redirect to a script", "/script", "", "scheme"},
		{"a loop", "/loop", "", "more than 5 redirects"},
		{"a memento of an error page", "/error", "", "status 500"},
		{"an ordinary page", "/page", "", "not that of a TimeGate"},
		{"an invalid time", "/when", "", "Memento-Datetime"},
	} {
		a := archiveOf(t, func(w http.ResponseWriter, r *http.Request) {
			if got := r.Header.Get("Accept-Datetime"); r.Method != http.MethodHead || got != "Fri, 01 Mar 2024 12:00:00 GMT" {
				t.Errorf("%s: got %s %q", tt.what, r.Method, got)
			}
			h := w.Header()
			to := func(where string) { h.Set("Location", where); w.WriteHeader(http.StatusFound) }
			switch strings.TrimPrefix(r.URL.Path, "/gate/http://a.example") {
			case "/a":
				to("/memento/a")
			case "/here":
				h.Set("Content-Location", "/memento/here")
				h.Set("Memento-Datetime", when)
			case "/self", "/memento/a":
				h.Set("Memento-Datetime", when)
			case "/away":
				to("http://evil.example/")
			case "/private":
				to("http://[::1]/")
			case "/script":
				to("javascript:alert(1)")
			case "/loop":
				to(r.URL.Path)
			case "/error":
				h.Set("Memento-Datetime", when)
				w.WriteHeader(http.StatusInternalServerError)
			case "/page":
			case "/when":
				h.Set("Memento-Datetime", "yesterday")
			default:
				http.NotFound(w, r)
			}
		}, ArchiveOptions{TimeGate: "http://archive.example/gate/"})
		c, err := a.Find(t.Context(), "http://a.example"+tt.path, lastGood)
		got := ""
		if err == nil {
			got = c.URL + " " + c.Time.Format(time.DateOnly)
		}
		if got != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s: got %q, %v, want %q, %q", tt.what, got, err, tt.want, tt.err)
		}
	}
}

// TestArchiveManners checks that an archive gets one request at a time, and none for an answer that is
// a day old or younger; and that Retry-After is obeyed.
func TestArchiveManners(t *testing.T) {
	var now atomic.Int64
	now.Store(time.Date(2026, 11, 24, 0, 0, 0, 0, time.UTC).Unix())
	var asked, at atomic.Int64
	var busy atomic.Bool
	a := archiveOf(t, func(w http.ResponseWriter, _ *http.Request) {
		if asked.Add(1); at.Add(1) > 1 {
			t.Error("two requests at once")
		}
		defer at.Add(-1)
		if busy.Load() {
			w.Header().Set("Retry-After", "600")
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		_, _ = w.Write([]byte(closest("https://archive.example/1", "20240229000000", "200")))
	}, ArchiveOptions{Availability: "http://archive.example/available", Now: func() time.Time { return time.Unix(now.Load(), 0) }})
	find := func(i int) error {
		_, err := a.Find(t.Context(), fmt.Sprintf("http://a.example/%d", i), lastGood)
		return err
	}
	results := make(chan error)
	for i := range 20 {
		go func() { results <- find(i) }()
	}
	for range 20 {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
	for _, tt := range []struct {
		what string
		pass time.Duration
		want int64
	}{{"at once", 0, 20}, {"within a day", 23 * time.Hour, 20}, {"later", 2 * time.Hour, 21}} {
		now.Add(int64(tt.pass / time.Second))
		if err := find(0); err != nil || asked.Load() != tt.want {
			t.Errorf("%s: got %d requests, %v, want %d", tt.what, asked.Load(), err, tt.want)
		}
	}
	busy.Store(true)
	for range 2 {
		if err := find(100); err == nil || !strings.Contains(err.Error(), "try again after 2026-11-25T01:10:00Z") {
			t.Errorf("a busy archive: got %v", err)
		}
	}
	if got := asked.Load(); got != 22 {
		t.Errorf("a busy archive got %d requests, want 1", got-21)
	}
	busy.Store(false)
	now.Add(600)
	if err := find(100); err != nil {
		t.Errorf("after ten minutes: %v", err)
	}
	if len(a.copies) != 21 {
		t.Errorf("got %d answers, want 21", len(a.copies))
	}
	for i := range 3 * maxCopies {
		a.keep(fmt.Sprint(i), foundCopy{})
	}
	if len(a.copies) != maxCopies {
		t.Errorf("got %d answers, want %d", len(a.copies), maxCopies)
	}
}

// TestArchiveGuard checks that an archive at a private address gets no request, and that an archive
// that does not answer is given up.
func TestArchiveGuard(t *testing.T) {
	a, err := NewArchive(ArchiveOptions{Availability: "http://127.0.0.1:1/available", Agent: "nomen/test"})
	if err != nil {
		t.Fatal(err)
	}
	var private *guard.AddressError
	if _, err := a.Find(t.Context(), "http://a.example/", lastGood); !errors.As(err, &private) {
		t.Errorf("got %v, want an AddressError", err)
	}
	a = archiveOf(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, ArchiveOptions{TimeGate: "http://archive.example/"})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := a.Find(ctx, "http://a.example/", lastGood); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a silent archive: got %v", err)
	}
	if len(a.copies) != 0 {
		t.Error("a failure was kept as an answer")
	}
}

// TestArchiveOverTLS checks that copies of an archive that is asked over TLS get the scheme https.
func TestArchiveOverTLS(t *testing.T) {
	a, err := NewArchive(ArchiveOptions{Availability: "https://archive.example/available", Agent: "nomen/test"})
	if err != nil {
		t.Fatal(err)
	}
	made := Copy{"http://web.archive.example/web/1/http://a.example/", lastGood}
	if got, err := a.checked(made); err != nil || got.URL != "https://web.archive.example/web/1/http://a.example/" {
		t.Errorf("got %v, %v", got, err)
	}
	for _, bad := range []ArchiveOptions{{}, {Availability: "x"}, {TimeGate: "ftp://a.example/"}, {TimeGate: "https://u@a.example/"}, {TimeGate: "https://a.example/", Availability: "https://a.example/"}} {
		if _, err := NewArchive(bad); err == nil {
			t.Errorf("%+v: want an error", bad)
		}
	}
}

func FuzzReadAvailability(f *testing.F) {
	f.Add([]byte(closest("http://web.archive.example/web/1/http://a.example/", "20240229000000", "200")))
	f.Add([]byte(`{"archived_snapshots":{}}`))
	f.Add([]byte(`{"archived_snapshots":{"closest":{"available":true,"status":200}}}`))
	a, err := NewArchive(ArchiveOptions{Availability: "https://archive.example/available", Agent: "nomen/test", Now: time.Now})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		c, err := readAvailability(body)
		if err != nil {
			return
		}
		if c, err = a.checked(c); err == nil && !strings.HasPrefix(c.URL, "https://archive.example") && !strings.Contains(c.URL, ".archive.example") {
			t.Errorf("accepted %q", c.URL)
		}
	})
}
