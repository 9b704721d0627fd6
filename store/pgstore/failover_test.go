package pgstore

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/cachestore"
	"github.com/nomen-project/nomen/store/pgstore/pgtest"
)

// pairOf starts a server and its replica, and returns the connection string for both.
func pairOf(t *testing.T, params string) (p, r *pgtest.Server, both string) {
	t.Helper()
	p, err := pgtest.Start(pgtest.Options{Fsync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, p) })
	if r, err = p.Replica(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, r) })
	u, err := url.Parse(p.URL())
	if err != nil {
		t.Fatal(err)
	}
	return p, r, strings.Replace(p.URL(), u.Host, p.Addr()+","+r.Addr(), 1) + params
}

func stop(t *testing.T, s *pgtest.Server) {
	t.Helper()
	if t.Failed() {
		t.Logf("log of the server on %s:\n%s", s.Addr(), s.Log())
	}
	if err := s.Stop(); err != nil {
		t.Error(err)
	}
}

// eventually waits until f is true.
func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !f(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it does not happen: %s", what)
		}
	}
}

func put(key, url string, expected uint64) store.Change {
	return store.Change{
		Record:   &store.Record{Name: name.FromKey(key), Status: nomen.Active, Locations: []nomen.Location{{URL: url}}},
		Expected: expected, Time: time.Unix(1_700_000_000, 0), Who: "archive",
	}
}

// lagOfTest is the value of lag= in TestPrimaryKilled, whose writers check that no answer is
// older than their own writes.
const lagOfTest = 3 * time.Second

// A failoverWriter changes one name repeatedly.
type failoverWriter struct {
	key      string
	revision uint64 // last acknowledged revision
	maybe    bool   // it is unknown whether the next revision was written
	failures int
	acked    atomic.Int64
}

// write makes one change, and after a failure finds out the current revision.
func (w *failoverWriter) write(ctx context.Context, s *Store) error {
	began := time.Now() // the store's own time begins slightly later
	results, err := s.Apply(ctx, []store.Change{put(w.key, fmt.Sprint("u:", w.revision+1), w.revision)})
	var conflict *store.ConflictError
	var unknown *store.UnknownError
	switch {
	case err == nil:
		if results[0].Revision != w.revision+1 {
			return fmt.Errorf("%s: revision %d after %d", w.key, results[0].Revision, w.revision)
		}
		w.revision, w.maybe = results[0].Revision, false
		w.acked.Add(1)
		return w.read(ctx, s, began)
	case errors.As(err, &conflict):
		if !w.maybe || conflict.Current != w.revision+1 {
			return fmt.Errorf("%s: an unexpected or lost change: %w", w.key, err)
		}
		w.revision, w.maybe = conflict.Current, false
	case errors.As(err, &unknown):
		w.failures++
		w.maybe = true
	default:
		w.failures++
	}
	return nil
}

// read checks that a writer sees its own writes for the time guaranteed since it began to
// write.
func (w *failoverWriter) read(ctx context.Context, s *Store, began time.Time) error {
	r, err := s.Get(ctx, name.FromKey(w.key), time.Time{})
	if err != nil {
		return fmt.Errorf("a failed read: %w", err)
	}
	if r.Revision < w.revision && time.Since(began) < lagOfTest {
		return fmt.Errorf("%s: read revision %d after writing %d", w.key, r.Revision, w.revision)
	}
	return nil
}

// TestPrimaryKilled checks that, while the primary is down, reads of the replica do not fail,
// writes fail with the expected error and succeed when the primary is back, and that no
// acknowledged change is lost and none is written twice.
func TestPrimaryKilled(t *testing.T) {
	t.Parallel()
	p, r, both := pairOf(t, "&wait=1s&lag="+lagOfTest.String())
	s := open(t, both)
	const names, writers, readers = 200, 4, 6
	var changes []store.Change
	for i := range names {
		changes = append(changes, put(fmt.Sprintf("urn:x-r:%d", i), "u:1", 0))
	}
	if _, err := s.Apply(t.Context(), changes); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the replica has what was written", func() bool { return count(t, r) == names })

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var wg sync.WaitGroup
	var reads atomic.Int64
	all := make([]*failoverWriter, writers)
	for i := range all {
		w := &failoverWriter{key: fmt.Sprintf("urn:x-w:%d", i)}
		all[i] = w
		wg.Go(func() {
			for ctx.Err() == nil {
				if err := w.write(context.WithoutCancel(ctx), s); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for i := range readers {
		wg.Go(func() {
			for n := i; ctx.Err() == nil; n += readers {
				if _, err := s.Get(context.WithoutCancel(ctx), name.FromKey(fmt.Sprintf("urn:x-r:%d", n%names)), time.Time{}); err != nil {
					t.Errorf("a failed read: %v", err)
					return
				}
				reads.Add(1)
			}
		})
	}
	acked := func() (n int64) {
		for _, w := range all {
			n += w.acked.Load()
		}
		return n
	}
	eventually(t, "writing", func() bool { return acked() > 200 })
	for range 2 {
		if err := p.Kill(); err != nil {
			t.Fatal(err)
		}
		before := reads.Load()
		time.Sleep(2 * time.Second) // longer than wait=
		if n := reads.Load() - before; n < 100 {
			t.Errorf("only %d reads while the primary was gone", n)
		}
		for n := range s.List(t.Context(), store.Scan{Prefix: "urn:x-r:"}) {
			if n == nil {
				t.Error("a listing failed while the primary was gone")
			}
		}
		if _, err := s.Apply(t.Context(), changes[:1]); err == nil {
			t.Error("a write was acknowledged while the primary was gone")
		}
		if err := p.Restart(); err != nil {
			t.Fatal(err)
		}
		before = acked()
		eventually(t, "writing after the primary is back", func() bool { return acked() > before+100 || t.Failed() })
	}
	cancel()
	wg.Wait()
	failures := 0
	direct := open(t, p.URL())
	for _, w := range all {
		failures += w.failures
		got, err := direct.Get(t.Context(), name.FromKey(w.key), time.Time{})
		if err != nil || got.Revision != w.revision && (!w.maybe || got.Revision != w.revision+1) {
			t.Errorf("%s: %+v, %v, want revision %d", w.key, got, err, w.revision)
		}
	}
	if failures == 0 {
		t.Error("no write failed: the test took nothing away")
	}
	t.Logf("%d reads, none failed; %d writes acknowledged, %d failed", reads.Load(), acked(), failures)
}

// count returns the number of names on a server.
func count(t *testing.T, s *pgtest.Server) (n int) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), s.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.Background())
	if err := c.QueryRow(t.Context(), "select count(*) from nomen_present where kind = 1").Scan(&n); err != nil {
		return -1 // the table may not exist yet
	}
	return n
}

// TestReplicaKilled checks that reads continue without the replica.
func TestReplicaKilled(t *testing.T) {
	t.Parallel()
	_, r, both := pairOf(t, "")
	s := open(t, both)
	for i := range 300 {
		key := fmt.Sprintf("urn:x-a:%d", i)
		if _, err := s.Apply(t.Context(), []store.Change{put(key, "u:1", 0)}); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Get(t.Context(), name.FromKey(key), time.Time{}); err != nil || got.Revision != 1 {
			t.Fatalf("what was just written: %+v, %v", got, err)
		}
		switch i {
		case 100:
			if err := r.Kill(); err != nil {
				t.Fatal(err)
			}
		case 200:
			if err := r.Restart(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestOpenWithoutPrimary checks that an existing store can be read from a replica alone.
func TestOpenWithoutPrimary(t *testing.T) {
	t.Parallel()
	p, r, both := pairOf(t, "&wait=1s")
	s := open(t, both)
	if _, err := s.Apply(t.Context(), []store.Change{put("urn:x-a:b", "u:1", 0)}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the replica has what was written", func() bool { return count(t, r) == 1 })
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	for _, url := range []string{both, r.URL() + "&wait=1s"} {
		again := open(t, url)
		if got, err := again.Get(t.Context(), name.FromKey("urn:x-a:b"), time.Time{}); err != nil || got.Revision != 1 {
			t.Errorf("Get: %+v, %v", got, err)
		}
		_, err := again.Apply(t.Context(), []store.Change{put("urn:x-a:b", "u:2", 1)})
		if !errors.Is(err, errNoPrimary) {
			t.Errorf("Apply: %v, want that there is no primary", err)
		}
	}
}

// TestPrimaryHangs checks that a primary that hangs counts as lost: reads continue, writes fail in
// time, and both work when the primary continues.
func TestPrimaryHangs(t *testing.T) {
	t.Parallel()
	p, r, both := pairOf(t, "&wait=1s&lag=1s")
	s := open(t, both)
	w := &failoverWriter{key: "urn:x-w:1"}
	write := func() {
		t.Helper()
		if err := w.write(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	write()
	eventually(t, "the replica has what was written", func() bool { return count(t, r) == 1 })
	if err := p.Pause(); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	for range 20 {
		if _, err := s.Get(t.Context(), name.FromKey(w.key), time.Time{}); err != nil {
			t.Errorf("a failed read: %v", err)
		}
	}
	_, err := s.Apply(t.Context(), []store.Change{put("urn:x-w:2", "u:1", 0)})
	if took := time.Since(begun); err == nil || took > attemptTimeout/4 {
		t.Errorf("a write to a server that hangs: %v after %v", err, took)
	}
	if err := p.Resume(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "writing again", func() bool {
		write()
		return w.acked.Load() > 3
	})
}

// TestBeforeOnReplica checks a change that is already past on one server: it must be found on a
// replica on which it is still current.
func TestBeforeOnReplica(t *testing.T) {
	s := open(t, newURL(t, shared))
	first, second := put("urn:x-a:b", "u:1", 0), put("urn:x-a:b", "u:2", 1)
	second.Time = first.Time.Add(time.Hour)
	for _, c := range []store.Change{first, second} {
		if _, err := s.Apply(t.Context(), []store.Change{c}); err != nil {
			t.Fatal(err)
		}
	}
	// The replica does not know of the third revision.
	for _, c := range []struct {
		at   time.Time
		want string
	}{{second.Time, "u:2"}, {second.Time.Add(time.Minute), "u:2"}, {second.Time.Add(-time.Second), "u:1"}, {first.Time.Add(-time.Second), ""}} {
		got, err := s.before(t.Context(), first.Subject(), c.at)
		if err != nil {
			t.Fatal(err)
		}
		if url := urlOf(got); url != c.want {
			t.Errorf("before %v: %q, want %q", c.at, url, c.want)
		}
	}
}

func urlOf(c *store.Change) string {
	if c == nil {
		return ""
	}
	return c.Record.Locations[0].URL
}

// TestLostAtTheEnd checks that a lost connection is not reported for a listing that was
// stopped or had ended.
func TestLostAtTheEnd(t *testing.T) {
	const mark = "lost_at_the_end"
	url := newURL(t, shared)
	s := open(t, url+"&application_name="+mark)
	a := store.Change{Authority: &store.Authority{Prefix: name.PrefixFromKey("urn:x-a")}, Expected: store.AnyRevision, Time: time.Unix(1_700_000_000, 0)}
	again := a
	again.Authority = &store.Authority{Prefix: a.Authority.Prefix, Description: "x"}
	token := func(id string) store.Change {
		return store.Change{Token: &store.Token{ID: id, Role: "reader"}, Expected: store.AnyRevision, Time: a.Time}
	}
	b := store.Change{Authority: &store.Authority{Prefix: name.PrefixFromKey("urn:x-b")}, Expected: store.AnyRevision, Time: a.Time}
	all := []store.Change{put("urn:x-a:b", "u:1", 0), put("urn:x-a:b", "u:2", 1), put("urn:x-a:c", "u:3", 0), a, again, b, token("a"), token("b")}
	if _, err := s.Apply(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	killer := connect(t, url)
	lose := func() {
		t.Helper()
		if _, err := killer.Exec(t.Context(), "select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1", mark); err != nil {
			t.Fatal(err)
		}
	}
	for what, each := range map[string]func(f func(error) bool){
		"List":             func(f func(error) bool) { walk(s.List(t.Context(), store.Scan{}), f) },
		"Authorities":      func(f func(error) bool) { walk(s.Authorities(t.Context(), time.Time{}), f) },
		"History":          func(f func(error) bool) { walk(s.History(t.Context(), name.FromKey("urn:x-a:b")), f) },
		"AuthorityHistory": func(f func(error) bool) { walk(s.AuthorityHistory(t.Context(), a.Authority.Prefix), f) },
		"Find":             func(f func(error) bool) { walk(s.Find(t.Context(), "u:", store.Place{}), f) },
		"AllTokens":        func(f func(error) bool) { walk(s.AllTokens(t.Context()), f) },
	} {
		n := 0
		each(func(err error) bool {
			if n++; err != nil {
				t.Errorf("%s: %v", what, err)
			}
			lose()
			return false
		})
		if n != 1 {
			t.Errorf("%s: %d, want one before it was stopped", what, n)
		}
	}
}

func walk[T any](all iter.Seq2[T, error], f func(error) bool) {
	for _, err := range all {
		if !f(err) {
			return
		}
	}
}

// syncReplication makes commits on a server wait for its replica.
func syncReplication(t *testing.T, s *pgtest.Server) {
	t.Helper()
	runSQL(t, s, "alter system set synchronous_standby_names = '*'", "select pg_reload_conf()")
	eventually(t, "synchronous replication", func() (there bool) {
		c := connect(t, s.URL())
		defer c.Close(context.Background())
		err := c.QueryRow(t.Context(), "select exists(select 1 from pg_stat_replication where sync_state = 'sync')").Scan(&there)
		return err == nil && there
	})
}

func runSQL(t *testing.T, s *pgtest.Server, statements ...string) {
	t.Helper()
	c := connect(t, s.URL())
	defer c.Close(context.Background())
	for _, sql := range statements {
		if _, err := c.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
}

// TestUnreplicated checks that a commit whose wait for the synchronous replica was cut short
// is not acknowledged until the replica has it: PostgreSQL reports success, but a failover
// would lose the commit.
func TestUnreplicated(t *testing.T) {
	t.Parallel()
	p, r, both := pairOf(t, "&wait=2s&lag=1s")
	s := open(t, both)
	syncReplication(t, p)
	if _, err := s.Apply(t.Context(), []store.Change{put("urn:x-a:b", "u:1", 0), put("urn:x-a:c", "u:1", 0)}); err != nil {
		t.Fatal(err)
	}
	if err := r.Pause(); err != nil {
		t.Fatal(err)
	}
	apply := func(key string) chan error {
		done := make(chan error, 1)
		go func() {
			got, err := s.Apply(context.Background(), []store.Change{put(key, "u:2", 1)})
			if err == nil && got[0].Revision != 2 {
				err = fmt.Errorf("revision %d", got[0].Revision)
			}
			done <- err
		}()
		return done
	}
	c := connect(t, p.URL())
	interrupt := func() (n int) {
		t.Helper()
		err := c.QueryRow(t.Context(), "select count(pg_cancel_backend(pid)) from pg_stat_activity where wait_event = 'SyncRep'").Scan(&n)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}

	unsure, unknown := apply("urn:x-a:b"), new(store.UnknownError)
	eventually(t, "an answer while the replica has nothing", func() bool {
		interrupt()
		select {
		case err := <-unsure:
			if !errors.As(err, &unknown) {
				t.Errorf("a change that no replica has: %v, want an UnknownError", err)
			}
			return true
		default:
			return false
		}
	})
	sure := apply("urn:x-a:c")
	eventually(t, "a commit is interrupted", func() bool { return interrupt() > 0 })
	time.Sleep(500 * time.Millisecond)
	select {
	case err := <-sure:
		t.Errorf("Apply returned %v before the replica had the change", err)
		sure <- nil
	default:
	}
	if err := r.Resume(); err != nil {
		t.Fatal(err)
	}
	if err := <-sure; err != nil {
		t.Errorf("after the replica had it: %v", err)
	}
	if got, err := s.Apply(t.Context(), []store.Change{put("urn:x-a:b", "u:3", 2)}); err != nil || got[0].Revision != 3 {
		t.Errorf("the next change: %v, %v", got, err)
	}
	settledAndVerified(t, p)
}

// settledAndVerified verifies the store of a server after settling it.
func settledAndVerified(t *testing.T, server *pgtest.Server) {
	t.Helper()
	s := open(t, server.URL())
	if err := s.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	verified(t, s)
}

// TestSuperseded checks that a primary is no longer used after another was promoted in its place,
// as when its failover agent is dead, and that writes that hang on the former primary are made on
// the new primary.
func TestSuperseded(t *testing.T) {
	t.Parallel()
	p, r, both := pairOf(t, "&wait=10s&lag=1s")
	s := open(t, both)
	syncReplication(t, p)
	if _, err := s.Apply(t.Context(), []store.Change{put("urn:x-a:b", "u:1", 0)}); err != nil {
		t.Fatal(err)
	}
	runSQL(t, r, "select pg_promote()")
	begun := time.Now()
	for i := range 20 { // more than the number of concurrent transactions
		if _, err := s.Apply(t.Context(), []store.Change{put(fmt.Sprintf("urn:x-a:%d", i), "u:1", 0)}); err != nil {
			t.Fatalf("change %d: %v", i, err)
		}
	}
	if took := time.Since(begun); took > 9*time.Second { // wait= is ten
		t.Errorf("changes hung for %v", took)
	}
	if _, err := s.Apply(t.Context(), []store.Change{put("urn:x-a:b", "u:2", 1)}); err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		if got, err := s.Get(t.Context(), name.FromKey(fmt.Sprintf("urn:x-a:%d", i)), time.Time{}); err != nil || got.Revision != 1 {
			t.Errorf("name %d: %+v, %v", i, got, err)
		}
	}
	if n := count(t, r); n != 21 {
		t.Errorf("the new primary has %d names, want 21", n)
	}
	eventually(t, "the old primary is known to be one", func() bool { return s.cluster.servers[0].is(superseded) })
	settledAndVerified(t, r)
}

// TestFormerPrimary checks a node that has not noticed a failover yet. It must not reject anything
// because of data that it reads from the former primary, whether the former primary is already a
// standby, or the node cannot reach the server that was promoted.
func TestFormerPrimary(t *testing.T) {
	t.Parallel()
	p, r, both := pairOf(t, "&wait=1s&lag=1s")
	syncReplication(t, p)
	s := open(t, both)
	node := registrar.New(s, registrar.Options{})
	admin := registrar.Actor{Who: "admin", Grants: registrar.Operator().Grants}
	a := name.FromKey("urn:x-a:b")
	request := func(revision uint64) registrar.Request {
		return registrar.Request{Expected: revision - 1, Record: &store.Record{
			Name: a, Spelling: a.Key(), Status: nomen.Active, Locations: []nomen.Location{{URL: fmt.Sprintf("https://h.example/%d", revision)}},
		}}
	}
	write := func(on *registrar.Registrar, revision uint64) {
		t.Helper()
		if out, err := on.Put(t.Context(), admin, request(revision), ""); err != nil || out.Revision != revision {
			t.Fatalf("revision %d: %+v, %v", revision, out.Result, err)
		}
	}
	write(node, 1)
	eventually(t, "the replica has it", func() bool { return count(t, r) == 1 })
	runSQL(t, r, "select pg_wal_replay_pause()")
	other := registrar.New(open(t, p.URL()), registrar.Options{})
	last := uint64(20)
	for revision := uint64(2); revision < last; revision += 2 {
		write(other, revision)
		s.cluster.set(s.cluster.servers[1], primary, nil) // as after a switchover, until the next check
		s.cluster.set(s.cluster.servers[0], standby, nil)
		write(node, revision+1)
	}
	s.cluster.set(s.cluster.servers[1], primary, nil)
	s.cluster.set(s.cluster.servers[0], standby, nil)
	if out, err := node.Put(t.Context(), admin, request(last-1), ""); err != nil || out.Changed || out.Revision != last-1 {
		t.Errorf("without a change: %+v, %v", out.Result, err)
	}

	late := registrar.New(open(t, p.URL()+"&wait=1s"), registrar.Options{})
	runSQL(t, r, "select pg_wal_replay_resume()", "select pg_promote()")
	now := registrar.New(open(t, r.URL()), registrar.Options{})
	write(now, last)
	for title, req := range map[string]registrar.Request{"a change": request(last + 1), "no change": request(last - 1)} {
		if out, err := late.Put(t.Context(), admin, req, ""); !store.IsAway(err) {
			t.Errorf("%s through the former primary: %+v, %v; want an AwayError", title, out.Result, err)
		}
	}
	if _, err := late.Retire(t.Context(), admin, name.FromKey("urn:x-a:new"), registrar.Retirement{Reason: "gone"}, ""); !store.IsAway(err) {
		t.Errorf("Retire through the former primary: %v, want an AwayError", err)
	}
	write(node, last+1)
}

// TestChangesOfTwoNodes checks that a node plans changes from what another node has committed, even
// if the replica lags and the cache of the node has an older record. If a client expects the
// revision that it has seen, there is no conflict. If a client restores an earlier state, this is a
// change.
func TestChangesOfTwoNodes(t *testing.T) {
	t.Parallel()
	p, r, both := pairOf(t, "&lag=1m&wait=1s")
	node := func() *registrar.Registrar {
		t.Helper()
		s := open(t, both)
		cached, err := cachestore.New(t.Context(), s, cachestore.Options{Every: time.Hour, Within: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cached.Close() })
		return registrar.New(cached, registrar.Options{Now: time.Now})
	}
	one, two := node(), node()
	admin := registrar.Actor{Who: "admin", Grants: registrar.Operator().Grants}
	a := name.FromKey("urn:x-a:b")
	put := func(on *registrar.Registrar, url string, expected, want uint64) {
		t.Helper()
		rec := &store.Record{Name: a, Spelling: a.Key(), Status: nomen.Active, Locations: []nomen.Location{{URL: url}}}
		out, err := on.Put(t.Context(), admin, registrar.Request{Record: rec, Expected: expected}, "")
		if err != nil || out.Revision != want {
			t.Errorf("%s expecting %d: revision %d, %v; want %d", url, expected, out.Revision, err, want)
		}
	}
	put(one, "https://h.example/1", 0, 1)
	eventually(t, "the replica has it", func() bool { return count(t, r) == 1 })
	if _, err := two.Get(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	runSQL(t, r, "select pg_wal_replay_pause()")
	put(one, "https://h.example/2", 1, 2)
	put(two, "https://h.example/3", 2, 3)
	put(one, "https://h.example/2", store.AnyRevision, 4)
	put(two, "https://h.example/3", store.AnyRevision, 5)
	if out, err := one.Retire(t.Context(), admin, a, registrar.Retirement{Reason: "gone", Expected: 5}, ""); err != nil || out.Revision != 6 {
		t.Errorf("Retire: revision %d, %v", out.Revision, err)
	}
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	for title, change := range map[string]func() error{
		"Put": func() error {
			rec := &store.Record{Name: a, Spelling: a.Key(), Status: nomen.Active, Locations: []nomen.Location{{URL: "https://h.example/1"}}}
			_, err := two.Put(t.Context(), admin, registrar.Request{Record: rec, Expected: 6}, "")
			return err
		},
		"Retire": func() error {
			_, err := two.Retire(t.Context(), admin, a, registrar.Retirement{Reason: "gone", Expected: 6}, "")
			return err
		},
		"Delete": func() error {
			_, err := two.Delete(t.Context(), admin, name.FromKey("urn:x-a:new"), store.AnyRevision, "")
			return err
		},
	} {
		if err := change(); !store.IsAway(err) {
			t.Errorf("%s without a primary, where the replica is behind: %v, want that the store is away", title, err)
		}
	}
}
