package search

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/pacer"
	"github.com/nomen-project/nomen/internal/testrun"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
	"github.com/nomen-project/nomen/store/pebblestore"
	"github.com/nomen-project/nomen/store/pgstore"
	"github.com/nomen-project/nomen/store/pgstore/pgtest"
)

// A subject is a store and its index.
type subject struct {
	*testing.T
	store  store.Store
	disk   *vfs.MemFS
	index  *Index
	random *rand.Rand
	clock  int64
}

// onStores runs a test with an index of each kind of store.
func onStores(t *testing.T, test func(s *subject)) {
	t.Run("memstore", func(t *testing.T) { test(newSubject(t, memstore.New())) })
	t.Run("pebblestore", func(t *testing.T) { test(newSubject(t, openPebble(t))) })
	if testing.Short() {
		return
	}
	t.Run("pgstore", func(t *testing.T) {
		server, err := pgtest.Start(pgtest.Options{})
		if err != nil {
			testrun.Missing(t, fmt.Sprintf("PostgreSQL (%v)", err))
		}
		t.Cleanup(func() { _ = server.Stop() })
		s, err := pgstore.Open(t.Context(), pgstore.Options{URL: server.URL()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		test(newSubject(t, s))
	})
}

func openPebble(t *testing.T) store.Store {
	t.Helper()
	s, err := pebblestore.Open(pebblestore.Options{Dir: "store", FS: vfs.NewMem(), CacheSize: 8 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func newSubject(t *testing.T, st store.Store) *subject {
	s := &subject{T: t, store: st, disk: vfs.NewCrashableMem(), random: rand.New(rand.NewPCG(1, 2)), clock: 1}
	s.open(s.disk)
	t.Cleanup(func() { _ = s.index.Close() })
	return s
}

// open opens the index on a disk. Its segments are small, so that they are often built again.
func (s *subject) open(disk vfs.FS) {
	s.Helper()
	x, err := Open(Options{Dir: "index", FS: disk, Store: s.store.(Source), baseSize: 16, extraSize: 6})
	if err != nil {
		s.Fatal(err)
	}
	s.index = x
}

func (s *subject) catchUp() {
	s.Helper()
	if err := store.Settle(s.Context(), s.store); err != nil {
		s.Fatal(err)
	}
	if err := s.index.CatchUp(s.Context()); err != nil {
		s.Fatal(err)
	}
	if st := s.index.Status(); !st.Built || st.Behind() != 0 {
		s.Fatalf("the status is %+v, expected an index that is complete", st)
	}
}

func (s *subject) apply(changes ...store.Change) {
	s.Helper()
	for i := range changes {
		s.clock++
		changes[i].Time = time.Unix(s.clock, 0)
		if r := changes[i].Record; r != nil && r.Spelling == "" {
			r.Spelling = r.Name.Key()
		}
	}
	if _, err := s.store.Apply(s.Context(), changes); err != nil {
		s.Fatal(err)
	}
}

func (s *subject) put(key, title string) {
	s.Helper()
	s.apply(store.Change{Record: &store.Record{Name: name.MustParse(key), Status: nomen.Active, Metadata: nomen.Metadata{"title": {title}}}, Expected: store.AnyRevision})
}

// keys returns the keys of all pages of a search.
func (s *subject) keys(q store.Query) (keys []string) {
	s.Helper()
	for range 10_000 {
		page, err := s.index.Search(s.Context(), q)
		if err != nil {
			s.Fatalf("%q: %v", q.Text, err)
		}
		if q.Limit > 0 && len(page.Records) > q.Limit {
			s.Fatalf("%q: got %d records, expected at most %d", q.Text, len(page.Records), q.Limit)
		}
		for _, r := range page.Records {
			keys = append(keys, r.Name.Key())
		}
		if page.Next == "" {
			return keys
		}
		if q.May != nil && !q.May(name.FromKey(page.Next)) {
			s.Fatalf("%q: the page ends at %q, which the caller must not see", q.Text, page.Next)
		}
		if page.Next <= q.After {
			s.Fatalf("%q: the page after %q continues at %q", q.Text, q.After, page.Next)
		}
		q.After = page.Next
	}
	s.Fatalf("%q: the pages do not end", q.Text)
	return nil
}

func (s *subject) finds(q store.Query, want ...string) {
	s.Helper()
	if got := s.keys(q); !slices.Equal(got, want) {
		s.Fatalf("%q %v %v: got %q, want %q", q.Text, q.Spans, q.Status, got, want)
	}
}

// A model knows which words each name has, without splitting texts.
type model map[string]modelRecord

type modelRecord struct {
	words  []string
	status nomen.Status
}

func vocabulary() []string {
	return []string{"album", "alba", "archive", "berlin", "berliner", "codex", "codice", "data", "dataset", "x1", "x12", "x123"}
}

func modelPrefixes() []string {
	return []string{"urn:dns:a.example.org:", "urn:dns:b.example.org.uk:", "urn:dns:b.example.org:"}
}

// change makes random changes of the store and the model.
func (s *subject) change(m model, n int) {
	s.Helper()
	var changes []store.Change
	for range n {
		p := modelPrefixes()[s.random.IntN(3)]
		key := fmt.Sprintf("%sn%03d", p, s.random.IntN(60))
		var words []string
		for range s.random.IntN(4) {
			words = append(words, vocabulary()[s.random.IntN(12)])
		}
		old, exists := m[key]
		status := []nomen.Status{nomen.Active, nomen.Reserved, nomen.Retired}[s.random.IntN(3)]
		switch {
		case exists && old.status == nomen.Reserved && s.random.IntN(3) == 0:
			delete(m, key)
			changes = append(changes, store.Change{Delete: name.MustParse(key), Expected: store.AnyRevision})
			continue
		case exists && old.status != nomen.Reserved && status == nomen.Reserved:
			status = nomen.Active
		}
		m[key] = modelRecord{words, status}
		r := &store.Record{Name: name.MustParse(key), Status: status, Metadata: nomen.Metadata{"title": {strings.Join(words, " ")}}}
		if status == nomen.Retired {
			r.Reason = "gone"
		}
		changes = append(changes, store.Change{Record: r, Expected: store.AnyRevision})
	}
	s.apply(changes...)
}

// find returns what a search must find.
func (m model) find(q store.Query) (keys []string) {
	for key, r := range m {
		if len(q.Status) > 0 && !slices.Contains(q.Status, r.status) {
			continue
		}
		if q.Spans != nil && !slices.ContainsFunc(q.Spans, func(p string) bool { return strings.HasPrefix(key, p) }) {
			continue
		}
		words := strings.Fields(q.Text)
		last := words[len(words)-1]
		ok := slices.ContainsFunc(r.words, func(w string) bool { return strings.HasPrefix(w, last) })
		for _, w := range words[:len(words)-1] {
			ok = ok && slices.Contains(r.words, w)
		}
		if ok {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// query returns a random query.
func (s *subject) query() store.Query {
	words := vocabulary()
	text := []string{words[s.random.IntN(12)]}
	for range s.random.IntN(3) {
		text = append(text, words[s.random.IntN(12)])
	}
	if s.random.IntN(2) == 0 {
		last := &text[len(text)-1]
		*last = (*last)[:2]
	}
	q := store.Query{Text: strings.Join(text, " "), Limit: 1 + s.random.IntN(8)}
	if s.random.IntN(3) == 0 {
		q.Status = []nomen.Status{nomen.Active, nomen.Reserved, nomen.Retired}[s.random.IntN(3):]
	}
	if s.random.IntN(3) == 0 {
		q.Spans = modelPrefixes()[s.random.IntN(3):]
	}
	return q
}

func (s *subject) compare(m model) {
	s.Helper()
	for range 40 {
		q := s.query()
		s.finds(q, m.find(q)...)
	}
}

// TestSearch compares searches with a model after random changes.
func TestSearch(t *testing.T) {
	onStores(t, func(s *subject) {
		m := model{}
		s.catchUp()
		s.compare(m)
		for range 12 {
			s.change(m, 1+s.random.IntN(40))
			s.catchUp()
			s.compare(m)
		}
		if len(s.index.segments) < 3 {
			s.Errorf("the index has %d segments, expected several", len(s.index.segments))
		}
	})
}

// TestBehind checks that a search never returns a wrong record, even if the index does not have the
// last changes yet.
func TestBehind(t *testing.T) {
	onStores(t, func(s *subject) {
		m := model{}
		s.change(m, 100)
		s.catchUp()
		s.change(m, 60)
		if err := store.Settle(s.Context(), s.store); err != nil {
			s.Fatal(err)
		}
		for range 60 {
			q := s.query()
			want := m.find(q)
			for _, key := range s.keys(q) {
				if !slices.Contains(want, key) {
					s.Errorf("%q found %s, which has %+v", q.Text, key, m[key])
				}
			}
		}
	})
}

// TestRedacted checks that redacted and deleted words are not found from the moment of the change
// on, and that they later disappear from the index.
func TestRedacted(t *testing.T) {
	onStores(t, func(s *subject) {
		const secret, other = "urn:dns:example.org:s", "urn:dns:example.org:t"
		s.put(secret, "Geheimakte Müller")
		s.put(other, "Geheimakte Meier")
		s.put(secret, "Akte Müller")
		s.apply(store.Change{Record: &store.Record{Name: name.MustParse("urn:dns:example.org:u"), Status: nomen.Reserved, Metadata: nomen.Metadata{"title": {"Geheimakte Schulze"}}}})
		s.catchUp()
		s.finds(store.Query{Text: "geheimakte"}, other, "urn:dns:example.org:u")
		s.finds(store.Query{Text: "mueller"})
		s.finds(store.Query{Text: "muller"}, secret)
		s.apply(
			store.Change{Record: &store.Record{Name: name.MustParse(secret), Status: nomen.Active}, Expected: 2, Redacts: []uint64{1, 2}},
			store.Change{Delete: name.MustParse("urn:dns:example.org:u"), Expected: store.AnyRevision},
		)
		s.finds(store.Query{Text: "muller"})
		s.finds(store.Query{Text: "akte"})
		s.finds(store.Query{Text: "schulze"})
		if !s.hasWord("muller") {
			s.Fatal("the index does not have the word before it is redacted: the test shows nothing")
		}
		if err := s.index.db.Flush(); err != nil {
			s.Fatal(err)
		}
		if !s.tableHas("muller") {
			s.Fatal("no file has the word before it is redacted: the test shows nothing")
		}
		s.catchUp()
		s.finds(store.Query{Text: "geheimakte"}, other)
		if s.hasWord("muller") || s.hasWord("akte") {
			s.Error("the index has redacted words")
		}
		if s.tableHas("muller") {
			s.Error("a file has redacted words")
		}
	})
}

// tableHas reports whether a file of the index has a word, even if the index does not use it. It
// does not look into files that the database is about to remove.
func (s *subject) tableHas(word string) (found bool) {
	s.Helper()
	levels, err := s.index.db.SSTables()
	if err != nil {
		s.Fatal(err)
	}
	for _, level := range levels {
		for _, table := range level {
			found = s.fileHas(fmt.Sprintf("index/%s.sst", table.FileNum), "w"+word+"\x00") || found
		}
	}
	return found
}

func (s *subject) fileHas(file, text string) (found bool) {
	s.Helper()
	f, err := s.disk.Open(file)
	if err != nil {
		s.Fatal(err)
	}
	readable, err := sstable.NewSimpleReadable(f)
	if err != nil {
		s.Fatal(err)
	}
	var o pebble.Options
	o.EnsureDefaults()
	r, err := sstable.NewReader(s.Context(), readable, o.MakeReaderOptions())
	if err != nil {
		s.Fatal(err)
	}
	defer r.Close()
	it, err := r.NewIter(sstable.NoTransforms, nil, nil, sstable.AssertNoBlobHandles)
	if err != nil {
		s.Fatal(err)
	}
	defer it.Close()
	for kv := it.First(); kv != nil; kv = it.Next() {
		found = found || strings.Contains(string(kv.K.UserKey), text)
	}
	return found
}

// hasWord reports whether any segment has a word.
func (s *subject) hasWord(word string) bool {
	it, err := s.index.db.NewIter(nil)
	if err != nil {
		s.Fatal(err)
	}
	defer it.Close()
	for ok := it.First(); ok; ok = it.Next() {
		if strings.Contains(string(it.Key()), "w"+word+"\x00") {
			return true
		}
	}
	return false
}

// TestCrash checks that, after a crash at any time, the index continues with what was on disk.
func TestCrash(t *testing.T) {
	s := newSubject(t, memstore.New())
	m := model{}
	for range 25 {
		s.change(m, 1+s.random.IntN(40))
		ctx := &endingContext{Context: t.Context(), left: s.random.IntN(12)}
		_ = s.index.CatchUp(ctx) // interrupted
		crashed := s.disk.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: s.random.IntN(101), RNG: s.random})
		if err := s.index.Close(); err != nil {
			t.Fatal(err)
		}
		s.disk = crashed
		s.open(crashed)
		if s.random.IntN(2) == 0 {
			s.catchUp()
			s.compare(m)
		}
	}
	s.catchUp()
	s.compare(m)
	if n := segmentsOnDisk(t, s.index); n > len(s.index.segments) {
		t.Errorf("the disk has %d segments, expected at most %d", n, len(s.index.segments))
	}
}

// TestRemains checks that the data of an interrupted build is not found, and is removed.
func TestRemains(t *testing.T) {
	s := newSubject(t, memstore.New())
	s.put("urn:dns:example.org:a", "alpha")
	s.catchUp()
	left := func(number uint32) {
		g := segment{number: number}
		if err := s.index.db.Set(g.appendWord(nil, []byte("omega")), appendNumbers(nil, []uint16{0}), pebble.Sync); err != nil {
			t.Fatal(err)
		}
	}
	left(s.index.segments.next())
	for i := range 30 { // more than the segment can have
		s.put(fmt.Sprintf("urn:dns:example.org:b%d", i), "beta")
	}
	s.catchUp()
	if s.hasWord("omega") {
		t.Error("a new segment has what was left under its number")
	}
	left(77)
	if err := s.index.Close(); err != nil {
		t.Fatal(err)
	}
	s.open(s.disk)
	if s.hasWord("omega") {
		t.Error("an opened index has what was left")
	}
	if !s.hasWord("beta") {
		t.Error("an opened index lacks a word")
	}
}

// An endingContext ends after a number of calls of its method Err.
type endingContext struct {
	context.Context
	left int
}

func (c *endingContext) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

func segmentsOnDisk(t *testing.T, x *Index) int {
	t.Helper()
	it, err := x.db.NewIter(&pebble.IterOptions{LowerBound: []byte{spaceData}, UpperBound: []byte{spaceData + 1}})
	if err != nil {
		t.Fatal(err)
	}
	defer it.Close()
	numbers := map[string]bool{}
	for ok := it.First(); ok; ok = it.Next() {
		numbers[string(it.Key()[:5])] = true
	}
	return len(numbers)
}

// TestOtherLog checks that the index of another store, or of a store that has lost changes, is
// built again.
func TestOtherLog(t *testing.T) {
	s := newSubject(t, memstore.New())
	s.put("urn:dns:example.org:a", "alpha")
	s.put("urn:dns:example.org:b", "beta")
	s.catchUp()
	for _, title := range []string{"gamma", "omega"} {
		if err := s.index.Close(); err != nil {
			t.Fatal(err)
		}
		s.store = memstore.New()
		s.put("urn:dns:example.org:c", title)
		if title != "gamma" {
			s.put("urn:dns:example.org:d", title)
		}
		s.open(s.disk)
		s.catchUp()
		s.finds(store.Query{Text: "alpha"})
		s.finds(store.Query{Text: title}, s.names()...)
	}
}

// names returns the keys of all names of the store.
func (s *subject) names() (keys []string) {
	for r, err := range s.store.List(s.Context(), store.Scan{}) {
		if err != nil {
			s.Fatal(err)
		}
		keys = append(keys, r.Name.Key())
	}
	return keys
}

// TestDamaged checks that an index that cannot be read is built again, when it is opened and while
// it is used.
func TestDamaged(t *testing.T) {
	s := newSubject(t, memstore.New())
	s.put("urn:dns:example.org:a", "alpha")
	damage := map[string]func() error{
		"position": func() error { return s.index.db.Set([]byte{spaceMeta}, []byte("{"), pebble.Sync) },
		"version":  func() error { return s.index.db.Set([]byte{spaceMeta}, []byte(`{"version":99}`), pebble.Sync) },
		"segment":  func() error { return s.index.db.Set([]byte{spaceSegment, 'x'}, []byte("1"), pebble.Sync) },
		"data":     func() error { return s.index.db.Set([]byte{spaceData, 1}, nil, pebble.Sync) },
	}
	for what, f := range damage {
		s.catchUp()
		if err := errors.Join(f(), s.index.Close()); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		s.open(s.disk)
		s.catchUp()
		s.finds(store.Query{Text: "alpha"}, "urn:dns:example.org:a")
	}
	g := s.index.segments[0]
	for what, key := range map[string][]byte{"numbers": g.appendWord(nil, []byte("alpha")), "name": g.appendName(nil, 0)} {
		g = s.index.segments[0]
		key = append(data(g.number), key[5:]...)
		var err error
		if what == "name" {
			err = s.index.db.Delete(key, pebble.Sync)
		} else {
			err = s.index.db.Set(key, []byte("?"), pebble.Sync)
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.index.Search(t.Context(), store.Query{Text: "alpha"}); !errors.Is(err, errForm) {
			t.Fatalf("%s: got %v, want %v", what, err, errForm)
		}
		s.catchUp()
		s.finds(store.Query{Text: "alpha"}, "urn:dns:example.org:a")
	}
}

// TestBounds checks that each page has a bounded cost, and that all pages together are complete.
func TestBounds(t *testing.T) {
	s := newSubject(t, memstore.New())
	m := model{}
	for range 4 {
		s.change(m, 60)
	}
	s.catchUp()
	s.index.o.steps = 1
	empty := 0
	for range 60 {
		q := s.query()
		s.finds(q, m.find(q)...)
		if page, err := s.index.Search(t.Context(), q); err == nil && page.Next != "" && len(page.Records) == 0 {
			empty++
		}
	}
	if empty == 0 {
		t.Error("no page ended early: the test shows nothing")
	}
}

// TestMay checks that names that the caller must not see are not returned, and that no page ends at
// such a name.
func TestMay(t *testing.T) {
	s := newSubject(t, memstore.New())
	var want []string
	for i := range 80 {
		key := fmt.Sprintf("urn:dns:example.org:%03d", i)
		s.put(key, "alpha")
		if i%20 == 7 {
			want = append(want, key)
		}
	}
	s.catchUp()
	may := func(n name.Name) bool { return slices.Contains(want, n.Key()) }
	s.finds(store.Query{Text: "alpha", May: may, Limit: 1}, want...)
	s.index.o.steps = 1
	s.finds(store.Query{Text: "alpha", May: may}, want...)
	s.finds(store.Query{Text: "alpha", Spans: []string{}})
}

// TestQueries checks which texts find a name.
func TestQueries(t *testing.T) {
	s := newSubject(t, memstore.New())
	const key = "urn:nbn:fi:library-fe20261123"
	s.apply(store.Change{Record: &store.Record{
		Name: name.MustParse(key), Status: nomen.Active,
		Metadata: nomen.Metadata{
			"title":      {"Über die Straße: Łódź, naïve ŒUVRE, 東京の本 und ภาษาไทย"},
			"identifier": {"ISBN 978-3-16-148410-0"},
			"creator":    {"O'Neill, Zoë"},
		},
		Locations: []nomen.Location{{URL: "https://www.example.fi/handle/10024/K%C3%A4ytt%C3%B6?id=77", Note: "mirror"}},
		SameAs:    []string{"doi:10.5072/abc"},
		Values: []nomen.Value{
			{Index: 2, Type: "EMAIL", Data: "curator@example.fi"},
			{Index: 300, Type: "HS_SECKEY", Data: "hush", Permissions: "1100"},
			{Index: 301, Type: "HS_PUBKEY", Data: "Zm9vYmFyYmF6", Format: nomen.FormatBase64},
		},
	}})
	s.catchUp()
	for _, tt := range []struct {
		text string
		want bool
	}{
		{"uber", true},
		{"ÜBER", true},
		{"u\u0308ber", true},
		{"strasse", true},
		{"STRASSE", true},
		{"straße", true},
		{"strase", false},
		{"łódź", true},
		{"NAIVE œuvre", true},
		{"東京", true},
		{"京", true},
		{"大", false},
		{"ไทย", true},
		{"978-3-16-148410-0", true},
		{"9783161484100", true},
		{"97831614", true},
		{"978-3-16", true},
		{"16-148410", true},
		{"148410", true},
		{"8410", false},
		{"o'neill", true},
		{"neill zoe", true},
		{"zoe neill over", false},
		{key, true},
		{"fe20261123", true},
		{"fe2026", true},
		{"library-fe", true},
		{"fi library", true},
		{"20261123", false},
		{"https://www.example.fi/handle/10024/K%C3%A4ytt%C3%B6?id=77", true},
		{"www.example.fi/handle/10024", true},
		{"kaytto", true},
		{"Käyttö", true},
		{"handle 77", true},
		{"mirror", true},
		{"10.5072/abc", true},
		{"10.5072/b", false},
		{"b", false},
		{"u", false},
		{"uber uber", true},
		{"active", false},
		{"retired", false},
		{"curator@example.fi", true},
		{"hush", false},
		{"Zm9vYmFyYmF6", false},
	} {
		got := len(s.keys(store.Query{Text: tt.text})) > 0
		if got != tt.want {
			t.Errorf("%q: found %v, want %v", tt.text, got, tt.want)
		}
	}
	for text, want := range map[string]error{"": store.ErrNoWords, " -/:\u0301": store.ErrNoWords, strings.Repeat("a ", store.MaxQueryWords+1): store.ErrTooManyWords} {
		if _, err := s.index.Search(t.Context(), store.Query{Text: text}); !errors.Is(err, want) {
			t.Errorf("%q: got %v, want %v", text, err, want)
		}
	}
}

// TestLimits checks that long words and long records are indexed up to their limits.
func TestLimits(t *testing.T) {
	s := newSubject(t, memstore.New())
	const key = "urn:dns:example.org:long"
	word := strings.Repeat("ж", 60)
	var all strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&all, "w%d ", i)
	}
	s.apply(store.Change{Record: &store.Record{Name: name.MustParse(key), Status: nomen.Active, Metadata: nomen.Metadata{"title": {word, all.String()}, "z": {strings.Repeat("1 ", 30_000), "last"}}}})
	s.catchUp()
	s.finds(store.Query{Text: word}, key)
	s.finds(store.Query{Text: word + "b"}, key) // only the beginning is compared
	s.finds(store.Query{Text: "w7777"}, key)
	s.finds(store.Query{Text: "last"})
}

// TestHuge checks that a segment with many words has few names, so that its builder needs little
// memory.
func TestHuge(t *testing.T) {
	b := newBuilder()
	for i := range 200_000 {
		b.keys = append(b.keys[:0], "a")
		b.add(fmt.Appendf(nil, "%064d", i))
		if b.full(10) {
			t.Fatalf("full after %d words", i)
		}
	}
	for i := range 400_000 {
		b.add(fmt.Appendf(nil, "x%063d", i))
	}
	if !b.full(10) {
		t.Errorf("not full with %d words of %d bytes", len(b.lists), b.bytes)
	}
}

// TestRun checks that Run follows the store while it is searched, and that Close waits for
// searches.
func TestRun(t *testing.T) {
	s := newSubject(t, memstore.New())
	m := model{}
	s.change(m, 50)
	s.index.o.Every = time.Millisecond
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { s.index.Run(ctx) })
	for range 4 {
		running.Go(func() {
			for ctx.Err() == nil {
				if _, err := s.index.Search(t.Context(), store.Query{Text: "al"}); err != nil {
					t.Error(err)
					return
				}
				s.index.Status()
			}
		})
	}
	for range 10 {
		s.change(m, 30)
	}
	for st := s.index.Status(); !st.Built || st.Position < headOf(t, s.store).Size; st = s.index.Status() {
		time.Sleep(time.Millisecond)
	}
	cancel()
	running.Wait()
	s.compare(m)
	if err := s.index.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.index.Search(t.Context(), store.Query{Text: "al"}); !errors.Is(err, ErrClosed) {
		t.Errorf("got %v, want %v", err, ErrClosed)
	}
	if err := s.index.CatchUp(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("got %v, want %v", err, ErrClosed)
	}
}

// TestBusy checks that indexing waits while the log grows fast, but not for ever.
func TestBusy(t *testing.T) {
	s := newSubject(t, memstore.New())
	now := time.Unix(1000, 0)
	s.index.o.Now = func() time.Time { return now }
	for i, tt := range []struct {
		passed  time.Duration
		changes int
		want    bool
	}{
		{0, 2000, false}, // how fast it grows is not known yet
		{time.Second, 500, false},
		{time.Second, 1500, true},
		{time.Second / 2, 0, true}, // too early to tell
		{time.Second, 0, false},
		{2 * time.Second, 1500, false},
		{time.Second, 1500, true},
		{maxPostponed, busyRate*int(maxPostponed/time.Second) + 1, false},
	} {
		now = now.Add(tt.passed)
		s.index.o.Store = grownFeed{s.index.o.Store, &s.clock}
		s.clock += int64(tt.changes)
		if got := s.index.busy(t.Context()); got != tt.want {
			t.Errorf("step %d: got %v, want %v", i, got, tt.want)
		}
	}
}

// A grownFeed is a feed that reports any size for its log.
type grownFeed struct {
	Source
	size *int64
}

func (f grownFeed) Head(context.Context) (store.Head, error) {
	return store.Head{Size: uint64(*f.size)}, nil
}

func headOf(t *testing.T, s store.Store) store.Head {
	t.Helper()
	h, err := store.HeadOf(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// A server that builds or extends the index rests while it answers requests: when it reads the
// records, and when it sorts and writes the words.
func TestRunRests(t *testing.T) {
	s := newSubject(t, openPebble(t))
	change := func(what string) {
		var changes []store.Change
		for i := range 4000 {
			n := name.FromKey(fmt.Sprintf("urn:dns:example.org:%06d", i))
			changes = append(changes, store.Change{Record: &store.Record{Name: n, Status: nomen.Active, Metadata: nomen.Metadata{"title": {fmt.Sprintf("%s %d of %x", what, i, i)}}}, Expected: store.AnyRevision})
		}
		s.apply(changes...)
	}
	change("title")
	p := pacer.New()
	ctx := pacer.With(t.Context(), p)
	b := newBuilder()
	rests := func(what string, do func() error) {
		t.Helper()
		before := p.Rested()
		p.Request()
		if err := do(); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if p.Rested()-before < time.Millisecond {
			t.Errorf("%s: did not rest", what)
		}
	}
	s.index.o.baseSize, s.index.o.extraSize = baseSize, extraSize
	rests("reading", func() error { _, _, err := s.index.read(ctx, b, "", ""); return err })
	w := writer{turn: p.Begin(), done: t.Context().Done()}
	rests("sorting", func() error { w.sorted(b.words); return nil })
	rests("writing", func() error { return b.write(ctx, s.index.db.DB, &segment{number: 1 << 20}) })
	s.catchUp()
	change("next")
	rests("following", func() error { _, err := s.index.follow(ctx); return err })
	s.index.o.Pacer, s.index.o.Every = p, time.Hour // it follows the log once, and waits then
	change("last")
	rests("Run", func() error {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		var running sync.WaitGroup
		running.Go(func() { s.index.Run(ctx) })
		for s.index.Status().Position < 12000 && ctx.Err() == nil {
			runtime.Gosched()
		}
		cancel()
		running.Wait()
		return nil
	})
}
