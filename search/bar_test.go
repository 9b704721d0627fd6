package search

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/bulk/bulktest"
	"github.com/nomen-project/nomen/internal/testrun"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/pebblestore"
)

// maxPage is how long the first page of a search may take.
const maxPage = 100 * time.Millisecond

// TestBar measures the index of NOMEN_NAMES names: how long it takes to build, how large it is, how
// much memory it takes, and how long the first pages of searches take. Without this variable, it
// measures few names. NOMEN_DIR keeps the store for further runs.
func TestBar(t *testing.T) {
	n := uint64(testrun.Repeats(20_000, 5_000))
	if text := os.Getenv("NOMEN_NAMES"); text != "" {
		var err error
		if n, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	dir := os.Getenv("NOMEN_DIR")
	if dir == "" {
		dir = t.TempDir()
	}
	s := openFilled(t, filepath.Join(dir, "store"), n)
	defer s.Close()
	where := filepath.Join(dir, "search")
	if err := os.RemoveAll(where); err != nil {
		t.Fatal(err)
	}
	x, err := Open(Options{Dir: where, Store: s})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	begun := time.Now()
	if err := x.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	took := time.Since(begun)
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	t.Logf("built %d names in %v (%.0f/s), %d bytes on disk, %d segments, %d MB of memory", n, took.Round(time.Second), float64(n)/took.Seconds(), sizeOf(t, where), len(x.segments), memory.Sys>>20)
	for _, q := range barQueries() {
		measurePage(t, x, q)
	}
}

// barQueries returns searches that are hard in different ways.
func barQueries() []store.Query {
	return []store.Query{
		{Text: "über"},        // all names
		{Text: "uuid"},        // many names, all at the end
		{Text: "kernel zlib"}, // two frequent words
		{Text: "ark handle"},  // two frequent words that no name has together
		{Text: "xyzzy"},       // no name
		{Text: "part 123456"}, // few names
		{Text: "fe20"},        // the beginning of many different words
		{Text: "handle 00"},   // a frequent word, and the beginning of very many
		{Text: "https ark 0"}, // one that no name has
		{Text: "kernel", Spans: []string{"urn:uuid:"}},
		{Text: "kernel", Status: []nomen.Status{nomen.Retired}},
		{Text: "kernel", After: "urn:dns:b"},
	}
}

func measurePage(t *testing.T, x *Index, q store.Query) {
	t.Helper()
	q.Limit = 50
	var times []time.Duration
	var page store.QueryPage
	for range 5 {
		begun := time.Now()
		var err error
		if page, err = x.Search(t.Context(), q); err != nil {
			t.Fatalf("%q: %v", q.Text, err)
		}
		times = append(times, time.Since(begun))
	}
	first := times[0]
	slices.Sort(times)
	t.Logf("%-14q %v %v after %q: %d names, more %v: first %v, median %v", q.Text, q.Spans, q.Status, q.After, len(page.Records), page.Next != "", first.Round(time.Microsecond), times[2].Round(time.Microsecond))
	if times[2] > maxPage {
		t.Errorf("%q: the first page takes %v, expected at most %v", q.Text, times[2], maxPage)
	}
}

// openFilled opens a store with n names, and fills it if it is empty.
func openFilled(t *testing.T, dir string, n uint64) *pebblestore.Store {
	t.Helper()
	s, err := pebblestore.Open(pebblestore.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if have, _, err := store.Count(t.Context(), s); err != nil || have == int64(n) {
		return s
	}
	begun := time.Now()
	fill(t, s, n)
	t.Logf("stored %d names in %v", n, time.Since(begun).Round(time.Second))
	return s
}

func fill(t *testing.T, s store.Store, n uint64) {
	t.Helper()
	lines := bufio.NewScanner(bulktest.NewReader(n, bulktest.Options{Rich: true}))
	var batch []store.Change
	flush := func() {
		if _, err := s.Apply(context.Background(), batch); err != nil {
			t.Fatal(err)
		}
		batch = batch[:0]
	}
	for lines.Scan() {
		r := new(store.Record)
		if err := json.Unmarshal(lines.Bytes(), r); err != nil {
			t.Fatal(err)
		}
		r.Name = name.MustParse(r.Spelling)
		if batch = append(batch, store.Change{Record: r, Time: time.Unix(1, 0)}); len(batch) == 10_000 {
			flush()
		}
	}
	flush()
}

// sizeOf returns the size of the files of a directory, in bytes.
func sizeOf(t *testing.T, dir string) (size int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return fmt.Errorf("%s: %w", d.Name(), err)
		}
		size += info.Size()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return size
}
