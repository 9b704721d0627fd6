package client

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/discover"
	"github.com/nomen-project/nomen/internal/guard"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/uri"
	"github.com/nomen-project/nomen/urn"
)

// finder yields a discover.Way or an error for each step, by name.
type finder map[string][]any

func (f finder) Find(_ context.Context, n name.Name) iter.Seq2[discover.Way, error] {
	return func(yield func(discover.Way, error) bool) {
		for _, step := range f[n.Key()] {
			w, _ := step.(discover.Way)
			err, _ := step.(error)
			if !yield(w, err) {
				return
			}
		}
	}
}

const rfc = "urn:ietf:rfc:2648"

// The ways are tried in turn until one answers, whatever the answer.
func TestWays(t *testing.T) {
	n := newInternet(t)
	n.host("right.example", "192.0.2.1", says(urc("https://right.example/x")))
	n.host("ignorant.example", "192.0.2.2", says("HTTP/1.0 404 Not Found\r\n\r\n"))
	n.host("broken.example", "192.0.2.3", says("HTTP/1.0 500 No\r\n\r\n"))
	n.hosts["refusing.example"] = []string{"192.0.2.4"}
	n.hosts["web.example"] = []string{"192.0.2.5"}
	var webLine string
	n.serve["192.0.2.5:80"] = func(r request) string {
		webLine = r.line
		return "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/uri-list\r\n\r\nhttps://web.example/x\r\n"
	}
	to := func(host string) discover.Way { return discover.Way{Kind: discover.Authority, Host: host, Port: 4500} }
	path := discover.Way{Kind: discover.Path, URL: "http://web.example/r"}
	only := func(w discover.Way, services ...string) discover.Way { w.Services = services; return w }
	for _, tt := range []struct {
		name    string
		ways    []any
		service nomen.Service
		want    string // location, or a part of the error
		line    string // the request line
	}{
		{"the first", []any{to("right.example"), to("nowhere.example")}, nomen.I2Ls, "https://right.example/x", ""},
		{"after refusal", []any{to("refusing.example"), to("right.example")}, nomen.I2Ls, "https://right.example/x", ""},
		{"after 500", []any{to("broken.example"), to("right.example")}, nomen.I2Ls, "https://right.example/x", ""},
		{"after no address", []any{to("nowhere.example"), to("right.example")}, nomen.I2Ls, "https://right.example/x", ""},
		{"after a failed step", []any{errors.New("no DNS"), to("right.example")}, nomen.I2Ls, "https://right.example/x", ""},
		{"after an unsupported way", []any{discover.Way{Kind: "pigeon"}, to("right.example")}, nomen.I2Ls, "https://right.example/x", ""},
		{"not after an answer", []any{to("ignorant.example"), to("right.example")}, nomen.I2Ls, "unknown-name", ""},
		{"none", nil, nomen.I2Ls, `unknown SchemeID "ietf"`, ""},
		{"all fail", []any{to("broken.example"), errors.New("no DNS"), to("refusing.example")}, nomen.I2Ls, "all 3 ways to resolve it failed; no answer from broken.example:4500", ""},
		{"a path", []any{path}, nomen.I2Ls, "https://web.example/x", "GET /r/urn:ietf:rfc:2648?s=I2Ls HTTP/1.1"},
		{"a template of a path", []any{discover.Way{Kind: discover.Path, URL: "http://web.example/r/{name}"}}, nomen.I2Ls, "https://web.example/x", "GET /r/urn:ietf:rfc:2648?s=I2Ls HTTP/1.1"},
		{"a template of RFC 6570", []any{discover.Way{Kind: discover.Path, URL: "http://web.example/r/{+name}"}}, nomen.I2Ls, "https://web.example/x", "GET /r/urn:ietf:rfc:2648?s=I2Ls HTTP/1.1"},
		{"a template of a query", []any{discover.Way{Kind: discover.Path, URL: "http://web.example/r?urn={name}"}}, nomen.I2Ls, "https://web.example/x", "GET /r?urn=urn%3Aietf%3Arfc%3A2648 HTTP/1.1"},
		{"a name as the query", []any{discover.Way{Kind: discover.Path, URL: "http://web.example/N2L?{name}"}}, nomen.I2Ls, "https://web.example/x", "GET /N2L?urn:ietf:rfc:2648 HTTP/1.1"},
		{"RFC 2169", []any{discover.Way{Kind: discover.THTTP, URL: "http://web.example/uri-res/"}}, nomen.I2Ls, "https://web.example/x", "GET /uri-res/N2Ls?urn:ietf:rfc:2648 HTTP/1.1"},
		{"a service that is offered", []any{only(path, "I2Ls")}, nomen.I2L, "https://web.example/x", "GET /r/urn:ietf:rfc:2648?s=I2L HTTP/1.1"},
		{"a service that is not offered", []any{only(path, "I2C"), to("right.example")}, nomen.I2L, "https://right.example/x", ""},
		{"no service offered", []any{only(path, "I2C")}, nomen.I2L, "no-result", ""},
		{"a location", []any{discover.Way{Kind: discover.Location, URL: "ftp://there.example/x"}}, nomen.I2L, "ftp://there.example/x", ""},
		{"a location, described", []any{discover.Way{Kind: discover.Location, URL: "http://there.example/x"}}, nomen.I2C, "http://there.example/x", ""},
		{"a result", []any{discover.Way{Kind: discover.Location, URL: "http://web.example/list", Services: []string{"I2Ls"}}}, nomen.I2Ls, "https://web.example/x", "GET /list HTTP/1.1"},
		{"a result that is itself a location", []any{discover.Way{Kind: discover.Location, URL: "FTP://there.example/x", Services: []string{"I2L", "I2C"}}}, nomen.I2L, "FTP://there.example/x", ""},
		{"a description that cannot be requested", []any{discover.Way{Kind: discover.Location, URL: "ftp://there.example/x", Services: []string{"I2L", "I2C"}}}, nomen.I2C, "ftp://there.example/x", ""},
	} {
		webLine = ""
		a, err := n.client(Options{Finder: finder{rfc: tt.ways}}).Resolve(t.Context(), ask(t, rfc, tt.service))
		got := fmt.Sprint(err)
		if err == nil {
			got = a.Locations[0].URL
		}
		if !strings.Contains(got, tt.want) || webLine != tt.line {
			t.Errorf("%s: got %q by %q, want %q by %q", tt.name, got, webLine, tt.want, tt.line)
		}
	}
}

// If one way does not offer the service and another way failed, the error is a failure and says
// nothing about the name.
func TestWaysThatFail(t *testing.T) {
	n := newInternet(t)
	n.hosts["refusing.example"] = []string{"192.0.2.4"}
	ways := []any{
		discover.Way{Kind: discover.Path, URL: "http://web.example/r", Services: []string{"I2C"}},
		discover.Way{Kind: discover.Authority, Host: "refusing.example", Port: 4500},
	}
	for i, failure := range []bool{false, true} {
		_, err := n.client(Options{Finder: finder{rfc: ways[:i+1]}}).Resolve(t.Context(), ask(t, rfc, nomen.I2L))
		if err == nil || OnFailure(err) != failure {
			t.Errorf("of %d ways: %v, failure %t, want %t", i+1, err, !failure, failure)
		}
	}
}

// If a name redirects to another name, the client finds the resolver of the other name anew.
func TestFoundAnew(t *testing.T) {
	n := newInternet(t)
	n.host("old.example", "192.0.2.1", says(moved(301, "urn:ietf:rfc:2", "")))
	n.host("new.example", "8.8.8.8", says(urc("https://new.example/x")))
	ways := finder{
		"urn:ietf:rfc:1": {discover.Way{Kind: discover.Authority, Host: "old.example", Port: 4500}},
		"urn:ietf:rfc:2": {discover.Way{Kind: discover.Authority, Host: "new.example", Port: 4500}},
	}
	for _, service := range []string{"", "I2L"} { // by a DNS rule whose service yields another name
		ways["urn:ietf:rfc:0"] = []any{discover.Way{Kind: discover.Location, URL: "urn:ietf:rfc:2", Services: []string{service}}}
		a, err := n.client(Options{Finder: ways}).Resolve(t.Context(), ask(t, "urn:ietf:rfc:0", nomen.I2L))
		if err != nil || a.Locations[0].URL != "https://new.example/x" {
			t.Errorf("Y95-43: got %+v, %v after %q", a, err, n.lines())
		}
	}
	a, err := n.client(Options{Finder: ways}).Resolve(t.Context(), ask(t, "urn:ietf:rfc:1", nomen.I2L))
	if err != nil || a.Locations[0].URL != "https://new.example/x" {
		t.Errorf("Y95-43: got %+v, %v after %q", a, err, n.lines())
	}
	ways["urn:ietf:rfc:2"] = ways["urn:ietf:rfc:1"]
	var e *RedirectError
	if _, err := n.client(Options{Finder: ways}).Resolve(t.Context(), ask(t, "urn:ietf:rfc:1", nomen.I2L)); !errors.As(err, &e) || !e.Loop {
		t.Errorf("Y95-44: a loop: %v", err)
	}
}

// A way to another host asks there for the original name.
func TestFoundElsewhere(t *testing.T) {
	n := newInternet(t)
	n.hosts["mirror.example"] = []string{"192.0.2.1"}
	n.serve["192.0.2.1:4600"] = says(urc("https://example.com/x"))
	ways := finder{alb: {discover.Way{Kind: discover.Authority, Host: "mirror.example", Port: 4600}}}
	if _, err := n.client(Options{Finder: ways}).Resolve(t.Context(), ask(t, alb, "")); err != nil {
		t.Fatal(err)
	}
	if r := n.asked[0]; r.line != "GET alb002 HTTP/1.0" || r.field("Host") != "example.com" {
		t.Errorf("asked %q", n.asked)
	}
}

// Results of DNS or a table are untrusted.
func TestFoundGuarded(t *testing.T) {
	n := newInternet(t)
	n.host("inside.example", "10.0.0.1", says(urc("https://inside.example/x")))
	n.serve["10.0.0.1:80"] = says("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/uri-list\r\n\r\nhttps://inside.example/x\r\n")
	for _, w := range []discover.Way{
		{Kind: discover.Authority, Host: "inside.example", Port: 4500},
		{Kind: discover.Path, URL: "http://inside.example/"},
		{Kind: discover.THTTP, URL: "http://inside.example/uri-res/"},
		{Kind: discover.Location, URL: "http://inside.example/", Services: []string{"I2Ls"}},
	} {
		_, err := n.client(Options{Guard: true, Finder: finder{rfc: {w}}}).Resolve(t.Context(), ask(t, rfc, nomen.I2Ls))
		var e *guard.AddressError
		if !errors.As(err, &e) || len(n.asked) > 0 {
			t.Errorf("%+v: %v after %q", w, err, n.asked)
		}
	}
}

// A busy server is retried with growing pauses, up to the limit.
func TestBusy(t *testing.T) {
	for _, tt := range []struct {
		answer  string
		retries int
		asked   int
		least   time.Duration
	}{
		{"HTTP/1.0 503 Busy\r\n\r\n", 0, 1 + DefaultRetries, firstPause + 2*firstPause},
		{"HTTP/1.0 503 Busy\r\n\r\n", 5, 6, 31 * firstPause},
		{"HTTP/1.0 503 Busy\r\n\r\n", -1, 1, 0},
		{"HTTP/1.0 503 Busy\r\nRetry-After: 7\r\n\r\n", 1, 2, 7 * time.Second},
		{"HTTP/1.0 429 Too many\r\nRetry-After: Sat, 01 Jan 2000 00:00:03 GMT\r\n\r\n", 1, 2, 2 * time.Second},
		{"HTTP/1.0 503 Closed\r\nRetry-After: 3600\r\n\r\n", 1, 1, 0},
		{"HTTP/1.0 500 Broken\r\n\r\n", 1, 1, 0},
		{"HTTP/1.0 508 Loop Detected\r\n\r\n", 1, 1, 0},
		{"", 1, 2, firstPause},
	} {
		synctest.Test(t, func(t *testing.T) {
			n := newInternet(t)
			n.host("example.com", "192.0.2.1", says(tt.answer))
			start := time.Now()
			_, err := n.client(Options{Retries: tt.retries}).Resolve(t.Context(), ask(t, alb, ""))
			if loops := strings.Contains(tt.answer, "508"); errors.Is(err, nomen.ErrLoop) != loops {
				t.Errorf("%q: %v", tt.answer, err)
			}
			if took := time.Since(start); err == nil || len(n.asked) != tt.asked || took < tt.least || took > 2*tt.least {
				t.Errorf("%q, %d: %v after %d requests in %v, want %d in %v and a little", tt.answer, tt.retries, err, len(n.asked), took, tt.asked, tt.least)
			}
		})
	}
	for _, tt := range []struct { // a later Retry-After counts, too
		second string
		asked  int
		took   time.Duration
	}{
		{"HTTP/1.0 429 Too many\r\nRetry-After: 3600\r\n\r\n", 2, firstPause},
		{"HTTP/1.0 429 Too many\r\nRetry-After: 5\r\n\r\n", 3, firstPause + 5*time.Second},
		{"HTTP/1.0 500 Broken\r\n\r\n", 2, firstPause},
	} {
		synctest.Test(t, func(t *testing.T) {
			n := newInternet(t)
			first := true
			n.host("example.com", "192.0.2.1", func(request) string {
				if first {
					first = false
					return "HTTP/1.0 503 Busy\r\n\r\n"
				}
				return tt.second
			})
			start := time.Now()
			_, err := n.client(Options{}).Resolve(t.Context(), ask(t, alb, ""))
			if took := time.Since(start); err == nil || len(n.asked) != tt.asked || took < tt.took || took > 2*tt.took {
				t.Errorf("%q: %v after %d requests in %v, want %d in %v and a little", tt.second, err, len(n.asked), took, tt.asked, tt.took)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) { // a retry can succeed, but is not tried if it would come after the deadline
		n := newInternet(t)
		busy := true
		n.host("example.com", "192.0.2.1", func(request) string {
			if busy = !busy; busy {
				return urc("https://example.com/x")
			}
			return "HTTP/1.0 503 Busy\r\n\r\n"
		})
		if _, err := n.client(Options{}).Resolve(t.Context(), ask(t, alb, "")); err != nil {
			t.Error(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), firstPause/2)
		defer cancel()
		start := time.Now()
		if _, err := n.client(Options{}).Resolve(ctx, ask(t, alb, "")); err == nil || time.Since(start) != 0 {
			t.Errorf("%v after %v", err, time.Since(start))
		}
	})
}

// Concurrent requests and the request rate are limited per host.
func TestLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimits(2, 0)
		now, most := 0, 0
		var mu sync.Mutex
		count := func(d int) { mu.Lock(); now += d; most = max(most, now); mu.Unlock() }
		var all sync.WaitGroup
		start := time.Now()
		for range 10 {
			all.Go(func() {
				leave, err := l.enter(t.Context(), "Example.com")
				if err != nil {
					t.Error(err)
					return
				}
				count(1)
				time.Sleep(time.Second)
				count(-1)
				leave()
			})
		}
		leave, err := l.enter(t.Context(), "other.example") // one host does not wait for another
		if err != nil || time.Since(start) != 0 {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		leave()
		all.Wait()
		if most != 2 || time.Since(start) != 5*time.Second {
			t.Errorf("%d at a time, %v", most, time.Since(start))
		}

		l = newLimits(-1, 10)
		start = time.Now()
		for range 30 { // ten at once, then the others at the rate
			leave, err := l.enter(t.Context(), "example.com")
			if err != nil {
				t.Fatal(err)
			}
			leave()
		}
		if took := time.Since(start).Round(10 * time.Millisecond); took != 2*time.Second {
			t.Errorf("30 at 10 a second took %v", took)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, err := l.enter(ctx, "example.com"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		full := newLimits(1, 1)
		if _, err := full.enter(t.Context(), "example.com"); err != nil {
			t.Fatal(err)
		}
		if _, err := full.enter(ctx, "example.com"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		many := newLimits(1, 0)
		for i := range 3 * maxIdleHosts {
			leave, err := many.enter(t.Context(), fmt.Sprint(i))
			if err != nil {
				t.Fatal(err)
			}
			leave()
		}
		if n := len(many.hosts); n > maxIdleHosts {
			t.Errorf("%d hosts are remembered", n)
		}
	})
}

// All parts of a question are sent if the form of the request can carry them.
func TestEverythingOfAQuestion(t *testing.T) {
	q := nomen.Question{
		Name: name.MustParse(rfc), Subject: uri.MustParse(rfc), Service: nomen.I2Ls, Component: "toc", Query: "a=b&c",
		Languages: "sv", At: time.Date(2026, 11, 20, 12, 0, 0, 5e6, time.UTC), Hops: 2, Country: "SE",
	}
	const fields = "Accept-Datetime: Fri, 20 Nov 2026 12:00:00 GMT; Accept-Language: sv; Accept: application/json, text/urc-0;q=0.5, application/problem+json; Via: 1.1 nomen, 1.1 nomen"
	const directives = "c=toc&at=2026-11-20T12%3A00%3A00.005Z"
	for via, want := range map[string]string{
		"http://192.0.2.1/":         "GET /urn:ietf:rfc:2648?s=I2Ls&" + directives + "&a=b&c HTTP/1.1; " + fields,
		"http://192.0.2.1/uri-res/": "GET /uri-res/N2Ls?urn:ietf:rfc:2648?" + directives + "&a=b&c HTTP/1.1; " + fields,
		"192.0.2.1:80": "GET urn:ietf:rfc:2648?" + directives + " HTTP/1.0; Accept-Language: sv; " +
			"Accept: application/json, text/urc-0;q=0.5; Via: 1.1 nomen, 1.1 nomen",
	} {
		n := newInternet(t)
		n.serve["192.0.2.1:80"] = says("HTTP/1.0 404 No\r\n\r\n")
		n.client(Options{Via: via}).Resolve(t.Context(), q)
		if len(n.asked) != 1 {
			t.Errorf("%s: asked %q", via, n.asked)
			continue
		}
		header := slices.DeleteFunc(n.asked[0].header, func(f string) bool { return strings.HasPrefix(f, "Host:") })
		slices.Sort(header)
		if got := n.asked[0].line + "; " + strings.Join(header, "; "); got != want {
			t.Errorf("%s: sent\n%s\nwant\n%s", via, got, want)
		}
	}
	same := nomen.Question{Name: q.Name, Service: nomen.IisI, Other: uri.MustParse("urn:ietf:RFC:2648")}
	for via, want := range map[string]string{
		"http://192.0.2.1/":         "GET /urn:ietf:rfc:2648?s=I=I&with=urn%3Aietf%3ARFC%3A2648 HTTP/1.1",
		"http://192.0.2.1/uri-res/": "GET /uri-res/I=I?urn:ietf:rfc:2648&urn%3Aietf%3ARFC%3A2648 HTTP/1.1",
	} {
		for body, answer := range map[string]bool{"TRUE\r\n": true, "FALSE": false} {
			n := newInternet(t)
			n.serve["192.0.2.1:80"] = says("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/plain\r\n\r\n" + body)
			a, err := n.client(Options{Via: via}).Resolve(t.Context(), same)
			if err != nil || a.Same != answer || n.asked[0].line != want {
				t.Errorf("%s: got %+v, %v by %q", via, a, err, n.asked)
			}
		}
	}
}

// An answer for another time than the one asked for is an error. For a time in the future the
// resolver only needs to support times.
func TestTime(t *testing.T) {
	past, future := time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC), time.Now().Add(time.Hour)
	const memento, gate = "Memento-Datetime: Mon, 01 Jan 2001 00:00:00 GMT\r\n", "Link: <x>; rel=item, </urn:ietf:rfc:2648>; rel=\"original timegate\"\r\n"
	for _, tt := range []struct {
		at     time.Time
		fields string
		ok     bool
	}{
		{past, "", false},
		{past, memento, true},
		{past, gate, false},
		{future, "", false},
		{future, memento, true},
		{future, gate, true},
		{future, "Link: <https://timegate.example/>; rel=item\r\n", false},
	} {
		q := ask(t, rfc, nomen.I2Ls)
		q.At = tt.at
		for _, answer := range []string{"200 OK\r\nContent-Type: text/uri-list\r\n", "303 See Other\r\nLocation: https://example.org/x\r\n"} {
			n := newInternet(t)
			n.serve["192.0.2.1:80"] = says("HTTP/1.1 " + answer + "Connection: close\r\n" + tt.fields + "\r\nhttps://example.org/x\r\n")
			a, err := n.client(Options{Via: "http://192.0.2.1/"}).Resolve(t.Context(), q)
			var e *TimeError
			if errors.As(err, &e) == tt.ok || tt.ok && err != nil {
				t.Errorf("%v, %q, %q: got %+v, %v", tt.at, tt.fields, answer, a, err)
			}
		}
	}
}

// Resolving a name returns information about the resource. The client sends one request to the
// resolver and none to a location.
func TestResolvingFetchesNothing(t *testing.T) {
	for _, service := range []nomen.Service{"", nomen.I2L, nomen.I2Ls, nomen.I2C} {
		n := newInternet(t)
		n.host("example.com", "192.0.2.1", says(urc("http://location.example/x")))
		n.hosts["location.example"] = []string{"192.0.2.2"}
		n.serve["192.0.2.2:80"] = says("HTTP/1.0 200 OK\r\n\r\nthe resource")
		a, err := n.client(Options{}).Resolve(t.Context(), ask(t, alb, service))
		if err != nil || len(a.Locations) != 1 || a.Locations[0].URL != "http://location.example/x" || a.Resource != nil {
			t.Errorf("Y95-74: service %q: got %+v, %v, want the location", service, a, err)
		}
		if got := n.lines(); len(got) != 1 || !strings.HasPrefix(got[0], "192.0.2.1:4500 ") {
			t.Errorf("Y95-74: service %q: asked %q, want one request to the resolver", service, got)
		}
	}
}

// The name is sent in canonical form, however the user wrote it.
func TestNamesTravelInTheCanonicalFormat(t *testing.T) {
	for in, want := range map[string]string{
		"<URN:dns:example.com:\n  alb002>": "alb002",
		"urn:dns:example.com:a%2fb":        "a%2fb",
		"urn:dns:EXAMPLE.com:caf%c3%a9":    "caf%c3%a9",
	} {
		n := newInternet(t)
		n.host("example.com", "192.0.2.1", says(urc("https://example.com/x")))
		n.serve["192.0.2.1:80"] = says("HTTP/1.1 200 OK\r\nContent-Type: text/uri-list\r\nConnection: close\r\n\r\nhttps://example.com/x\r\n")
		q, err := Parse(in)
		if err != nil {
			t.Fatal(err)
		}
		for via, prefix := range map[string]string{"": "", "http://192.0.2.1/": "/urn:dns:example.com:"} {
			if _, err := n.client(Options{Via: via}).Resolve(t.Context(), q); err != nil {
				t.Fatal(err)
			}
			target := strings.Fields(n.lines()[len(n.lines())-1])[2]
			if !strings.EqualFold(target, prefix+want) {
				t.Errorf("N12-42: %q: sent %q, want %q", in, target, prefix+want)
			}
			if prefix == "" {
				continue
			}
			whole := target[1:]
			if u, err := urn.RFC8141.Parse(whole); err != nil || u.String() != whole {
				t.Errorf("N12-42, N12-46: %q: sent %q, want a URN with its tag: %v", in, whole, err)
			}
		}
	}
	for _, in := range []string{"urn:example:caf\u00e9", "urn:example:a<b", "urn:example:a\x00"} {
		if q, err := Parse(in); err == nil {
			t.Errorf("N12-42: %q is taken for %q", in, q.Name)
		}
	}
}

func TestDirectives(t *testing.T) {
	for _, tt := range []struct {
		fields []string
		want   bool
	}{
		{[]string{"private"}, true},
		{[]string{`max-age=5, Private="Set-Cookie"`}, true},
		{[]string{"private=x"}, true},
		{[]string{"max-age=5", " no-cache , private"}, true},
		{[]string{"x-private, privately, max-age=private"}, false},
		{nil, false},
	} {
		if got := hasDirective(http.Header{"Cache-Control": tt.fields}, "private"); got != tt.want {
			t.Errorf("%q: got %v, want %v", tt.fields, got, tt.want)
		}
	}
}
