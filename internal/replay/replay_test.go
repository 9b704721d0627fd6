package replay

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestClass(t *testing.T) {
	redirect := func(status int, location string) Answer {
		return Answer{Status: status, Location: location, complete: true}
	}
	c := comparison{base: "https://new.example/n/", old: "http://old.example/"}
	exact, any := c, c
	exact.exact, any.anyRedirect = true, true
	for _, tt := range []struct {
		c         comparison
		old, here Answer
		want      Class
		rules     string
	}{
		{c, redirect(302, "https://h/a"), redirect(302, "https://h/a"), Equal, ""},
		{c, redirect(200, ""), redirect(200, ""), Equal, ""},
		{c, redirect(302, "https://h/a"), redirect(303, "https://h/a"), OtherStatus, ""},
		{any, redirect(302, "https://h/a"), redirect(308, "https://h/a"), Equal, ""},
		{any, redirect(302, "https://h/a"), redirect(200, ""), OtherStatus, ""},
		{any, redirect(302, "https://h/a"), redirect(308, "https://h/b"), OtherLocation, ""},
		{c, redirect(302, "https://h/a"), redirect(404, ""), MissingHere, ""},
		{c, redirect(404, ""), redirect(302, "https://h/a"), MissingThere, ""},
		{c, redirect(404, ""), redirect(410, ""), OtherStatus, ""},
		{c, redirect(403, ""), redirect(404, ""), OtherStatus, ""},
		{c, Answer{Error: "refused"}, redirect(404, ""), Failed, ""},
		{c, redirect(302, "https://h/a"), Answer{Error: "timeout"}, Failed, ""},
		// An answer from a log has no Location because it is unknown. If the old server itself sent
		// no Location, the answers differ.
		{c, Answer{Status: 302}, redirect(302, "https://h/a"), Equal, ""},
		{c, redirect(302, ""), redirect(302, "https://h/a"), OtherLocation, ""},
		// A Location with 200 is not a redirect.
		{c, redirect(200, "/a"), redirect(200, "/b"), Equal, ""},
		// The rules.
		{c, redirect(302, "HTTPS://H/%3a"), redirect(302, "https://h/%3A"), Equal, "case"},
		{c, redirect(302, "https://h/%7Ea"), redirect(302, "https://h/~a"), Equal, "percent"},
		{c, redirect(302, "https://h/b/../a"), redirect(302, "https://h/a"), Equal, "path"},
		{c, redirect(302, "https://h:443/a"), redirect(302, "https://h/a"), Equal, "scheme"},
		{c, redirect(302, "http://h"), redirect(302, "http://h:80/"), Equal, "scheme"},
		{c, redirect(302, "http://h:443/a"), redirect(302, "http://h/a"), OtherLocation, ""},
		{c, redirect(302, "https://h/a%2Fb"), redirect(302, "https://h/a/b"), OtherLocation, ""},
		{c, redirect(302, "https://h/a?"), redirect(302, "https://h/a"), OtherLocation, ""},
		{c, redirect(302, "https://h/a#b"), redirect(302, "https://h/a"), OtherLocation, ""},
		{c, redirect(302, "http://old.example/b"), redirect(302, "https://new.example/n/b"), Equal, RuleBase},
		{c, redirect(302, "c"), redirect(302, "c"), Equal, ""},
		{c, redirect(302, "/x/c"), redirect(302, "https://new.example/n/x/c"), Equal, RuleBase},
		{c, redirect(302, "http://old.example:80/b"), redirect(302, "https://new.example/n/b"), Equal, RuleBase + ", scheme"},
		{c, redirect(302, "http://old.example/b"), redirect(302, "https://new.example/m/b"), OtherLocation, ""},
		{c, redirect(302, "http://[x"), redirect(302, "http://[y"), OtherLocation, ""},
		{exact, redirect(302, "https://h:443/a"), redirect(302, "https://h/a"), OtherLocation, ""},
		{exact, redirect(302, "https://h/a"), redirect(302, "https://h/a"), Equal, ""},
	} {
		got, rules := tt.c.class("/x/a", tt.old, tt.here)
		if got != tt.want || rules != tt.rules {
			t.Errorf("%v and %v: got %s by %q, want %s by %q", tt.old, tt.here, got, rules, tt.want, tt.rules)
		}
	}
}

func TestParseBase(t *testing.T) {
	for in, want := range map[string]string{
		"http://h": "http://h/", "https://h:8443/a/": "https://h:8443/a/", "http://[::1]/a%2Fb": "http://[::1]/a%2Fb/",
		"ftp://h/": "", "h:80": "", "//h/": "", "http://u@h/": "", "http://h/?": "", "http://h/?a": "", "http://h/#a": "", "http:///a": "", "": "",
	} {
		got, err := ParseBase(in)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("ParseBase(%q) = %q, %v, want %q", in, got, err, want)
		}
	}
}

// A site answers with the redirects of a table, and records what it received.
type site struct {
	*httptest.Server
	base string

	mu   sync.Mutex
	seen []string
}

func newSite(t *testing.T, answer func(w http.ResponseWriter, r *http.Request)) *site {
	t.Helper()
	s := &site{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.seen = append(s.seen, r.Method+" "+r.RequestURI+" "+r.Header.Get("Accept"))
		s.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	s.base = s.URL + "/"
	return s
}

func logOf(t *testing.T, lines ...string) *Log {
	t.Helper()
	var l Log
	if err := l.Read(t.Context(), strings.NewReader(strings.Join(lines, "")), nil); err != nil {
		t.Fatal(err)
	}
	return &l
}

func TestRunAgainst(t *testing.T) {
	redirects := func(table map[string]string) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, r *http.Request) {
			if to := table[r.URL.Path]; to != "" {
				w.Header().Set("Location", to)
				w.WriteHeader(http.StatusFound)
				return
			}
			w.WriteHeader(http.StatusNotFound)
		}
	}
	trap := newSite(t, func(http.ResponseWriter, *http.Request) {})
	old := newSite(t, redirects(map[string]string{"/a": trap.base, "/b": "https://h/b", "/c": "https://h:443/c"}))
	here := newSite(t, redirects(map[string]string{"/a": trap.base, "/b": "https://h/x", "/c": "https://h/c", "/d": "https://h/d"}))
	l := logOf(t, strings.Repeat(logLine("GET /a HTTP/1.1", 500), 5), strings.Repeat(logLine("GET "+trap.URL+"/b HTTP/1.1", 302), 3),
		logLine("HEAD /c HTTP/1.1", 302), logLine("GET /d?q=%3a HTTP/1.1", 302))
	var differences []string
	total := 0
	report, err := Run(t.Context(), l, Options{
		Server: here.base, Against: old.base, Examples: 5,
		Progress:   func(done, all int) { total += all },
		Difference: func(d Difference) { differences = append(differences, string(d.Class)+" "+d.Target) },
	})
	if err != nil {
		t.Fatal(err)
	}
	for class, want := range map[Class]Tally{Equal: {6, 2}, OtherLocation: {3, 1}, MissingThere: {1, 1}, OtherStatus: {}, MissingHere: {}, Failed: {}, NotCompared: {}} {
		if got := report.Class(class).Tally; got != want {
			t.Errorf("%s: got %v, want %v", class, got, want)
		}
	}
	if got := report.Class(Equal).Rules["scheme"]; got != (Tally{1, 1}) {
		t.Errorf("by the rule scheme: %v", got)
	}
	if requests, distinct := report.Shares(); requests != 60 || distinct != 50 {
		t.Errorf("shares %v and %v", requests, distinct)
	}
	if len(differences) != 2 || total != 4*4 {
		t.Errorf("differences %q, progress %d", differences, total)
	}
	if len(trap.seen) > 0 {
		t.Errorf("a server that was not named received %q", trap.seen)
	}
	if got := strings.Join(here.seen, ","); !strings.Contains(got, "HEAD /c ") || !strings.Contains(got, "GET /d?q=%3a ") || len(here.seen) != 4 || len(old.seen) != 4 {
		t.Errorf("received %q and %q", here.seen, old.seen)
	}
}

// A redirect of the old server to itself is equivalent to a relative one of the new server.
func TestRunBase(t *testing.T) {
	redirect := func(base string) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, r *http.Request) {
			if base == "" {
				base = "http://" + r.Host
			}
			w.Header().Set("Location", base+"/b")
			w.WriteHeader(http.StatusFound)
		}
	}
	old, here := newSite(t, redirect("")), newSite(t, redirect("/."))
	report, err := Run(t.Context(), logOf(t, logLine("GET /a HTTP/1.1", 302)), Options{Server: here.base, Against: old.base})
	if err != nil || report.Class(Equal).Rules[RuleBase] != (Tally{1, 1}) {
		t.Errorf("got %+v, %v", report, err)
	}
}

// Answers can come from a log or a file. Requests without a known answer are counted.
func TestRunWithout(t *testing.T) {
	here := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", "https://h"+r.URL.Path)
		w.WriteHeader(http.StatusFound)
	})
	lines := []string{
		logLine("GET /a HTTP/1.1", 302), logLine("GET /b HTTP/1.1", 404), logLine("GET /c HTTP/1.1", 304),
		`{"method":"GET","uri":"/d","status":302,"location":"https://h/x","accept":"text/html"}` + "\n",
		logLine("GET /e HTTP/1.1", 404), logLine("GET /e HTTP/1.1", 302),
	}
	report, err := Run(t.Context(), logOf(t, lines...), Options{Server: here.base})
	if err != nil {
		t.Fatal(err)
	}
	for class, want := range map[Class]Tally{Equal: {3, 2}, MissingThere: {1, 1}, OtherLocation: {1, 1}, NotCompared: {1, 1}} {
		if got := report.Class(class).Tally; got != want {
			t.Errorf("%s: got %v, want %v", class, got, want)
		}
	}
	if report.Compared != (Tally{5, 4}) || report.StatusOnly != (Tally{3, 2}) || report.Varied != (Tally{2, 1}) {
		t.Errorf("got %+v", report)
	}
	if !strings.Contains(strings.Join(here.seen, ","), "GET /d text/html") || len(here.seen) != 4 {
		t.Errorf("received %q", here.seen)
	}
	expected, err := ReadExpected(strings.NewReader("request,status,location\n/a,302,/x\n/d,302,https://h/d\n"))
	if err != nil {
		t.Fatal(err)
	}
	report, err = Run(t.Context(), logOf(t, lines...), Options{Server: here.base, Expected: expected, Limit: 4})
	if err != nil {
		t.Fatal(err)
	}
	for class, want := range map[Class]Tally{Equal: {0, 0}, OtherLocation: {1, 1}, NotCompared: {4, 3}} {
		if got := report.Class(class).Tally; got != want {
			t.Errorf("with a file: %s: got %v, want %v", class, got, want)
		}
	}
	if report.Left != 1 || report.Varied != (Tally{}) {
		t.Errorf("with a file: got %+v", report)
	}
}

// A target is sent with its bytes, below the path of the base.
func TestTargets(t *testing.T) {
	here := newSite(t, func(http.ResponseWriter, *http.Request) {})
	for _, tt := range []struct{ base, target, want string }{
		{"", `/a%2fb"<>|\^?x=[1]&y%zz#z`, `/a%2fb"<>|\^?x=[1]&y%zz#z`},
		{"", "//h/a%2Fb?c", "//h/a%2Fb?c"},
		{"", "//h/?", "//h/?"},
		{"", "/./../a", "/./../a"},
		{"n%2Fm/", "/ark:/1/a?", "/n%2Fm/ark:/1/a?"},
		{"n/", "//a", "/n//a"},
	} {
		s, err := newServer(here.base+tt.base, 1, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		here.seen = nil
		if a, err := s.ask(t.Context(), Request{Method: "GET", Target: tt.target}); err != nil || a.Status != 200 && a.Status != 400 {
			t.Errorf("%s: %v, %v", tt.target, a, err)
		}
		if got := strings.Join(here.seen, ","); got != "GET "+tt.want+" " {
			t.Errorf("%s: got %q, want %q", tt.target, got, tt.want)
		}
	}
}

func TestBusyServer(t *testing.T) {
	var left atomic.Int64
	here := newSite(t, func(w http.ResponseWriter, _ *http.Request) {
		if left.Add(-1) >= 0 {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusTooManyRequests)
		}
	})
	s, err := newServer(here.base, 1, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	left.Store(1)
	start := time.Now()
	if a, err := s.ask(t.Context(), Request{Method: "GET", Target: "/"}); a.Status != 200 || err != nil || time.Since(start) < time.Second {
		t.Errorf("got %v, %v after %s", a, err, time.Since(start))
	}
	left.Store(attempts)
	if a, err := s.ask(t.Context(), Request{Method: "GET", Target: "/"}); a.Error == "" || err != nil || left.Load() != 0 {
		t.Errorf("got %v, %v", a, err)
	}
}

// A server that does not answer ends the replay, and the report has what was compared before.
func TestNoServer(t *testing.T) {
	here := newSite(t, func(http.ResponseWriter, *http.Request) {})
	lines := []string{}
	for i := range 5 * maxFailed {
		lines = append(lines, logLine(fmt.Sprintf("GET /%d HTTP/1.1", i), 200))
	}
	here.Close()
	report, err := Run(t.Context(), logOf(t, lines...), Options{Server: here.base, Parallel: 1})
	var gone *ServerError
	if !errors.As(err, &gone) || gone.Base != here.base || report.Class(Failed).Distinct != maxFailed-1 {
		t.Errorf("got %v, %+v", err, report.Class(Failed))
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("stopped"))
	if _, err := Run(ctx, logOf(t, lines...), Options{Server: here.base}); err == nil || err.Error() != "stopped" {
		t.Errorf("canceled: got %v", err)
	}
}

// A slow server costs a request at most the timeout.
func TestTimeout(t *testing.T) {
	here := newSite(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	report, err := Run(t.Context(), logOf(t, logLine("GET / HTTP/1.1", 200)), Options{Server: here.base, Timeout: 50 * time.Millisecond, Examples: 1})
	if err != nil || report.Class(Failed).Distinct != 1 || len(report.Class(Failed).Examples) != 1 {
		t.Errorf("got %+v, %v", report, err)
	}
}

// The rate holds for all workers together.
func TestRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &replayer{o: Options{Parallel: 4}, limiter: newLimiter(2), report: newReport(&Log{}, Options{})}
		s, err := newServer("http://[::1]:1/", 4, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		s.transport.DialContext = func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("refused") }
		p.here = s
		list := []*seen{}
		for range 11 {
			list = append(list, &seen{Entry: Entry{Request: Request{Method: "GET", Target: "/"}, Status: 200}})
		}
		start := time.Now()
		if err := p.inParallel(t.Context(), list); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took != 5*time.Second {
			t.Errorf("11 requests at 2 a second took %s, want 5s", took)
		}
	})
}

func TestPercent(t *testing.T) {
	for share, want := range map[float64]string{100: "100.00 %", 99.999: "99.99 %", 0: "0.00 %", 66.6666: "66.66 %"} {
		if got := Percent(share); got != want {
			t.Errorf("%v: got %s, want %s", share, got, want)
		}
	}
}
