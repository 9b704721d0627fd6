package links

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nomen-project/nomen/internal/testrun"
	"github.com/nomen-project/nomen/store/pgstore"
	"github.com/nomen-project/nomen/store/pgstore/pgtest"
)

// A node is a watcher of a server of a database.
type node struct {
	*Watcher
	store *pgstore.Store
	dead  *DeadSet
	keys  sync.Map // keys that Dead has reported as changed
	stop  func()
}

// openNode opens a watcher that shares its states with others.
func openNode(t *testing.T, f *faultServer, url string, follows bool) *node {
	t.Helper()
	s, err := pgstore.Open(t.Context(), pgstore.Options{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	n := &node{store: s}
	n.dead = NewDeadSet(func(key string) { n.keys.Store(key, true) })
	n.Watcher, err = Open(Options{
		Store: s, Agent: "nomen/test", DNS: f, Dial: f.dial, Now: f.now, Gap: f.gap, Every: 20 * time.Millisecond, Visits: 4,
		Shared: s.Octets(), Lease: func(context.Context) bool { return follows }, Dead: n.dead,
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// run runs the watcher until stop is called.
func (n *node) run(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { n.Run(ctx) })
	n.stop = func() { cancel(); running.Wait() }
}

func (n *node) end(t *testing.T) {
	t.Helper()
	if err := n.Close(); err != nil {
		t.Error(err)
	}
	_ = n.store.Close()
}

// await waits until a condition holds.
func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !holds(); {
		if time.Now().After(end) {
			t.Fatalf("%s: not within a minute", what)
		}
		wait(t.Context(), 10*time.Millisecond, nil)
	}
}

// TestNodes: servers of one database divide the hosts between them, and keep the manners together; the
// server asserts these. Another server visits the hosts of one that was killed. A verdict that one
// server finds reaches the others.
func TestNodes(t *testing.T) {
	server, err := pgtest.Start(pgtest.Options{})
	if err != nil {
		testrun.Missing(t, fmt.Sprintf("PostgreSQL (%v)", err))
	}
	defer server.Stop()
	var ahead atomic.Int64
	f := newFaultServer(t, func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }, 0)
	f.gap = 20 * time.Millisecond
	const hosts = 40
	for i := range hosts {
		f.behaving([]string{"plain", "elsewhere"}[i%2], i)
	}
	defer f.serve()()
	a := openNode(t, f, server.URL(), true)
	defer a.end(t)
	fill(t, a.store, f.sorted(), func(*faultHost) int { return 3 })
	b := openNode(t, f, server.URL(), false)
	if err := a.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	checked := func() bool {
		counts := a.Status().Counts
		return counts["unknown"] == 0 && counts["good"]+counts["confirmed"] == 3*hosts
	}
	a.run(t)
	b.run(t)
	await(t, "all locations are checked", checked)
	a.stop()
	b.stop()
	if x, y := a.Status().Checks, b.Status().Checks; x < hosts/2 || y < hosts/2 {
		t.Errorf("the servers made %d and %d checks, want that both work", x, y)
	}

	// b is killed while it visits hosts.
	ahead.Add(int64(100 * 24 * time.Hour))
	taken, _ := b.take(10)
	if len(taken) != 10 {
		t.Fatalf("took %q, want ten hosts", taken)
	}
	b.end(t)
	a.run(t)
	late := func(n int) func() bool {
		return func() bool {
			count := 0
			for _, h := range f.sorted() {
				for i := range 3 {
					_, url := item(h.name, i)
					if l, ok, err := a.Of(url); err == nil && ok && f.now().Sub(l.Checked) < 24*time.Hour {
						count++
					}
				}
			}
			return count == n
		}
	}
	await(t, "the other hosts are checked", late(3*(hosts-10)))
	ahead.Add(int64(crashTime + time.Minute))
	a.poke()
	await(t, "the hosts of the killed server are checked", late(3*hosts))
	a.stop()

	c := openNode(t, f, server.URL(), false)
	defer c.end(t)
	_, url := item(f.sorted()[0].name, 0)
	change := func(v Verdict) {
		t.Helper()
		a.mu.Lock()
		defer a.mu.Unlock()
		err := a.update(webHost(url), func(h *hostChange) error {
			was, _, err := readState(h, url)
			now := was
			now.Verdict, now.Since = v, f.now().Add(-20*24*time.Hour)
			h.set(url, &was, &now)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, v := range []Verdict{Dead, Good} {
		c.keys.Clear()
		change(v)
		if err := c.refresh(); err != nil {
			t.Fatal(err)
		}
		since, _, is := c.dead.Dead(url)
		if _, told := c.keys.Load(c.dead.Key(url)); is != (v == Dead) || !told || is && f.now().Sub(since) < 19*24*time.Hour {
			t.Errorf("%s: the other server has dead %v since %v, told its cache %v", v, is, since, told)
		}
		if _, _, here := a.dead.Dead(url); here != is {
			t.Errorf("%s: this server has dead %v", v, here)
		}
	}
	change(Dead)
	d := openNode(t, f, server.URL(), false)
	defer d.end(t)
	if d.dead.Len() != 1 {
		t.Errorf("a new server has %d dead locations, want 1", d.dead.Len())
	}
}
