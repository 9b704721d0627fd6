package rates

import (
	"sync"
	"testing"
	"time"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// spend spends n times and returns how many succeeded, and how long the last was to wait.
func spend[K comparable](t *Table[K], key K, now time.Time, n int) (ok int, wait time.Duration) {
	for range n {
		if wait = t.Spend(key, now); wait == 0 {
			ok++
		}
	}
	return ok, wait
}

// Each key has a burst, which fills up again at the rate and not beyond the burst. A refused
// attempt costs nothing.
func TestSpend(t *testing.T) {
	table := New[string](2, 5, 10)
	for _, tt := range []struct {
		key   string
		after time.Duration
		want  int
		wait  time.Duration
	}{
		{"a", 0, 5, time.Second / 2},
		{"b", 0, 5, time.Second / 2},
		{"a", 250 * time.Millisecond, 0, 250 * time.Millisecond},
		{"a", time.Second, 2, time.Second / 2},
		{"a", time.Hour, 5, time.Second / 2},
	} {
		got, wait := spend(table, tt.key, start.Add(tt.after), 20)
		if got != tt.want || wait != tt.wait {
			t.Errorf("%s after %s: got %d, wait %s; want %d, wait %s", tt.key, tt.after, got, wait, tt.want, tt.wait)
		}
	}
}

// Any number of keys needs no more memory than for the given number, and all others together
// get as much as one.
func TestShared(t *testing.T) {
	table := New[int](1, 3, 10)
	all := 0
	for key := range 5000 {
		ok, _ := spend(table, key, start, 1)
		all += ok
	}
	if want := 10 + 3; all != want || len(table.buckets) != 10 {
		t.Errorf("%d succeeded, want %d; %d buckets, want 10", all, want, len(table.buckets))
	}
	if ok, _ := spend(table, 9, start, 5); ok != 2 {
		t.Errorf("a key with a bucket: %d more, want 2", ok)
	}
	if ok, _ := spend(table, 5000, start.Add(time.Minute), 5); ok != 3 || len(table.buckets) != 1 {
		t.Errorf("a minute later: %d succeeded, want 3; %d buckets, want 1", ok, len(table.buckets))
	}
}

// A sweep keeps buckets that are not full, so that no key gets a new burst.
func TestSweepKeeps(t *testing.T) {
	table := New[string](1, 10, 2)
	spend(table, "full", start, 1)
	spend(table, "empty", start, 10)
	now := start.Add(time.Second)
	if got, _ := spend(table, "new", now, 20); got != 10 {
		t.Errorf("a new key: got %d, want its burst of 10", got)
	}
	if got, _ := spend(table, "empty", now, 20); got != 1 {
		t.Errorf("an empty bucket after a sweep: got %d, want 1", got)
	}
}

// A flood of new keys causes a sweep per second at most, or per time in which a bucket becomes
// full, if that is shorter.
func TestSweepsAreRare(t *testing.T) {
	for _, tt := range []struct {
		perSecond float64
		burst     int
		want      time.Duration
	}{
		{1, 10, time.Second},
		{1e-15, 1, time.Second}, // the time to become full is more than a Duration can hold
		{1000, 10, 10 * time.Millisecond},
	} {
		table := New[int](tt.perSecond, tt.burst, 1)
		spend(table, 0, start, 1)
		spend(table, 1, start, 1) // sweeps
		delete(table.buckets, 0)
		table.buckets[2] = New[int](1, tt.burst, 0).shared // full
		spend(table, 3, start.Add(tt.want-time.Millisecond), 1)
		if table.buckets[3] != nil {
			t.Errorf("%+v: swept too soon", tt)
		}
		spend(table, 3, start.Add(tt.want), 1)
		if table.buckets[3] == nil {
			t.Errorf("%+v: not swept", tt)
		}
	}
}

// Wait takes nothing, and Charge takes a token even if none is left.
func TestCharge(t *testing.T) {
	table := New[string](1, 2, 1)
	check := func(key string, after, want time.Duration) {
		t.Helper()
		for range 3 {
			if got := table.Wait(key, start.Add(after)); got != want {
				t.Errorf("%s after %s: wait %s, want %s", key, after, got, want)
			}
		}
	}
	check("own", 0, 0)
	for i, want := range []time.Duration{0, time.Second, 2 * time.Second} {
		table.Charge("own", start)
		check("own", 0, want)
		if i == 0 {
			check("shared", 0, 0)
		}
	}
	table.Charge("shared", start)
	table.Charge("another", start)
	check("third", 0, time.Second)
	check("own", 1500*time.Millisecond, time.Second/2)
	check("own", 2*time.Second, 0)
}

// A new rate applies at once to all buckets, and what was used before still counts.
func TestSet(t *testing.T) {
	table := New[string](1, 2, 1)
	spend(table, "own", start, 2)
	spend(table, "shared", start, 2)
	table.Set(10, 20, start)
	for _, key := range []string{"own", "shared"} {
		if got, wait := spend(table, key, start, 1); got != 0 || wait != time.Second/10 {
			t.Errorf("%s: got %d, wait %s; want 0, wait 100ms", key, got, wait)
		}
		if got, _ := spend(table, key, start.Add(time.Second), 20); got != 10 {
			t.Errorf("%s after a second: got %d, want 10", key, got)
		}
	}
	later := start.Add(time.Hour)
	if got, _ := spend(table, "later", later, 30); got != 20 {
		t.Errorf("a new bucket: got %d, want 20", got)
	}
	table.Set(1, 2, later.Add(time.Hour))
	if got, _ := spend(table, "later", later.Add(time.Hour), 30); got != 2 {
		t.Errorf("a full bucket with a lower burst: got %d, want 2", got)
	}
}

// For the race detector.
func TestConcurrent(t *testing.T) {
	table := New[int](1, 1, 2)
	var all sync.WaitGroup
	for key := range 8 {
		all.Go(func() {
			spend(table, key, start, 10)
			table.Set(float64(key+1), 1, start)
		})
	}
	all.Wait()
}
