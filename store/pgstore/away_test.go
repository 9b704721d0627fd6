package pgstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/pgstore/pgtest"
)

// openNode opens a store as a server does.
func openNode(t *testing.T, url string) *Store {
	t.Helper()
	s, err := Open(t.Context(), Options{URL: url, Node: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// alone starts a single server, and a proxy for it.
func alone(t *testing.T) (*pgtest.Server, *pgtest.Proxy) {
	t.Helper()
	db, err := pgtest.Start(pgtest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, db) })
	proxy, err := pgtest.NewProxy(db)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = proxy.Close() })
	return db, proxy
}

// calls returns one call of each method of a store.
func calls(s *Store) map[string]func(context.Context) error {
	n := name.FromKey("urn:x-a:b")
	change := func(r *store.Record, err error) error { return err }
	return map[string]func(context.Context) error{
		"Get":       func(ctx context.Context) error { return change(s.Get(ctx, n, time.Time{})) },
		"Get at":    func(ctx context.Context) error { return change(s.Get(ctx, n, time.Unix(1_900_000_000, 0))) },
		"Head":      func(ctx context.Context) error { _, err := s.Head(ctx); return err },
		"Token":     func(ctx context.Context) error { _, err := s.Token(ctx, "x"); return absentIsFine(err) },
		"List":      func(ctx context.Context) error { return first(s.List(ctx, store.Scan{})) },
		"Find":      func(ctx context.Context) error { return first(s.Find(ctx, "u:", store.Place{})) },
		"History":   func(ctx context.Context) error { return first(s.History(ctx, n)) },
		"Changes":   func(ctx context.Context) error { return first(s.Changes(ctx, 0)) },
		"AllTokens": func(ctx context.Context) error { return first(s.AllTokens(ctx)) },
		"Count":     func(ctx context.Context) error { _, _, err := s.Count(ctx); return err },
		"Apply": func(ctx context.Context) error {
			_, err := s.Apply(ctx, []store.Change{put("urn:x-a:b", "u:1", store.AnyRevision)})
			return err
		},
	}
}

func absentIsFine(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

func first[T any](all func(func(T, error) bool)) (err error) {
	all(func(_ T, e error) bool {
		err = e
		return false
	})
	return err
}

// TestNodeAway checks that, while the only server is unavailable, every call of a node fails at
// once with an AwayError that has the cause, and that calls succeed within a second after the
// server is available again.
func TestNodeAway(t *testing.T) {
	t.Parallel()
	db, proxy := alone(t)
	s := openNode(t, proxy.URL(db))
	if err := calls(s)["Apply"](t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, fault := range []struct {
		what       string
		cause      string
		begin, end func() error
	}{
		{"killed", "the database cannot be reached", db.Kill, db.Restart},
		{"hangs", "the database does not answer", db.Pause, db.Resume},
		{"cut off", "the database does not answer", func() error { proxy.Cut(); return nil }, func() error { proxy.Mend(); return nil }},
	} {
		began := time.Now() // the node may notice the loss before begin returns
		if err := fault.begin(); err != nil {
			t.Fatal(err)
		}
		eventually(t, fault.what+" is noticed", func() bool { return s.Condition().NoReads })
		if took := time.Since(began); took > 10*time.Second { // on an idle machine it takes four seconds
			t.Errorf("%s: noticed after %v", fault.what, took)
		}
		if c := s.Condition(); !c.NoWrites || c.Cause != fault.cause || c.Since.Before(began) {
			t.Errorf("%s: condition %+v", fault.what, c)
		}
		for what, call := range calls(s) {
			var away *store.AwayError
			begun := time.Now()
			err := call(t.Context())
			if took := time.Since(begun); !errors.As(err, &away) || away.Cause != fault.cause || took > readTimeout/2 {
				t.Errorf("%s: %s: %v after %v", fault.what, what, err, took)
			}
			var unknown *store.UnknownError
			if errors.As(err, &unknown) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: %s: %v is taken for what it is not", fault.what, what, err)
			}
		}
		if err := fault.end(); err != nil {
			t.Fatal(err)
		}
		back := time.Now()
		eventually(t, "writing again", func() bool { return calls(s)["Apply"](t.Context()) == nil })
		if took := time.Since(back); took > 10*time.Second { // on an idle machine it takes one second
			t.Errorf("%s: writing again after %v", fault.what, took)
		}
		for what, call := range calls(s) {
			if err := call(t.Context()); err != nil {
				t.Errorf("%s: %s when it is back: %v", fault.what, what, err)
			}
		}
		if c := s.Condition(); c != (store.Condition{}) {
			t.Errorf("%s: condition %+v when it is back", fault.what, c)
		}
	}
}

// openAs opens a node as a separate database user, and returns a function that executes
// statements as the administrator of the database.
func openAs(t *testing.T, db *pgtest.Server, user string, log *slog.Logger) (*Store, func(sql string)) {
	t.Helper()
	do := func(sql string) {
		t.Helper()
		c, err := pgx.Connect(t.Context(), db.URL())
		if err == nil {
			_, err = c.Exec(t.Context(), sql)
			err = errors.Join(err, c.Close(t.Context()))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	do("create role " + user + " login superuser")
	s, err := Open(t.Context(), Options{URL: strings.Replace(db.URL(), "nomen@", user+"@", 1), Node: true, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, do
}

// If a database is reachable again but rejects the login, it is unavailable for another cause, and
// this cause is logged once.
func TestNodeNotLetIn(t *testing.T) {
	t.Parallel()
	db, _ := alone(t)
	var log bytes.Buffer
	s, do := openAs(t, db, "guest", slog.New(slog.NewTextHandler(&log, nil)))
	do("alter role guest nologin")
	if err := db.Kill(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the loss", func() bool { return s.Condition().Cause == "the database cannot be reached" })
	since := s.Condition().Since
	if err := db.Restart(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the other cause", func() bool { return s.Condition().Cause == "the database rejects the login of this server" })
	if c := s.Condition(); !c.Since.Equal(since) {
		t.Errorf("away since %v, and was since %v", c.Since, since)
	}
	time.Sleep(2 * watchEvery)
	_ = calls(s)["Apply"](t.Context()) // may succeed, if the node has not yet noticed the change
	do("alter role guest login")
	eventually(t, "writing again", func() bool { return calls(s)["Apply"](t.Context()) == nil })
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(log.String(), "is not permitted to log in"); got != 1 {
		t.Errorf("told %d times:\n%s", got, &log)
	}
}

// Sessions that began while the database was read-only stay read-only. A node must replace
// them.
func TestReadOnlySessions(t *testing.T) {
	t.Parallel()
	db, _ := alone(t)
	s, do := openAs(t, db, "guest", nil)
	do("alter role guest set default_transaction_read_only = on")
	do("select pg_terminate_backend(pid) from pg_stat_activity where usename = 'guest'")
	eventually(t, "refused", func() bool { return s.Condition().NoWrites && !s.Condition().NoReads })
	for range 20 {
		if _, err := s.Get(t.Context(), name.FromKey("urn:x-a:b"), time.Time{}); !errors.Is(err, store.ErrNotFound) {
			t.Fatal(err)
		}
	}
	do("alter role guest reset default_transaction_read_only")
	eventually(t, "writing again", func() bool { return calls(s)["Apply"](t.Context()) == nil })
}

// Calls that wait for a server that hangs end when the node knows that the server hangs.
func TestLostUnderWay(t *testing.T) {
	t.Parallel()
	db, proxy := alone(t)
	s := openNode(t, proxy.URL(db))
	all := calls(s)
	for _, call := range all {
		if err := call(t.Context()); err != nil && !errors.Is(err, store.ErrNotFound) {
			t.Fatal(err)
		}
	}
	if err := db.Pause(); err != nil {
		t.Fatal(err)
	}
	type end struct {
		what string
		at   time.Time
	}
	ends := make(chan end, len(all))
	for what, call := range all {
		if what == "Apply" { // waits longer, to find out whether the commit succeeded
			continue
		}
		go func() {
			_ = call(t.Context())
			ends <- end{what, time.Now()}
		}()
	}
	eventually(t, "the loss", func() bool { return s.Condition().NoReads })
	known := time.Now()
	for range len(all) - 1 {
		if e := <-ends; e.at.After(known.Add(abandonAfter * 9 / 10)) {
			t.Errorf("%s: %v after it was known", e.what, e.at.Sub(known))
		}
	}
	if err := db.Resume(); err != nil {
		t.Fatal(err)
	}
}

// Losing connections says nothing about the server, and callers do not notice it.
func TestConnectionsLost(t *testing.T) {
	t.Parallel()
	const mark = "connections_lost"
	url := newURL(t, shared)
	s := openNode(t, url+"&application_name="+mark)
	if err := calls(s)["Apply"](t.Context()); err != nil {
		t.Fatal(err)
	}
	killer := connect(t, url)
	for range 20 {
		if _, err := killer.Exec(t.Context(), "select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1", mark); err != nil {
			t.Fatal(err)
		}
		for what, call := range calls(s) {
			if err := call(t.Context()); err != nil {
				t.Errorf("%s: %v", what, err)
			}
		}
		if c := s.Condition(); c.Cause != "" {
			t.Errorf("condition %+v", c)
		}
	}
}

// If a server is slow, requests do not pile up: requests that cannot be answered in time fail, and
// all others are answered.
func TestSlowSheds(t *testing.T) {
	db, proxy := alone(t)
	s := openNode(t, proxy.URL(db)+"&pool=4")
	if err := calls(s)["Apply"](t.Context()); err != nil {
		t.Fatal(err)
	}
	proxy.Delay(200 * time.Millisecond)
	before := runtime.NumGoroutine()
	var wg sync.WaitGroup
	var answered, shed atomic.Int64
	for range 200 {
		wg.Go(func() {
			begun := time.Now()
			switch err := calls(s)["Get"](t.Context()); {
			case err == nil:
				answered.Add(1)
			case errors.Is(err, errBusy) && store.IsAway(err):
				shed.Add(1)
			default:
				t.Errorf("%v", err)
			}
			if took := time.Since(begun); took > readTimeout+10*time.Second {
				t.Errorf("answered after %v", took)
			}
		})
	}
	wg.Wait()
	if answered.Load() == 0 || shed.Load() == 0 {
		t.Errorf("%d answered, %d shed", answered.Load(), shed.Load())
	}
	if c := s.Condition(); c.Cause != "" {
		t.Errorf("a slow server counts as away: %+v", c)
	}
	eventually(t, "no more than 50 goroutines are left", func() bool { return runtime.NumGoroutine() <= before+50 })
}

// A node opens while its database is unavailable or has no store, and recovers by itself.
func TestOpenNodeAway(t *testing.T) {
	t.Parallel()
	db, _ := alone(t)
	if err := db.Kill(); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	_, err := Open(t.Context(), Options{URL: db.URL() + "&wait=1s"})
	if took := time.Since(begun); !store.IsAway(err) || took > 30*time.Second {
		t.Errorf("Open of a command: %v after %v, want that it is away", err, took)
	}
	begun = time.Now()
	s := openNode(t, db.URL())
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("opened after %v", took)
	}
	for what, call := range calls(s) {
		if err := call(t.Context()); !store.IsAway(err) {
			t.Errorf("%s: %v, want that it is away", what, err)
		}
	}
	if c := s.Condition(); !c.NoReads || !c.NoWrites || c.Cause != "the database cannot be reached" {
		t.Errorf("condition %+v", c)
	}
	if err := db.Restart(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "writing", func() bool { return calls(s)["Apply"](t.Context()) == nil })
	for what, call := range calls(s) {
		if err := call(t.Context()); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// A node closes at once while its database is unavailable.
func TestCloseNodeAway(t *testing.T) {
	t.Parallel()
	db, proxy := alone(t)
	open := openNode(t, proxy.URL(db))
	if err := calls(open)["Apply"](t.Context()); err != nil {
		t.Fatal(err)
	}
	proxy.Cut()
	defer proxy.Mend()
	opening := openNode(t, proxy.URL(db))
	for what, s := range map[string]*Store{"open": open, "not open yet": opening} {
		begun := time.Now()
		if err := s.Close(); err != nil || time.Since(begun) > 10*time.Second {
			t.Errorf("%s: %v after %v", what, err, time.Since(begun))
		}
		if err := calls(s)["Get"](t.Context()); !errors.Is(err, store.ErrClosed) {
			t.Errorf("%s: %v, want that it is closed", what, err)
		}
	}
}

// A commit whose outcome is unknown is not reported as failed: Apply waits to find out, and
// returns an UnknownError if it cannot.
func TestLostAtCommitWhileAway(t *testing.T) {
	t.Parallel()
	db, proxy := alone(t)
	s := openNode(t, proxy.URL(db))
	if err := calls(s)["Apply"](t.Context()); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	results := make([]error, 40)
	for i := range results {
		wg.Go(func() {
			time.Sleep(time.Duration(i) * 5 * time.Millisecond)
			_, results[i] = s.Apply(t.Context(), []store.Change{put(fmt.Sprint("urn:x-c:", i), "u:1", 0)})
		})
	}
	time.Sleep(100 * time.Millisecond)
	proxy.Cut()
	wg.Wait()
	proxy.Mend()
	eventually(t, "reading", func() bool { return calls(s)["Get"](t.Context()) == nil })
	for i, err := range results {
		r, gerr := s.Get(t.Context(), name.FromKey(fmt.Sprint("urn:x-c:", i)), time.Time{})
		var unknown *store.UnknownError
		switch {
		case errors.As(err, &unknown):
			if store.IsAway(err) {
				t.Errorf("%d: what may be written is called not written: %v", i, err)
			}
		case err == nil && gerr != nil:
			t.Errorf("%d: acknowledged, and lost: %v", i, gerr)
		case store.IsAway(err) && r != nil:
			t.Errorf("%d: called not written, and it is: %v", i, err)
		case err != nil && !store.IsAway(err):
			t.Errorf("%d: %v", i, err)
		}
	}
}

// An import waits longer for the database than other calls, even to find out the outcome of a
// commit. All changes are written exactly once.
func TestLostAtCommitOfThePatient(t *testing.T) {
	t.Parallel()
	db, _ := alone(t)
	s := openNode(t, db.URL())
	if err := calls(s)["Apply"](t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx := store.WithPatience(t.Context(), store.LongPatience)
	var wg sync.WaitGroup
	results := make([]error, 100)
	for i := range results {
		wg.Go(func() {
			time.Sleep(time.Duration(i) * 2 * time.Millisecond)
			_, results[i] = s.Apply(ctx, []store.Change{put(fmt.Sprint("urn:x-c:", i), "u:1", 0)})
		})
	}
	time.Sleep(100 * time.Millisecond)
	if err := db.Kill(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(defaultWait + 2*time.Second) // longer than other calls wait
	if err := db.Restart(); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	for i, err := range results {
		r, gerr := s.Get(t.Context(), name.FromKey(fmt.Sprint("urn:x-c:", i)), time.Time{})
		if err != nil || gerr != nil || r.Revision != 1 {
			t.Errorf("%d: %v; read: %v", i, err, gerr)
		}
	}
}
