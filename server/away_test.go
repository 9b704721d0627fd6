package server

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/resolve"
	"github.com/nomen-project/nomen/server/metrics"
	"github.com/nomen-project/nomen/store"
)

// awayStore is a store that can be made unavailable.
type awayStore struct {
	store.Store
	store.Tokens
	away atomic.Bool
}

func (s *awayStore) err() error {
	if !s.away.Load() {
		return nil
	}
	return &store.AwayError{Cause: "the disk is on holiday", After: 1500 * time.Millisecond}
}

func (s *awayStore) Condition() store.Condition {
	if !s.away.Load() {
		return store.Condition{}
	}
	return store.Condition{NoReads: true, NoWrites: true, Cause: "the disk is on holiday", Since: testNow}
}

func (s *awayStore) Get(ctx context.Context, n name.Name, at time.Time) (*store.Record, error) {
	if err := s.err(); err != nil {
		return nil, err
	}
	return s.Store.Get(ctx, n, at)
}

func (s *awayStore) Authority(ctx context.Context, p name.Prefix, at time.Time) (*store.Authority, error) {
	if err := s.err(); err != nil {
		return nil, err
	}
	return s.Store.Authority(ctx, p, at)
}

func (s *awayStore) List(ctx context.Context, scan store.Scan) iter.Seq2[*store.Record, error] {
	if err := s.err(); err != nil {
		return func(yield func(*store.Record, error) bool) { yield(nil, err) }
	}
	return s.Store.List(ctx, scan)
}

func (s *awayStore) Authorities(ctx context.Context, at time.Time) iter.Seq2[*store.Authority, error] {
	if err := s.err(); err != nil {
		return func(yield func(*store.Authority, error) bool) { yield(nil, err) }
	}
	return s.Store.Authorities(ctx, at)
}

func (s *awayStore) Apply(ctx context.Context, changes []store.Change) ([]store.Result, error) {
	if err := s.err(); err != nil {
		return nil, err
	}
	return s.Store.Apply(ctx, changes)
}

func (s *awayStore) Token(ctx context.Context, id string) (*store.Token, error) {
	if err := s.err(); err != nil {
		return nil, err
	}
	return s.Tokens.Token(ctx, id)
}

// While the store is unavailable every interface responds with 503 and Retry-After,
// without a log line per request, and monitoring still works.
func TestStorageAway(t *testing.T) {
	var log bytes.Buffer
	s := &awayStore{}
	srv, _ := newTestServer(t, func(o *Options) {
		s.Store, s.Tokens = o.Store.(store.Store), o.Store.(store.Tokens)
		o.Store, o.Resolver = s, resolve.New(s, resolve.Options{Now: o.Now})
		o.Log = slog.New(slog.NewTextHandler(&log, nil))
		o.Admin, o.Metrics = testAdmin(t, *o, registrar.New(s, registrar.Options{Now: o.Now})), testMetrics(s)
	})
	metric := func(want string) {
		t.Helper()
		if !strings.Contains(shownMetrics(srv), want) {
			t.Errorf("metrics do not have %q", want)
		}
	}
	metric("nomen_storage_readable 1")
	if p := ask(srv, "/-/readyz"); p.status != http.StatusOK {
		t.Errorf("at first: readyz %d %s", p.status, p.body)
	}

	s.away.Store(true)
	admin := func(method, path, body string) *http.Response {
		r := httptest.NewRequest(method, path, strings.NewReader(body))
		r.Host = "127.0.0.1"
		r.Header.Set("Authorization", "Bearer a.b")
		w := httptest.NewRecorder()
		srv.adminServer(allProtocols).Handler.ServeHTTP(w, r)
		return w.Result()
	}
	for _, target := range []string{
		"/urn:ietf:rfc:2648", "/urn:ietf:rfc:2648?s=I2C", "/alb002", "alb002", "urn:ietf:rfc:2648", "/uri-res/N2L?urn:ietf:rfc:2648",
		"/uri-res/N2C?urn:ietf:rfc:2648", "/urn+m", "/urn:dns:example.org:urn+a", "/-/list/urn:dns:example.org", "/-/timemap/urn:ietf:rfc:2648", "/-/timegate/urn:ietf:rfc:2648", "/",
	} {
		p := ask(srv, target)
		if p.status != http.StatusServiceUnavailable || p.get("Retry-After") != "2" || p.get("Cache-Control") != "no-store" {
			t.Errorf("%s: %d, Retry-After %q, Cache-Control %q", target, p.status, p.get("Retry-After"), p.get("Cache-Control"))
		}
	}
	for _, tt := range []struct{ method, path, body string }{
		{"GET", "/api/v1/names/urn:ietf:rfc:2648", ""},
		{"PUT", "/api/v1/names/urn:ietf:rfc:2648", `{"record": {}}`},
		{"POST", "/api/v1/names", `{"requests": []}`},
		{"GET", "/api/v1/tokens", ""},
	} {
		resp := admin(tt.method, tt.path, tt.body)
		if resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") != "2" || resp.Header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s %s: %d %v", tt.method, tt.path, resp.StatusCode, resp.Header)
		}
	}
	if p := ask(srv, "/-/healthz"); p.status != http.StatusOK {
		t.Errorf("healthz: %d", p.status)
	}
	if p := ask(srv, "/-/readyz?x"); p.status != http.StatusServiceUnavailable || string(p.body) != "degraded: storage: the disk is on holiday\r\n" {
		t.Errorf("readyz: %d %q", p.status, p.body)
	}
	if resp := admin("GET", "/-/healthz", ""); resp.StatusCode != http.StatusOK {
		t.Errorf("healthz of the admin listener: %d", resp.StatusCode)
	}
	if resp := admin("GET", "/-/readyz", ""); resp.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("readyz of the admin listener: %d", resp.StatusCode)
	}
	metric("nomen_storage_readable 0")
	metric("nomen_storage_writable 0")
	if log.Len() != 0 {
		t.Errorf("log:\n%s", log.String())
	}
	if got := srv.batchError(fmt.Errorf("batch: %w", s.err())); got.Code != "unavailable" {
		t.Errorf("in a list: %+v", got)
	}

	s.away.Store(false)
	if p := ask(srv, "/urn:ietf:rfc:2648"); p.status != http.StatusSeeOther {
		t.Errorf("at last: %d %s", p.status, p.body)
	}
}

// A server whose clock is too wrong for dating changes is not ready, on both listeners,
// and says why; a read-only server needs no clock.
func TestReadyClock(t *testing.T) {
	var now atomic.Int64
	now.Store(testNow.Unix())
	clock := func() time.Time { return time.Unix(now.Load(), 0).UTC() }
	dating := func(o *Options, s store.Store) {
		o.Now = clock
		r := registrar.New(s, registrar.Options{Now: clock})
		o.Admin, o.Clock = testAdmin(t, *o, r), r.ClockProblem
		o.Metrics = metrics.New(metrics.Options{Store: o.Store, Clock: func() bool { return r.ClockProblem() == nil }})
	}
	srv, s := newTestServer(t, func(o *Options) { dating(o, o.Store.(store.Store)) })
	readable, _ := newTestServer(t, func(o *Options) {
		o.Store = readOnly{s}
		dating(o, s)
	})
	const wrong = "degraded: clock: the clock is more than a day before the last change"
	becomes := func(srv *Server, status int, want string, gauge int) {
		t.Helper()
		var p *reply
		line := fmt.Sprintf("\nnomen_clock_accepted %d\n", gauge)
		for until := time.Now().Add(time.Minute); time.Now().Before(until); time.Sleep(5 * time.Millisecond) { // the store is checked in the background
			if p = ask(srv, "/-/readyz"); p.status == status && strings.Contains(shownMetrics(srv), line) {
				break
			}
		}
		admin := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodGet, "/-/readyz", nil)
		r.Host = "127.0.0.1"
		srv.adminServer(allProtocols).Handler.ServeHTTP(admin, r)
		if p.status != status || string(p.body) != want+"\r\n" || admin.Code != status || !strings.Contains(admin.Body.String(), `"`+want+`"`) {
			t.Errorf("readyz: %d %q, admin %d %s; want %d %q", p.status, p.body, admin.Code, admin.Body, status, want)
		}
		if !strings.Contains(shownMetrics(srv), line) {
			t.Errorf("metrics do not have %q", line)
		}
	}
	becomes(srv, http.StatusOK, "ready", 1)
	now.Store(testNow.AddDate(0, 0, -9).Unix())
	becomes(srv, http.StatusServiceUnavailable, wrong, 0)
	becomes(readable, http.StatusOK, "ready", 0)
	if p := ask(srv, "/-/healthz"); p.status != http.StatusOK {
		t.Errorf("healthz: %d", p.status)
	}
	now.Store(testNow.Unix())
	becomes(srv, http.StatusOK, "ready", 1)
}

// readOnly is a store opened read-only.
type readOnly struct{ store.Store }

func (readOnly) Condition() store.Condition { return store.Condition{NoWrites: true} }
