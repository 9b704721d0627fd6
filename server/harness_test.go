package server

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/resolve"
	"github.com/nomen-project/nomen/server/admin"
	"github.com/nomen-project/nomen/server/metrics"
	"github.com/nomen-project/nomen/server/servertest"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
)

// What the tests use of the fixture.
var (
	testNow, modified = servertest.Now, servertest.Modified
	testAuthorities   = servertest.Authorities
	fill              = servertest.Fill
	exchange          = servertest.Exchange
	cutAnswer         = servertest.CutAnswer
	fieldOf           = servertest.FieldOf
	logged            = servertest.Logged
)

const modifiedText = servertest.ModifiedText

// newTestServer returns a server of the fixture; change may alter its options.
func newTestServer(t testing.TB, change func(*Options)) (*Server, *memstore.Store) {
	t.Helper()
	s := memstore.New()
	fill(t, s)
	now := func() time.Time { return testNow }
	o := Options{
		Resolver: resolve.New(s, resolve.Options{Now: now}),
		Store:    s,
		Version:  "1.2.3",
		Now:      now,
		Metrics:  testMetrics(s),
		Limits:   Limits{Timeout: time.Minute},
	}
	if change != nil {
		change(&o)
	}
	if o.Admin == nil {
		o.Admin = testAdmin(t, o, registrar.New(s, registrar.Options{Now: o.Now}))
	}
	srv, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return srv, s
}

// listen serves on free ports of 127.0.0.1.
func listen(t testing.TB, s *Server) *Listening {
	t.Helper()
	l, err := s.Listen(Listener{Address: "127.0.0.1:0"}, Listener{Address: "127.0.0.1:0", Admin: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		l.Shutdown(ctx)
	})
	return l
}

// testMetrics returns metrics of a server of a store.
func testMetrics(r store.Reader) *metrics.Metrics {
	return metrics.New(metrics.Options{Forms: Forms(), Refusals: Refusals(), Store: r})
}

// testAdmin returns the admin API for the options of a server.
func testAdmin(t testing.TB, o Options, r *registrar.Registrar) *admin.API {
	t.Helper()
	api, err := admin.New(admin.Options{
		Resolver: o.Resolver, Store: o.Store, Registrar: r, Authorities: o.Authorities,
		Version: o.Version, Metrics: o.Metrics.(admin.Metrics), Now: o.Now, Log: o.Log, AccessLog: o.AccessLog, Timeout: o.Limits.Timeout,
	})
	if err != nil {
		t.Fatal(err)
	}
	return api
}

// shownMetrics returns the metrics of a server as text.
func shownMetrics(s *Server) string {
	w := httptest.NewRecorder()
	s.metrics.ServeHTTP(w, httptest.NewRequest(http.MethodGet, metricsPath, nil))
	return w.Body.String()
}
