package admin

import (
	"context"
	"testing"
	"time"

	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/resolve"
	"github.com/nomen-project/nomen/server"
	"github.com/nomen-project/nomen/server/servertest"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
)

// What the tests use of the fixture.
var (
	testNow, modified = servertest.Now, servertest.Modified
	fill              = servertest.Fill
	grant             = servertest.Grant
	exchange          = servertest.Exchange
	logged            = servertest.Logged
)

// newTestAPI returns an API of the fixture; change may alter its options.
func newTestAPI(t testing.TB, change func(*Options)) (*API, *memstore.Store) {
	t.Helper()
	s := memstore.New()
	fill(t, s)
	return apiOf(t, s, func() time.Time { return testNow }, change), s
}

// apiOf returns an API of a store, with a clock; change may alter its options.
func apiOf(t testing.TB, s store.Store, now func() time.Time, change func(*Options)) *API {
	t.Helper()
	o := Options{
		Resolver:  resolve.New(s, resolve.Options{Now: now}),
		Store:     s,
		Registrar: registrar.New(s, registrar.Options{Now: now}),
		Version:   "1.2.3",
		Now:       now,
		Timeout:   time.Minute,
	}
	if change != nil {
		change(&o)
	}
	api, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return api
}

// listen serves an API, and its names on the public listener, on free ports of 127.0.0.1.
func listen(t testing.TB, api *API) *server.Listening {
	t.Helper()
	srv, err := server.New(server.Options{
		Resolver: api.resolver, Store: api.store, Authorities: api.authorities, Misses: api.misses,
		Admin: api, Now: api.now, Log: api.log, Limits: server.Limits{Timeout: api.timeout},
	})
	if err != nil {
		t.Fatal(err)
	}
	l, err := srv.Listen(server.Listener{Address: "127.0.0.1:0"}, server.Listener{Address: "127.0.0.1:0", Admin: true})
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
