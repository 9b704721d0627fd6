package misses

import (
	"bytes"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// noon is a moment within an hour.
var noon = time.Date(2026, 11, 20, 12, 34, 56, 789, time.UTC)

func at(t time.Time) func() time.Time { return func() time.Time { return t } }

func hour(n int) time.Time { return time.Date(2026, 11, 20, n, 0, 0, 0, time.UTC) }

// open opens a counter with a fixed random source.
func open(t testing.TB, o Options) *Counter {
	t.Helper()
	if o.Random == nil {
		o.Random = rand.NewPCG(1, 2)
	}
	c, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func TestCounter(t *testing.T) {
	now := noon
	c := open(t, Options{Now: func() time.Time { return now }})
	c.Add("urn:x-y:b", []string{"urn:x-y:a"})
	c.Add("urn:x-y:c", nil)
	now = now.Add(2 * time.Hour)
	c.Add("urn:x-y:b", nil)
	now = now.Add(-24 * time.Hour) // the clock goes back
	c.Add("urn:x-y:a", nil)
	c.Add("urn:x-y:b", []string{"urn:x-y:1", "urn:x-y:2"})
	want := []Miss{
		{Name: "urn:x-y:b", Count: 3, First: hour(12), Last: hour(14), Suggestions: []string{"urn:x-y:1", "urn:x-y:2"}, Months: 1},
		{Name: "urn:x-y:c", Count: 1, First: hour(12), Last: hour(12), Months: 1},
		{Name: "urn:x-y:a", Count: 1, First: hour(14).AddDate(0, 0, -1), Last: hour(14).AddDate(0, 0, -1), Months: 1},
	}
	if d := cmp.Diff(c.List(0), want); d != "" {
		t.Errorf("got -, want +:\n%s", d)
	}
	if d := cmp.Diff(c.List(2), want[:2]); d != "" {
		t.Errorf("the first two: got -, want +:\n%s", d)
	}
	if got, want := c.Totals(), (Totals{Since: hour(12), Asked: 5}); got != want {
		t.Errorf("Totals() = %v, want %v", got, want)
	}
	was, err := c.Clear()
	if err != nil || was.Asked != 5 {
		t.Errorf("Clear() = %v, %v", was, err)
	}
	if got := c.List(0); len(got) != 0 || c.Totals().Asked != 0 {
		t.Errorf("after Clear: %v, %v", got, c.Totals())
	}
}

// A server that does not count has a nil Counter.
func TestNilCounter(t *testing.T) {
	var c *Counter
	c.Add("urn:x-y:a", nil)
	was, err := c.Clear()
	if got := c.List(0); len(got) != 0 || c.Totals() != (Totals{}) || was != (Totals{}) || err != nil || c.flush() != nil || c.Close() != nil {
		t.Errorf("a nil Counter has %v", got)
	}
}

// Each name of a flood is requested once. Names that are requested often stay, with their exact
// count, whether they were added before or during the flood.
func TestFlood(t *testing.T) {
	const names, honest, flood = 1000, 100, 100_000
	c := open(t, Options{Names: names, Now: at(noon)})
	ask := func(kind string, i int) { c.Add(fmt.Sprintf("urn:x-y:%s-%d", kind, i), nil) }
	for range 3 {
		for i := range honest {
			ask("early", i)
		}
	}
	for i := range flood {
		ask("flood", i)
		if i%100 == 0 && i > flood/10 {
			ask("late", i/100%(honest/10))
		}
	}
	kept := map[string]uint64{}
	for _, m := range c.List(0) {
		kept[m.Name] = m.Count
	}
	for i := range honest {
		if got := kept[fmt.Sprintf("urn:x-y:early-%d", i)]; got != 3 {
			t.Errorf("early-%d: count %d, want 3", i, got)
		}
	}
	for i := range honest / 10 {
		if got := kept[fmt.Sprintf("urn:x-y:late-%d", i)]; got < 80 {
			t.Errorf("late-%d: count %d, want at least 80 of 90", i, got)
		}
	}
	if len(kept) > names {
		t.Errorf("%d names, want at most %d", len(kept), names)
	}
	balanced(t, c)
}

// balanced checks that every request is counted once and that the sums are consistent.
func balanced(t interface{ Errorf(string, ...any) }, c *Counter) {
	c.mu.Lock()
	defer c.mu.Unlock()
	counted, bytes := c.totals.Other, 0
	for i, e := range c.all {
		counted += e.Count
		bytes += e.size()
		if e.index != i || c.byName[e.Name] != e || e.strength == 0 || e.strength > e.Count {
			t.Errorf("entry %d: %+v", i, e)
		}
	}
	if counted != c.totals.Asked || bytes != c.bytes || len(c.byName) != len(c.all) {
		t.Errorf("%d of %d questions, %d of %d bytes, %d of %d names", counted, c.totals.Asked, bytes, c.bytes, len(c.byName), len(c.all))
	}
	if len(c.all) > c.o.Names || c.bytes > c.o.Bytes {
		t.Errorf("%d names of %d, %d bytes of %d", len(c.all), c.o.Names, c.bytes, c.o.Bytes)
	}
}

// Whatever clients request, the limits hold and no request is lost or counted twice. A saved
// file can be read again.
func TestCounterProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.OneOf(rapid.SampledFrom([]string{"", "a", "b", "\xff", strings.Repeat("x", maxName), strings.Repeat("x", maxName+1), "<\u2028\x00>"}), rapid.StringN(0, 3, 8))
		c, err := Open(Options{
			Names: rapid.IntRange(1, 5).Draw(t, "names"), Bytes: rapid.IntRange(1, 8000).Draw(t, "bytes"),
			Now: at(noon), Random: rand.NewPCG(3, rapid.Uint64().Draw(t, "chance")),
		})
		if err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(0, 60).Draw(t, "questions") {
			c.Add(texts.Draw(t, "name"), rapid.SliceOfN(texts, 0, 7).Draw(t, "suggestions"))
			balanced(t, c)
		}
		list, totals := c.snapshot()
		var b bytes.Buffer
		if err := write(&b, list, totals); err != nil {
			t.Fatal(err)
		}
		again, totalsAgain, err := read(&b)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(again, append([]Miss(nil), list...)); d != "" || totalsAgain != totals {
			t.Fatalf("%v, want %v; got -, want +:\n%s", totalsAgain, totals, d)
		}
	})
}

// Names use memory by their length, and names that cannot be kept are counted.
func TestBytes(t *testing.T) {
	c := open(t, Options{Names: 1000, Bytes: 100_000, Now: at(noon)})
	for i := range 500 {
		c.Add(fmt.Sprintf("%d-%s", i, strings.Repeat("x", maxName-10)), []string{strings.Repeat("s", maxName), strings.Repeat("t", maxName)})
		balanced(t, c)
	}
	if n := len(c.List(0)); n < 10 {
		t.Errorf("%d names", n)
	}
	before := c.Totals()
	for _, name := range []string{"", "\xff", strings.Repeat("x", maxName+1)} {
		c.Add(name, nil)
	}
	if got := c.Totals(); got.Other != before.Other+3 || got.Asked != before.Asked+3 {
		t.Errorf("%v, before %v", got, before)
	}
}

// Counting a name again does not allocate.
func TestAddAllocations(t *testing.T) {
	c := open(t, Options{Now: at(noon)})
	suggestions := []string{"urn:x-y:b"}
	c.Add("urn:x-y:a", suggestions)
	if n := testing.AllocsPerRun(100, func() { c.Add("urn:x-y:a", suggestions) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestConcurrency(t *testing.T) {
	c := open(t, Options{File: filepath.Join(t.TempDir(), "misses"), Names: 10, Every: time.Millisecond})
	var all sync.WaitGroup
	for worker := range 8 {
		all.Go(func() {
			for i := range 300 {
				c.Add(fmt.Sprint("urn:x-y:", (i*worker)%40), []string{fmt.Sprint("urn:x-y:", i)})
				if i%50 == 0 {
					c.List(3)
					if err := c.flush(); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	all.Wait()
	if got := c.Totals().Asked; got != 8*300 {
		t.Errorf("%d questions, want %d", got, 8*300)
	}
	balanced(t, c)
}

// The file is saved periodically after a change, and at the end. The next counter continues
// with it.
func TestFlushFromTimeToTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "misses.jsonl")
		c, err := Open(Options{File: file, Every: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		counts := func() (total uint64) {
			list, _, err := Load(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range list {
				total += m.Count
			}
			return total
		}
		c.Add("urn:x-y:a", []string{"urn:x-y:b"})
		time.Sleep(59 * time.Second)
		synctest.Wait()
		if _, err := os.Stat(file); !os.IsNotExist(err) {
			t.Errorf("before the minute: %v", err)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if got := counts(); got != 1 {
			t.Errorf("after a minute: %d", got)
		}
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if _, err := os.Stat(file); !os.IsNotExist(err) {
			t.Errorf("written without need: %v", err)
		}
		c.Add("urn:x-y:a", nil)
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		if got := counts(); got != 2 {
			t.Errorf("after Close: %d", got)
		}
		again, err := Open(Options{File: file})
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(again.List(0), c.List(0)); d != "" || again.Totals() != c.Totals() {
			t.Errorf("the next one has other counts:\n%s", d)
		}
		if _, err := again.Clear(); err != nil || counts() != 0 {
			t.Errorf("Clear leaves %d: %v", counts(), err)
		}
		if err := again.Close(); err != nil {
			t.Error(err)
		}
	})
}

// Only the owner can read the file, and it does not contain the exact time of a request.
func TestPrivacy(t *testing.T) {
	file := filepath.Join(t.TempDir(), "misses.jsonl")
	c := open(t, Options{File: file, Now: at(noon)})
	c.Add("urn:x-y:a", nil)
	if err := c.flush(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	text, err := os.ReadFile(file)
	if err != nil || strings.Contains(string(text), ":34:") {
		t.Errorf("%s, %v", text, err)
	}
}

// An unreadable file is renamed. A smaller counter keeps the most frequent names of a larger
// file.
func TestOpen(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "misses.jsonl")
	for i, aside := range []string{".unread", ".unread2", ".unread3"} {
		text := fmt.Sprintf("damaged %d\n", i)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var log strings.Builder
		c, err := Open(Options{File: file, Now: at(noon), Log: slog.New(slog.NewTextHandler(&log, nil))})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(log.String(), file+aside) {
			t.Errorf("the log does not tell of %s: %s", aside, log.String())
		}
		if got, err := os.ReadFile(file + aside); string(got) != text {
			t.Errorf("%s: %q, %v", aside, got, err)
		}
		for n := range 3 {
			for range n + 1 {
				c.Add(fmt.Sprint("urn:x-y:", n), nil)
			}
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	small := open(t, Options{File: file, Names: 2, Now: at(noon)})
	balanced(t, small)
	if list := small.List(0); len(list) != 2 || list[0].Name != "urn:x-y:2" || list[1].Name != "urn:x-y:1" || small.Totals().Other != 1 {
		t.Errorf("%v, %v", list, small.Totals())
	}
	if _, err := Open(Options{File: dir}); err == nil {
		t.Error("a directory as the file: no error")
	}
}

// If the file cannot be saved, the counts stay and are saved the next time.
func TestFlushFails(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "there")
	c, err := Open(Options{File: filepath.Join(dir, "misses.jsonl"), Now: at(noon)})
	if err != nil {
		t.Fatal(err)
	}
	c.Add("urn:x-y:a", nil)
	if err := c.flush(); err == nil {
		t.Error("no error without a directory")
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if list, _, err := Load(filepath.Join(dir, "misses.jsonl")); len(list) != 1 || err != nil {
		t.Errorf("%v, %v", list, err)
	}
}

// A file that cannot be saved for hours is logged once, and once when it is saved again.
func TestFlushFailsForHours(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "there")
		var log bytes.Buffer
		c, err := Open(Options{File: filepath.Join(dir, "misses.jsonl"), Log: slog.New(slog.NewTextHandler(&log, nil))})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			c.Add("urn:x-y:a", nil)
			time.Sleep(3 * time.Hour)
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			time.Sleep(2 * time.Minute)
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		failed, again := strings.Count(log.String(), "cannot save failed lookups"), strings.Count(log.String(), "saved again")
		if failed != 2 || again != 2 {
			t.Errorf("%d and %d lines of log, want 2 and 2:\n%s", failed, again, &log)
		}
	})
}

func BenchmarkAdd(b *testing.B) {
	for _, kind := range []string{"again", "flood"} {
		b.Run(kind, func(b *testing.B) {
			c := open(b, Options{})
			names := make([]string, 1<<16)
			for i := range names {
				names[i] = fmt.Sprint("urn:x-y:", i)
			}
			for i := range b.N {
				if kind == "again" {
					i %= 1000
				}
				c.Add(names[i%len(names)], nil)
			}
		})
	}
}

// A hidden name is still counted, and stays hidden in the file.
func TestHide(t *testing.T) {
	file := filepath.Join(t.TempDir(), "misses.jsonl")
	c := open(t, Options{File: file, Now: at(noon)})
	c.Add("urn:a:1", nil)
	c.Add("urn:a:2", nil)
	if !c.Hide("urn:a:1", true) || c.Hide("urn:a:3", true) {
		t.Error("only names in the list can be hidden")
	}
	c.Add("urn:a:1", nil)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	list := open(t, Options{File: file, Now: at(noon)}).List(0)
	want := []Miss{{Name: "urn:a:1", Count: 2, First: hour(12), Last: hour(12), Hidden: true, Months: 1}, {Name: "urn:a:2", Count: 1, First: hour(12), Last: hour(12), Months: 1}}
	if d := cmp.Diff(want, list); d != "" {
		t.Error(d)
	}
	if got := Merge(want, []Miss{{Name: "urn:a:1", Count: 1, First: hour(12), Last: hour(12)}}); got[0].Hidden {
		t.Error("a name that one server shows is hidden in a merged list")
	}
}
