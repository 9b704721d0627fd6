package counts

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/nomen-project/nomen/internal/pacer"
)

var noon = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)

const (
	firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
	google  = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
)

// open returns a Counter that never writes by itself.
func open(t testing.TB, o Options) *Counter {
	t.Helper()
	if o.Store == nil {
		o.Store = &Memory{}
	}
	if o.Now == nil {
		o.Now = func() time.Time { return noon }
	}
	o.Every = 1000 * time.Hour
	c, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.stop() })
	return c
}

// client returns a client with a number.
func client(n int, agent string) *Client {
	c := &Client{}
	c.Set(netip.AddrFrom4([4]byte{192, 0, byte(n >> 8), byte(n)}), agent)
	return c
}

// sums returns what a store has: lines such as "urn:a 2026-11-24 I2L regular 3".
func sums(t testing.TB, s Store, kind Kind) (lines []string) {
	t.Helper()
	for r, err := range s.Rows(context.Background(), Query{Kind: kind, From: 0, To: 30000, Prefix: true}) {
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range r.Cells {
			lines = append(lines, fmt.Sprintf("%s %v-%02d %v %v %d", r.Text, r.Month, c.Day, c.What, c.Class, c.N))
		}
	}
	return lines
}

// total returns the sum of all counts of a kind.
func total(t testing.TB, s Store, kind Kind) (n uint64) {
	t.Helper()
	for r, err := range s.Rows(context.Background(), Query{Kind: kind, From: 0, To: 30000, Prefix: true}) {
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range r.Cells {
			n += c.N
		}
	}
	return n
}

// Resolutions are counted by name, authority, service, day and class. The day ends at midnight UTC.
func TestCounter(t *testing.T) {
	now := noon
	s := &Memory{}
	c := open(t, Options{Store: s, Now: func() time.Time { return now }, Authority: func(name string) string { return name[:5] }})
	person, bot, curl, silent := client(1, firefox), client(2, google), client(3, "curl/8.9.1"), client(4, "")
	c.Resolved(person, "urn:a:1", Of("I2L"), now)
	c.Resolved(person, "urn:a:2", Of("I2L"), now)
	c.Resolved(bot, "urn:a:1", Of("I2L"), now)
	c.Resolved(curl, "urn:a:1", Of("I2C"), now)
	c.Resolved(silent, "urn:b:1", Gone, now)
	c.Failed(bot, "urn:b:nothing", now)
	c.Failed(person, "urn:b:nowhere", now)
	now = time.Date(2026, 11, 30, 23, 59, 59, 0, time.UTC)
	c.Resolved(person, "urn:a:1", Of("I2L"), now)
	now = now.Add(time.Second)
	c.Resolved(curl, "urn:a:1", Of("I2Ls"), now)
	if err := c.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(sums(t, s, OfName), []string{
		"urn:a:1 2026-11-24 I2L regular 1", "urn:a:1 2026-11-24 I2L bot 1", "urn:a:1 2026-11-24 I2C machine 1", "urn:a:1 2026-11-30 I2L regular 1",
		"urn:a:2 2026-11-24 I2L regular 1", "urn:b:1 2026-11-24 gone unknown 1", "urn:a:1 2026-12-01 I2Ls machine 1",
	}); d != "" {
		t.Errorf("names: got -, want +:\n%s", d)
	}
	if d := cmp.Diff(sums(t, s, OfAuthority), []string{
		"urn:a 2026-11-24 I2L regular 2", "urn:a 2026-11-24 I2L bot 1", "urn:a 2026-11-24 I2C machine 1", "urn:a 2026-11-30 I2L regular 1",
		"urn:b 2026-11-24 gone unknown 1", "urn:b 2026-11-24 failed regular 1", "urn:b 2026-11-24 failed bot 1", "urn:a 2026-12-01 I2Ls machine 1",
	}); d != "" {
		t.Errorf("authorities: got -, want +:\n%s", d)
	}
}

// The rule of double clicks, with the examples of the COUNTER Code of Practice: clicks of the same
// client on the same name within 30 seconds count once, and each click begins a new 30 seconds.
func TestDoubleClicks(t *testing.T) {
	at := func(text string) time.Time {
		clock, err := time.Parse("15:04:05", text)
		if err != nil {
			t.Fatal(err)
		}
		return time.Date(2026, 11, 24, clock.Hour(), clock.Minute(), clock.Second(), 0, time.UTC)
	}
	for _, tt := range []struct {
		name string
		at   string
		want uint64
	}{
		{"29 seconds", "10:01:00 10:01:29", 1},
		{"30 seconds", "10:01:00 10:01:30", 1},
		{"35 seconds", "10:01:00 10:01:35", 2},
		{"a chain", "10:01:00 10:01:25 10:01:50 10:02:15", 1},
		{"a chain that ends", "10:01:00 10:01:25 10:01:56", 2},
		{"after a new secret", "10:00:00 10:59:55 11:00:05", 2},
		{"long after a new secret", "10:00:00 10:59:55 11:00:26", 3},
		{"a chain over a new secret", "10:00:00 10:59:55 11:00:05 11:00:30 11:00:55", 2},
		{"the clock is set back", "10:01:00 09:01:00", 2},
		{"the clock is set back a little", "10:01:00 10:01:50 10:01:40", 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &Memory{}
			c := open(t, Options{Store: s})
			person := client(1, firefox)
			for _, text := range strings.Fields(tt.at) {
				c.Resolved(person, "urn:a:1", 1, at(text))
			}
			if err := c.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := total(t, s, OfName); got != tt.want {
				t.Errorf("%d resolutions, want %d", got, tt.want)
			}
		})
	}
}

// Clicks of a few clients on a few names, at any times, through first and repeated answers, count as in
// a model that keeps the second of each last click.
func TestDoubleClicksAsInModel(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		s := &Memory{}
		c := open(t, Options{Store: s})
		clients := []*Client{client(1, firefox), client(2, firefox), client(1, google)}
		names := []string{"urn:a:1", "urn:a:2"}
		lasts := make([][2]Last, len(names)) // of two answers for each name
		now, seen, want := noon, map[[2]int]int64{}, uint64(0)
		for range rapid.IntRange(1, 80).Draw(r, "clicks") {
			now = now.Add(rapid.SampledFrom([]time.Duration{0, time.Millisecond, 700 * time.Millisecond, 9 * time.Second, 30 * time.Second, 30500 * time.Millisecond, 40 * time.Minute}).Draw(r, "later"))
			i, n := rapid.IntRange(0, len(clients)-1).Draw(r, "client"), rapid.IntRange(0, len(names)-1).Draw(r, "name")
			if a := rapid.IntRange(0, 2).Draw(r, "answer"); a < 2 {
				c.Repeated(uint64(n<<32|a<<2), &lasts[n][a], clients[i], []byte(names[n]), 1, now)
			} else {
				c.Resolved(clients[i], names[n], 1, now)
			}
			if last, ok := seen[[2]int{i, n}]; !ok || now.Unix()-last > 30 {
				want++
			}
			seen[[2]int{i, n}] = now.Unix()
		}
		if err := c.Flush(t.Context()); err != nil {
			r.Fatal(err)
		}
		if got := total(t, s, OfName); got != want {
			r.Fatalf("%d resolutions, want %d", got, want)
		}
	})
}

// Requests of other clients, for other names and for other services are not double clicks.
func TestNoDoubleClicks(t *testing.T) {
	s := &Memory{}
	c := open(t, Options{Store: s})
	c.Resolved(client(1, firefox), "urn:a:1", 1, noon)
	c.Resolved(client(2, firefox), "urn:a:1", 1, noon)
	c.Resolved(client(1, google), "urn:a:1", 1, noon)
	c.Resolved(client(1, firefox), "urn:a:2", 1, noon)
	c.Resolved(client(1, firefox), "urn:a:1", 2, noon)
	c.Resolved(client(1, firefox), "urn:a:1", 1, noon) // a double click
	if err := c.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := total(t, s, OfName); got != 5 {
		t.Errorf("%d resolutions, want 5", got)
	}
}

// Names that clients invent, such as names that match a rule, count only for their authorities. So they
// take no room on disk.
func TestInventedNames(t *testing.T) {
	s := &Memory{}
	c := open(t, Options{Store: s, Names: 50_000, Authority: func(string) string { return "urn:a" }, Recorded: func(_ context.Context, name string) bool { return name == "urn:a:1" }})
	for i := range 20_000 {
		c.Resolved(client(1, firefox), fmt.Sprint("urn:a:", i), 1, noon)
		c.Repeated(uint64(i)<<2, &Last{}, client(2, firefox), fmt.Append(nil, "urn:a:", i), 1, noon)
	}
	if err := c.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if names, all := total(t, s, OfName), total(t, s, OfAuthority); names != 2 || all != 40_000 || len(s.rows) != 2 {
		t.Errorf("%d resolutions of names, %d in sum, in %d rows; want 2, 40000, 2", names, all, len(s.rows))
	}
}

// When there is no room to remember clicks, each click counts, and the counter says how many.
func TestClicksOverflow(t *testing.T) {
	s := &Memory{}
	c := open(t, Options{Store: s, Clicks: 8})
	for range 2 {
		for i := range 20 {
			c.Resolved(client(i, firefox), "urn:a:1", 1, noon)
		}
	}
	if err := c.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := total(t, s, OfName); got != 32 || c.Overflow() != 24 {
		t.Errorf("%d resolutions, %d without a check; want 32, 24", got, c.Overflow())
	}
}

// Secrets and numbers of clients are forgotten after an hour.
func TestForget(t *testing.T) {
	c := open(t, Options{})
	c.Resolved(client(1, firefox), "urn:a:1", 1, noon)
	c.clicks.forget(noon.Add(59 * time.Minute))
	if c.clicks.now.Load() == nil {
		t.Error("forgotten too early")
	}
	c.Resolved(client(1, firefox), "urn:a:1", 1, noon.Add(time.Hour))
	c.clicks.forget(noon.Add(time.Hour + time.Minute))
	if c.clicks.now.Load().previous.Load() != nil {
		t.Error("the secret of the hour before is kept")
	}
	c.clicks.forget(noon.Add(2 * time.Hour))
	if c.clicks.now.Load() != nil {
		t.Error("the secret is kept")
	}
}

// A failing store. It may add a batch and still return an error, as a database does whose connection
// breaks.
type shaky struct {
	Memory
	next func() (add, fail bool)
}

var errShaky = errors.New("the store fails")

func (s *shaky) Add(ctx context.Context, b Batch) error {
	add, fail := s.next()
	if add {
		_ = s.Memory.Add(ctx, b)
	}
	if fail {
		return errShaky
	}
	return nil
}

// Whatever happens, in whatever order, with hints or without, and with a store that fails
// before or after it adds a batch: each resolution is counted exactly once.
func TestExact(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		now := noon
		s := &shaky{next: func() (bool, bool) {
			switch rapid.IntRange(0, 3).Draw(r, "fail") {
			case 0:
				return false, true
			case 1:
				return true, true
			}
			return true, false
		}}
		c, err := Open(Options{Store: s, Every: 1000 * time.Hour, Now: func() time.Time { return now }, Authority: func(string) string { return "urn:a" }, Names: rapid.IntRange(1, 6).Draw(r, "names")})
		if err != nil {
			r.Fatal(err)
		}
		defer c.stop()
		want, clients, last := map[string]uint64{}, 0, &Last{}
		for range rapid.IntRange(1, 60).Draw(r, "steps") {
			switch rapid.IntRange(0, 9).Draw(r, "step") {
			case 0:
				_ = c.Flush(t.Context())
			case 1:
				now = now.Add(time.Duration(rapid.IntRange(0, 20).Draw(r, "hours")) * time.Hour)
			default:
				clients++ // so that there are no double clicks
				key := subject{rapid.SampledFrom([]string{"urn:a:1", "urn:a:2", "urn:a:3"}).Draw(r, "name"), OfName, What(rapid.IntRange(1, 3).Draw(r, "what"))}
				by := client(clients, rapid.SampledFrom([]string{firefox, google, "", "curl/8"}).Draw(r, "agent"))
				if rapid.Bool().Draw(r, "repeated") { // some names share a hint
					request := uint64(key.text[6]) << 18 & (1<<18 | 1<<19 | 1) << rapid.IntRange(0, 1).Draw(r, "accept")
					c.Repeated(request|uint64(key.text[6])<<32, last, by, []byte(key.text), key.what, now)
				} else {
					c.Resolved(by, key.text, key.what, now)
				}
				want[fmt.Sprintf("%v %v %v", now.Format(time.DateOnly), key.what, by.class)]++
			}
		}
		s.next = func() (bool, bool) { return true, false }
		if err := c.Flush(t.Context()); err != nil {
			r.Fatal(err)
		}
		got := map[string]uint64{}
		for row, err := range s.Rows(t.Context(), Query{Kind: OfAuthority, From: 0, To: 30000, Prefix: true}) {
			if err != nil {
				r.Fatal(err)
			}
			for _, cell := range row.Cells {
				got[fmt.Sprintf("%v-%02d %v %v", row.Month, cell.Day, cell.What, cell.Class)] += cell.N
			}
		}
		if d := cmp.Diff(got, want); d != "" {
			r.Fatalf("got -, want +:\n%s", d)
		}
	})
}

// Goroutines that count, goroutines that write, and a store that fails: each resolution is counted
// once for its name and once for its authority.
func TestConcurrent(t *testing.T) {
	const workers, each, names = 8, 4000, 20
	var mu sync.Mutex
	n := 0
	s := &shaky{next: func() (bool, bool) {
		mu.Lock()
		defer mu.Unlock()
		n++
		return n%3 != 0, n%2 == 0
	}}
	c := open(t, Options{Store: s})
	var count, write sync.WaitGroup
	done := make(chan struct{})
	var lasts [names]Last
	for range 2 {
		write.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					_ = c.Flush(t.Context())
				}
			}
		})
	}
	for w := range workers {
		count.Go(func() {
			for i := range each {
				by := client(0, firefox)
				by.Set(netip.AddrFrom4([4]byte{10, byte(w), byte(i >> 8), byte(i)}), firefox)
				if name := fmt.Sprint("urn:a:", i%names); i%3 > 0 {
					c.Repeated(uint64(i%names)<<32|uint64(i%3)<<2, &lasts[i%names], by, []byte(name), 1, noon)
				} else {
					c.Resolved(by, name, 1, noon)
				}
			}
		})
	}
	count.Wait()
	close(done)
	write.Wait()
	s.next = func() (bool, bool) { return true, false }
	if err := c.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	const want = workers * each
	if got := total(t, &s.Memory, OfName); got != want {
		t.Errorf("names: %d, want %d (%d not checked)", got, want, c.Overflow())
	}
	if got := total(t, &s.Memory, OfAuthority); got != want {
		t.Errorf("authorities: %d, want %d", got, want)
	}
}

// Concurrent clicks of one client on one name count once.
func TestConcurrentDoubleClicks(t *testing.T) {
	for range 50 {
		s := &Memory{}
		c := open(t, Options{Store: s})
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() { c.Resolved(client(1, firefox), "urn:a:1", 1, noon) })
		}
		all.Wait()
		if err := c.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := total(t, s, OfName); got != 1 {
			t.Fatalf("%d resolutions, want 1", got)
		}
	}
}

// Names beyond the limit, and names that no store can have, count for their authority.
func TestManyNames(t *testing.T) {
	s := &Memory{}
	c := open(t, Options{Store: s, Names: 3, Authority: func(string) string { return "urn:a" }})
	for i := range 10 {
		c.Repeated(uint64(i), &Last{}, client(1, firefox), []byte(fmt.Sprint("urn:a:", i)), 1, noon)
		c.Resolved(client(1, firefox), fmt.Sprint("urn:a:", i), 1, noon) // a double click
	}
	c.Resolved(client(1, firefox), "urn:a:"+strings.Repeat("x", MaxText), 1, noon)
	c.Resolved(client(1, firefox), "urn:a:\xff", 1, noon)
	if err := c.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if names, all := total(t, s, OfName), total(t, s, OfAuthority); names != 3 || all != 12 {
		t.Errorf("names %d, authority %d; want 3, 12", names, all)
	}
}

// While requests are answered, periodic writes rest between the look-ups of records. Flush does not.
func TestWritesRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const names, lookup = 100, 100 * time.Microsecond
		p, s := pacer.New(), &Memory{}
		c, err := Open(Options{Store: s, Pacer: p, Recorded: func(_ context.Context, name string) bool {
			p.Request()
			time.Sleep(lookup)
			return name != "urn:a:0"
		}})
		if err != nil {
			t.Fatal(err)
		}
		count := func() {
			p.Request()
			for i := range names {
				c.Resolved(client(1, firefox), fmt.Sprint("urn:a:", i), 1, time.Now())
			}
		}
		count()
		time.Sleep(time.Minute + time.Second)
		rested := p.Rested()
		if rested < names/2*lookup {
			t.Errorf("a periodic write of %d names rested for %v", names, rested)
		}
		if got := total(t, s, OfName); got != names-1 {
			t.Errorf("%d resolutions, want %d", got, names-1)
		}
		count()
		if err := c.Flush(t.Context()); err != nil || p.Rested() != rested {
			t.Errorf("Flush rested for %v, %v", p.Rested()-rested, err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if got := total(t, s, OfName); got != 2*(names-1) {
			t.Errorf("%d resolutions, want %d", got, 2*(names-1))
		}
	})
}

// Counts are written each minute. If this fails for long, it is logged once, and nothing is lost.
func TestWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		var fail atomic.Bool
		fail.Store(true)
		s := &shaky{next: func() (bool, bool) { f := fail.Load(); return !f, f }}
		c, err := Open(Options{Store: s, Log: slog.New(slog.NewTextHandler(&log, nil))})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 5 {
			c.Resolved(client(i, firefox), "urn:a:1", 1, time.Now())
			time.Sleep(61 * time.Second)
			synctest.Wait()
		}
		if got := total(t, &s.Memory, OfName); got != 0 {
			t.Errorf("%d resolutions in a store that fails", got)
		}
		fail.Store(false)
		time.Sleep(61 * time.Second)
		synctest.Wait()
		if got := total(t, &s.Memory, OfName); got != 5 {
			t.Errorf("%d resolutions, want 5", got)
		}
		c.Resolved(client(9, firefox), "urn:a:1", 1, time.Now())
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		if got := total(t, &s.Memory, OfName); got != 6 {
			t.Errorf("after Close %d resolutions, want 6", got)
		}
		if failed, again := strings.Count(log.String(), "cannot save"), strings.Count(log.String(), "saved again"); failed != 1 || again != 1 {
			t.Errorf("%d and %d lines, want 1 and 1:\n%s", failed, again, &log)
		}
	})
}

// Months that are long over keep only sums.
func TestRoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Memory{}
		c, err := Open(Options{Store: s, Every: 24 * time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 3 { // the clock of the bubble begins on 2000-01-01
			c.Resolved(client(i, firefox), "urn:a:1", 1, time.Now())
			time.Sleep(24 * time.Hour)
		}
		time.Sleep(115 * 24 * time.Hour) // until the end of April
		synctest.Wait()
		if got := sums(t, s, OfName); len(got) != 3 {
			t.Errorf("before May: %q", got)
		}
		time.Sleep(5 * 24 * time.Hour)
		synctest.Wait()
		if d := cmp.Diff(sums(t, s, OfName), []string{"urn:a:1 2000-01-00 I2L regular 3"}); d != "" {
			t.Errorf("got -, want +:\n%s", d)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// A server that does not count has a nil Counter.
func TestNilCounter(t *testing.T) {
	var c *Counter
	c.Resolved(&Client{}, "urn:a:1", 1, noon)
	c.Failed(&Client{}, "urn:a:1", noon)
	if s, err := c.Reader(t.Context()); err != nil || total(t, s, OfName) != 0 || c.Flush(t.Context()) != nil || c.Close() != nil || c.Overflow() != 0 {
		t.Errorf("a nil Counter has counts: %v", err)
	}
}

// Counting does not allocate, except for the first resolution of a name after a write.
func TestAllocations(t *testing.T) {
	c := open(t, Options{})
	by, name, last := client(1, firefox), []byte("urn:a:1"), &Last{}
	now := noon
	if n := testing.AllocsPerRun(100, func() {
		now = now.Add(31 * time.Second) // no double click
		by.Set(by.addr, firefox)
		c.Repeated(7, last, by, name, 1, now)
		c.Resolved(by, "urn:a:2", 1, now)
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestCells(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var cells []Cell
		for range rapid.IntRange(0, 20).Draw(r, "cells") {
			code := rapid.Uint64Range(0, 32<<6-1).Draw(r, "code")
			if c := cellOf(code, rapid.Uint64Range(1, 1<<62).Draw(r, "n")); c.What < whats {
				cells = Add(cells, []Cell{c})
				if cells[0].N > 1<<62 {
					cells[0].N = 1
				}
			}
		}
		for i := range cells {
			cells[i].N = min(cells[i].N, 1<<62)
		}
		got, err := ReadCells(AppendCells(nil, cells))
		if d := cmp.Diff(got, append([]Cell(nil), cells...)); d != "" || err != nil {
			r.Fatalf("%v; got -, want +:\n%s", err, d)
		}
	})
}

func FuzzReadCells(f *testing.F) {
	f.Add(AppendCells(nil, []Cell{{Day: 1, What: 1, N: 3}, {Day: 24, What: 11, Class: 3, N: 1 << 40}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		cells, err := ReadCells(b)
		if err != nil {
			return
		}
		again, err := ReadCells(AppendCells(nil, cells))
		if d := cmp.Diff(again, cells); d != "" || err != nil {
			t.Fatalf("%v, %s", err, d)
		}
	})
}

func BenchmarkResolved(b *testing.B) {
	b.Run("repeated", func(b *testing.B) {
		c := open(b, Options{})
		b.RunParallel(func(p *testing.PB) {
			by, name, last := client(1, firefox), []byte("urn:a:1"), &Last{}
			for p.Next() {
				by.Set(by.addr, firefox)
				c.Repeated(7, last, by, name, 1, noon)
			}
		})
	})
	b.Run("repeated, many names", func(b *testing.B) {
		c := open(b, Options{})
		by, names, lasts := client(1, firefox), make([][]byte, 1<<14), make([]Last, 1<<14)
		for i := range names {
			names[i] = []byte(fmt.Sprint("urn:nbn:de:example-", i))
		}
		now := noon
		for i := 0; b.Loop(); i++ {
			now = now.Add(25 * time.Microsecond)
			c.Repeated(uint64(i%len(names))*0x9e3779b97f4a7c15>>16, &lasts[i%len(names)], by, names[i%len(names)], 1, now)
		}
	})
	b.Run("map", func(b *testing.B) {
		c := open(b, Options{})
		by, names := client(1, firefox), make([]string, 1<<17)
		for i := range names {
			names[i] = fmt.Sprint("urn:nbn:de:example-", i)
		}
		for i := 0; b.Loop(); i++ {
			c.Resolved(by, names[i%len(names)], 1, noon)
		}
	})
}
