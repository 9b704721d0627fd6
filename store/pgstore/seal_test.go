package pgstore

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/nomen-project/nomen/store"
)

// feed reads all changes of s.
func feed(t *testing.T, s *Store, after uint64) (all []*store.Entry) {
	t.Helper()
	for e, err := range s.Changes(t.Context(), after) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

// sealed waits until n changes are sealed.
func sealed(t *testing.T, s *Store, size uint64) {
	t.Helper()
	eventually(t, fmt.Sprintf("%d changes are sealed", size), func() bool {
		h, err := s.Head(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return h.Size == size
	})
}

// checkFeed checks that the log has every change once, and the revisions of each subject in
// order.
func checkFeed(t *testing.T, s *Store, want int) {
	t.Helper()
	sealed(t, s, uint64(want))
	last := map[store.Subject]uint64{}
	for i, e := range feed(t, s, 0) {
		subject := e.Change.Subject()
		if e.Seq != uint64(i+1) || e.Change.Expected != last[subject] {
			t.Fatalf("entry %d: number %d, %s, revision %d after %d", i+1, e.Seq, subject.Key, e.Change.Expected+1, last[subject])
		}
		last[subject] = e.Change.Expected + 1
	}
}

// TestSealSoon checks that a change appears in the feed soon after it was written. On an idle
// machine, this takes at most a second.
func TestSealSoon(t *testing.T) {
	s := open(t, newURL(t, shared))
	for i := range 5 {
		key := fmt.Sprint("urn:x-a:", i)
		if _, err := s.Apply(t.Context(), []store.Change{put(key, "u:1", 0)}); err != nil {
			t.Fatal(err)
		}
		eventually(t, key+" is the last change", func() bool {
			all := feed(t, s, 0)
			return len(all) == i+1 && all[i].Change.Subject().Key == key
		})
	}
}

// TestSealAtClose checks that a node seals its changes when it is closed, and that the next
// node need not wait for its lease.
func TestSealAtClose(t *testing.T) {
	url := newURL(t, shared)
	s := open(t, url)
	if _, err := s.Apply(t.Context(), []store.Change{put("urn:x-a:b", "u:1", 0)}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	reader, err := Open(t.Context(), Options{URL: url, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if h, err := reader.Head(t.Context()); err != nil || h.Size != 1 {
		t.Errorf("%d changes are sealed, %v, want 1", h.Size, err)
	}
	leased := true
	c := connect(t, url)
	if err := c.QueryRow(t.Context(), "select until > clock_timestamp() from nomen_head").Scan(&leased); err != nil || leased {
		t.Errorf("a node that is closed still has the lease: %v, %v", leased, err)
	}
}

// unsealed writes changes that their node cannot seal before it is closed, as if it had been
// killed.
func unsealed(t *testing.T, url string, changes ...store.Change) {
	t.Helper()
	s := open(t, url)
	c := connect(t, url)
	if _, err := c.Exec(t.Context(), "begin; select id from nomen_head for update"); err != nil {
		t.Fatal(err)
	}
	for _, change := range changes {
		if _, err := s.Apply(t.Context(), []store.Change{change}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Exec(t.Context(), "rollback"); err != nil {
		t.Fatal(err)
	}
}

// TestSettle checks that Settle seals the changes of a killed node, even in a read-only
// store.
func TestSettle(t *testing.T) {
	url := newURL(t, shared)
	unsealed(t, url, put("urn:x-a:b", "u:1", 0), put("urn:x-a:b", "u:2", 1))
	s, err := Open(t.Context(), Options{URL: url, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if h, err := s.Head(t.Context()); err != nil || h.Size != 0 {
		t.Fatalf("%d changes are sealed, %v, want none", h.Size, err)
	}
	for range 2 {
		if err := s.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	checkFeed(t, s, 2)
	if h, err := s.Head(t.Context()); err != nil || h.Size != 2 {
		t.Errorf("%d changes are sealed, %v, want 2", h.Size, err)
	}
}

// TestSettleCannot checks the error of Settle when it cannot seal.
func TestSettleCannot(t *testing.T) {
	url := newURL(t, shared)
	unsealed(t, url, put("urn:x-a:b", "u:1", 0))
	s, err := Open(t.Context(), Options{URL: url + "&wait=300ms&default_transaction_read_only=on", ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Settle(t.Context()); !errors.Is(err, errNoPrimary) || !strings.Contains(err.Error(), "1 committed transactions") {
		t.Errorf("Settle where nothing can be written: %v", err)
	}
}

// TestSealAfterLostChanges checks that a node continues correctly after its database has lost the
// changes that the node sealed last, and has the same number of other changes instead.
func TestSealAfterLostChanges(t *testing.T) {
	url, other := newURL(t, shared), newURL(t, shared)
	s, replica := open(t, url), open(t, other)
	for i, node := range []*Store{s, replica} {
		for j := range 3 {
			if _, err := node.Apply(t.Context(), []store.Change{put(fmt.Sprintf("urn:x-a:%d-%d", i, j), "u:1", 0)}); err != nil {
				t.Fatal(err)
			}
			sealed(t, node, uint64(j+1))
		}
	}
	if err := replica.Close(); err != nil {
		t.Fatal(err)
	}
	// Simulate the promotion of the replica: replace all rows, with the same fence.
	var schema string
	c := connect(t, url)
	if err := connect(t, other).QueryRow(t.Context(), "select current_schema()").Scan(&schema); err != nil {
		t.Fatal(err)
	}
	swap := "begin; create temporary table mine on commit drop as select fence from nomen_head"
	for _, table := range []string{"present", "past", "place", "log", "head"} {
		swap += fmt.Sprintf("; delete from nomen_%[1]s; insert into nomen_%[1]s select * from %[2]s.nomen_%[1]s", table, schema)
	}
	if _, err := c.Exec(t.Context(), swap+"; update nomen_head set fence = (select fence from mine); commit"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Apply(t.Context(), []store.Change{put("urn:x-a:next", "u:1", 0)}); err != nil {
		t.Fatal(err)
	}
	checkFeed(t, s, 4)
	if _, err := s.Verify(t.Context(), func(f store.Fault) { t.Errorf("fault: %+v", f) }, nil); err != nil {
		t.Fatal(err)
	}
}

// TestLongTransaction checks that a reader of the log does not miss the changes of a
// transaction that was open for a long time.
func TestLongTransaction(t *testing.T) {
	url := newURL(t, shared)
	s := open(t, url)
	ctx := t.Context()
	c, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.Background())
	w := &writing{group: []*request{{changes: []store.Change{put("urn:x-long:1", "u:1", 0)}}}}
	p := makePlan(w.group, nil, nil)
	batch := &pgx.Batch{}
	if _, err := queueStatements(ctx, c, batch, p); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Exec(ctx, "begin"); err != nil {
		t.Fatal(err)
	}
	if err := c.SendBatch(ctx, batch).Close(); err != nil { // everything but the commit
		t.Fatal(err)
	}
	const others = 700
	for i := range others {
		if _, err := s.Apply(ctx, []store.Change{put(fmt.Sprint("urn:x-a:", i), "u:1", 0)}); err != nil {
			t.Fatal(err)
		}
	}
	sealed(t, s, others)
	seen := feed(t, s, 0)
	if len(seen) != others {
		t.Fatalf("%d changes while a transaction is open, want %d", len(seen), others)
	}
	if _, err := c.Exec(ctx, "commit"); err != nil {
		t.Fatal(err)
	}
	checkFeed(t, s, others+1)
	if rest := feed(t, s, others); len(rest) != 1 || rest[0].Change.Subject().Key != "urn:x-long:1" {
		t.Errorf("after the last change that was seen: %v, want that of the long transaction", rest)
	}
}

// TestManyNodes lets several nodes write the same names and seal. It checks that every change is in
// the log once, and that no update is lost.
func TestManyNodes(t *testing.T) {
	url := newURL(t, shared)
	ctx := store.WithPatience(t.Context(), store.LongPatience) // twenty writers are many for a small machine
	const nodes, perNode, rounds, names = 4, 5, 30, 3
	stores := make([]*Store, nodes)
	for i := range stores {
		stores[i] = open(t, url)
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	total := 0
	revisions := map[string]map[uint64]string{} // author of each revision of a name
	for w := range nodes * perNode {
		wg.Go(func() {
			s := stores[w%nodes]
			for round := range rounds {
				key := fmt.Sprint("urn:x-shared:", rand.N(names))
				url := fmt.Sprint("u:", w, ":", round)
				for {
					r, err := s.Get(ctx, put(key, "", 0).Record.Name, time.Time{})
					expected := uint64(0)
					if err == nil {
						expected = r.Revision
					}
					results, err := s.Apply(ctx, []store.Change{put(key, url, expected)})
					var conflict *store.ConflictError
					if errors.As(err, &conflict) {
						continue
					}
					if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					if revisions[key] == nil {
						revisions[key] = map[uint64]string{}
					}
					if other, ok := revisions[key][results[0].Revision]; ok {
						t.Errorf("revision %d of %s was made by %s and by %s", results[0].Revision, key, other, url)
					}
					revisions[key][results[0].Revision] = url
					total++
					mu.Unlock()
					break
				}
			}
		})
	}
	wg.Wait()
	if total != nodes*perNode*rounds {
		t.Errorf("%d changes, want %d", total, nodes*perNode*rounds)
	}
	checkFeed(t, stores[0], total)
	for key, urls := range revisions {
		for c, err := range stores[1].History(t.Context(), put(key, "", 0).Record.Name) {
			if err != nil || c.Record.Locations[0].URL != urls[c.Record.Revision] {
				t.Errorf("revision %d of %s: %+v, %v, want %s", c.Record.Revision, key, c.Record.Locations, err, urls[c.Record.Revision])
			}
			delete(urls, c.Record.Revision)
		}
		if len(urls) > 0 {
			t.Errorf("updates of %s that are lost: %v", key, urls)
		}
	}
}

// TestPausedSealer checks that a node that is suspended while sealing, before or after it has
// raised the fence, cannot seal what another node has sealed in the meantime, and does not block
// the other node for long.
func TestPausedSealer(t *testing.T) {
	for _, stage := range []string{"read", "raised"} {
		t.Run(stage, func(t *testing.T) {
			url := newURL(t, shared)
			a, b := open(t, url), open(t, url)
			a.sealer.stop()
			b.sealer.stop()
			write := func(s *Store, from, to int) {
				for i := from; i < to; i++ {
					if _, err := s.Apply(t.Context(), []store.Change{put(fmt.Sprint("urn:x-a:", i%7), fmt.Sprint("u:", i), store.AnyRevision)}); err != nil {
						t.Fatal(err)
					}
				}
			}
			write(a, 0, 300)
			stopped, resume := make(chan struct{}), make(chan struct{})
			a.sealer.pause = 300 * time.Millisecond
			a.sealer.hook = func(s string) {
				if s == stage {
					close(stopped)
					<-resume
					a.sealer.hook = func(string) {}
				}
			}
			ended := make(chan error)
			go func() {
				_, err := a.sealer.seal(context.Background())
				ended <- err
			}()
			<-stopped
			write(b, 300, 400)
			if _, err := b.sealer.seal(t.Context()); err != nil {
				t.Fatalf("the other sealer: %v", err)
			}
			h, err := b.Head(t.Context())
			if err != nil || h.Size != 400 {
				t.Fatalf("the other sealer has sealed %d changes, %v, want 400", h.Size, err)
			}
			close(resume)
			if err := <-ended; (err != nil) != (stage == "raised") {
				t.Errorf("the sealer that stood still: %v", err)
			}
			if again, err := b.Head(t.Context()); err != nil || again != h {
				t.Errorf("the head after both: %v, %v, want %v", again, err, h)
			}
			write(a, 400, 500)
			time.Sleep(sealLease)
			if _, err := a.sealer.seal(t.Context()); err != nil {
				t.Error(err)
			}
			checkFeed(t, b, 500)
		})
	}
}

// TestPausedWriter checks that a node that is suspended while writing does not block others
// that write the same names for longer than the server's timeout.
func TestPausedWriter(t *testing.T) {
	url := newURL(t, shared)
	a, b := open(t, url+"&idle_in_transaction_session_timeout=300"), open(t, url)
	if _, err := a.Apply(t.Context(), []store.Change{put("urn:x-a:b", "u:1", 0)}); err != nil {
		t.Fatal(err)
	}
	err := a.cluster.servers[0].short.with(t.Context(), func(c *pgx.Conn) error {
		if _, err := load(t.Context(), c, map[store.Kind][]string{store.KindName: {"urn:x-a:b"}}, inOrder); err != nil {
			t.Fatal(err)
		}
		results, err := b.Apply(t.Context(), []store.Change{put("urn:x-a:b", "u:2", 1)})
		if err != nil || results[0].Revision != 2 {
			t.Errorf("Apply while another node stands still: %v, %v", results, err)
		}
		_, err = c.Exec(t.Context(), "commit")
		return err
	})
	if !gone(err) {
		t.Errorf("the node that stood still: %v, want that its connection is lost", err)
	}
	for _, s := range []*Store{a, b} {
		for _, c := range []struct {
			work work
			want string
		}{{short, "5s"}, {long, "0"}} {
			var got string
			err := s.cluster.servers[0].pool(c.work).with(t.Context(), func(conn *pgx.Conn) error {
				return conn.QueryRow(t.Context(), "show idle_in_transaction_session_timeout").Scan(&got)
			})
			if err != nil || s == b && got != c.want || s == a && got != "300ms" {
				t.Errorf("bound of idle transactions: %s, %v", got, err)
			}
		}
	}
}

func TestOrderOfUnits(t *testing.T) {
	u := func(part int, entries ...entry) unit { return unit{part: part, entries: entries} }
	e := func(key string, revision uint64) entry {
		return entry{kind: store.KindName, key: key, revision: revision}
	}
	for _, tt := range []struct {
		name  string
		units []unit
		want  []int // parts; nil for an error
	}{
		{"none", nil, []int{}},
		{"in order", []unit{u(1, e("a", 5)), u(2, e("a", 6)), u(3, e("b", 1))}, []int{1, 2, 3}},
		{"clock set back", []unit{u(2, e("a", 6)), u(1, e("a", 5))}, []int{1, 2}},
		{"three times", []unit{u(3, e("a", 7)), u(2, e("a", 6)), u(1, e("a", 5))}, []int{1, 2, 3}},
		{"one name twice", []unit{u(2, e("a", 7), e("a", 8)), u(1, e("b", 1), e("a", 5), e("a", 6))}, []int{1, 2}},
		{"not one order", []unit{u(1, e("a", 1), e("b", 2)), u(2, e("b", 1), e("a", 2))}, nil},
		{"a revision missing", []unit{u(1, e("a", 1)), u(2, e("a", 3))}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := inOrderOf(tt.units, len(tt.units))
			var parts []int
			for _, u := range got {
				parts = append(parts, u.part)
			}
			if (err != nil) != (tt.want == nil) || !slices.Equal(parts, tt.want) {
				t.Errorf("%v, %v, want %v", parts, err, tt.want)
			}
		})
	}
}
