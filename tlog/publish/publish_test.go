package publish_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
	"github.com/nomen-project/nomen/store/pebblestore"
	"github.com/nomen-project/nomen/tlog"
	"github.com/nomen-project/nomen/tlog/publish"
	"github.com/nomen-project/nomen/tlog/receipt"
	"github.com/nomen-project/nomen/tlog/witness"
)

const origin = "names.example.org/-/log"

// newKey returns a key for the origin of the tests.
func newKey(t testing.TB, name string, witness bool) (skey string, v note.Verifier) {
	t.Helper()
	skey, vkey, err := tlog.GenerateKey(rand.Reader, name, witness)
	if err != nil {
		t.Fatal(err)
	}
	if v, err = tlog.NewVerifier(vkey); err != nil {
		t.Fatal(err)
	}
	return skey, v
}

// put makes n changes of m names under urn:x-a:.
func put(t testing.TB, s store.Store, n, m int, status nomen.Status) {
	t.Helper()
	var batch []store.Change
	flush := func() {
		if _, err := s.Apply(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
		batch = nil
	}
	for i := range n {
		rec := &store.Record{Name: name.MustParse(fmt.Sprintf("urn:x-a:%s%d", status[:1], i%m)), Status: status, Locations: []nomen.Location{{URL: "https://example.org/" + rand.Text()}}}
		rec.Spelling = rec.Name.Key()
		if batch = append(batch, store.Change{Record: rec, Expected: store.AnyRevision, Time: time.Now()}); len(batch) == 1000 {
			flush()
		}
	}
	if len(batch) > 0 {
		flush()
	}
}

// listed makes the authority of the names of the tests.
func listed(t testing.TB, s store.Store, list bool) {
	t.Helper()
	a := &store.Authority{Prefix: name.PrefixFromKey("urn:x-a"), List: list}
	if _, err := s.Apply(t.Context(), []store.Change{{Authority: a, Expected: store.AnyRevision, Time: time.Now()}}); err != nil {
		t.Fatal(err)
	}
}

func options(t testing.TB, s store.Store, skey, file string) publish.Options {
	t.Helper()
	src, err := publish.SourceOf(s)
	if err != nil {
		t.Fatal(err)
	}
	return publish.Options{Store: src, Authorities: store.NewTable(s, time.Now, 0), Key: skey, File: file, Entries: true}
}

func open(t testing.TB, o publish.Options) *publish.Log {
	t.Helper()
	l, err := publish.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// step publishes, and returns the verified checkpoint.
func step(t testing.TB, l *publish.Log, v note.Verifier) tlog.Checkpoint {
	t.Helper()
	if err := l.Step(t.Context()); err != nil {
		t.Fatalf("Step: %v", err)
	}
	text, err := l.Checkpoint()
	if err != nil {
		t.Fatal(err)
	}
	signed, err := tlog.Open(text, v)
	if err != nil {
		t.Fatal(err)
	}
	return signed.Checkpoint
}

// tiles reads the tiles of a published log.
type tiles struct{ *publish.Log }

func (r tiles) ReadTile(ctx context.Context, path string) ([]byte, error) {
	t, err := tlog.ParseTilePath(path)
	if err != nil {
		return nil, err
	}
	return r.Tile(ctx, t)
}

// TestPublish checks that checkpoints follow each other, and that the tiles and bundles are those of
// the checkpoint.
func TestPublish(t *testing.T) {
	s := memstore.New()
	skey, v := newKey(t, origin, false)
	l := open(t, options(t, s, skey, filepath.Join(t.TempDir(), "log.json")))
	if _, err := l.Checkpoint(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("before the first step: %v, want ErrNotExist", err)
	}
	if c := step(t, l, v); c.Size != 0 || c.Root != tlog.EmptyRoot() {
		t.Errorf("the empty log: %+v", c)
	}
	listed(t, s, true)
	for _, n := range []int{1, 254, 1, 300, 700} {
		put(t, s, n, 50, nomen.Active)
		c := step(t, l, v)
		head, err := s.Head(t.Context())
		if err != nil || c.Size != head.Size || c.Root != head.Hash {
			t.Fatalf("checkpoint %d %x, head %v, %v", c.Size, c.Root, head, err)
		}
		tree := tlog.NewTree(tiles{l}, c)
		for _, older := range []uint64{1, c.Size / 2, c.Size} {
			root, err := tree.RootAt(t.Context(), older)
			if err != nil {
				t.Fatal(err)
			}
			proof, err := tree.ProveConsistency(t.Context(), older)
			if err != nil || tlog.CheckConsistency(proof, tlog.Checkpoint{Origin: origin, Size: older, Root: root}, c) != nil {
				t.Errorf("consistency of %d and %d is not proved: %v", older, c.Size, err)
			}
		}
		checkBundles(t, l, tree)
	}
	again := open(t, options(t, s, skey, ""))
	if c := step(t, again, v); c.Size != 1257 {
		t.Errorf("after a restart: %d entries", c.Size)
	}
	first, _ := l.Checkpoint()
	second, _ := again.Checkpoint()
	if !bytes.Equal(first, second) {
		t.Errorf("after a restart, another checkpoint is published:\n%s%s", first, second)
	}
}

// checkBundles checks each bundle, also narrower than it is, against the hashes in the tiles.
func checkBundles(t *testing.T, l *publish.Log, tree *tlog.Tree) {
	t.Helper()
	size := tree.Checkpoint().Size
	for tile := range tlog.Tiles(size, true) {
		if tile.Level != tlog.EntriesLevel {
			break
		}
		for _, w := range []int{1, tile.Width/2 + 1, tile.Width} {
			narrow := tile
			narrow.Width = w
			data, err := l.Tile(t.Context(), narrow)
			if err != nil {
				t.Fatalf("%s: %v", narrow, err)
			}
			entries, err := tlog.ParseBundle(data, w)
			if err != nil {
				t.Fatalf("%s: %v", narrow, err)
			}
			hashes, err := tree.EntryHashes(t.Context(), tile.N*tlog.TileWidth, w)
			if err != nil {
				t.Fatal(err)
			}
			for i, e := range entries {
				if tlog.EntryHash(e) != hashes[i] {
					t.Errorf("%s: entry %d does not have the hash in the tile", narrow, i)
				}
			}
		}
	}
	for _, beyond := range []tlog.Tile{{N: size / 256, Width: int(size%256) + 1}, {N: size/256 + 1, Width: 1}, {Level: tlog.EntriesLevel, N: size / 256, Width: 256}, {Level: 7, Width: 1}} {
		if beyond.Width > 256 {
			continue
		}
		if data, err := l.Tile(t.Context(), beyond); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s of %d entries: %d bytes, %v, want ErrNotExist", beyond, size, len(data), err)
		}
	}
}

// TestEntriesNotShown checks that no bundle shows a name that is reserved, was deleted, or is not
// listed by its authority, and that bundles are off by default.
func TestEntriesNotShown(t *testing.T) {
	for _, tt := range []struct {
		name string
		make func(s store.Store)
		want error
	}{
		{"public", func(s store.Store) { listed(t, s, true) }, nil},
		{"unlisted", func(s store.Store) { listed(t, s, false) }, publish.ErrNotShown},
		{"no authority", func(store.Store) {}, publish.ErrNotShown},
		{"unlisted later", func(s store.Store) { listed(t, s, true); listed(t, s, false) }, publish.ErrNotShown},
		{"access denied", func(s store.Store) {
			a := &store.Authority{Prefix: name.PrefixFromKey("urn:x-a"), List: true, Policy: store.Policy{Access: "denied"}}
			if _, err := s.Apply(t.Context(), []store.Change{{Authority: a, Expected: store.AnyRevision, Time: time.Now()}}); err != nil {
				t.Fatal(err)
			}
		}, publish.ErrNotShown},
		{"reserved", func(s store.Store) { listed(t, s, true); put(t, s, 1, 1, nomen.Reserved) }, publish.ErrNotShown},
		{"deleted", func(s store.Store) {
			listed(t, s, true)
			put(t, s, 1, 1, nomen.Reserved)
			if _, err := s.Apply(t.Context(), []store.Change{{Delete: name.MustParse("urn:x-a:r0"), Expected: store.AnyRevision, Time: time.Now()}}); err != nil {
				t.Fatal(err)
			}
		}, publish.ErrNotShown},
		{"reserved, then public", func(s store.Store) {
			listed(t, s, true)
			put(t, s, 1, 1, nomen.Reserved)
			rec := &store.Record{Name: name.MustParse("urn:x-a:r0"), Spelling: "urn:x-a:r0", Status: nomen.Active}
			if _, err := s.Apply(t.Context(), []store.Change{{Record: rec, Expected: store.AnyRevision, Time: time.Now()}}); err != nil {
				t.Fatal(err)
			}
		}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := memstore.New()
			put(t, s, 3, 3, nomen.Active)
			tt.make(s)
			skey, v := newKey(t, origin, false)
			o := options(t, s, skey, "")
			l := open(t, o)
			c := step(t, l, v)
			bundle := tlog.Tile{Level: tlog.EntriesLevel, Width: int(c.Size)}
			for width := 1; width <= int(c.Size); width++ { // in any width, so that no width shows which entry is hidden
				narrow := tlog.Tile{Level: tlog.EntriesLevel, Width: width}
				data, err := l.Tile(t.Context(), narrow)
				if !errors.Is(err, tt.want) || (tt.want != nil && data != nil) {
					t.Errorf("bundle of width %d: %q, %v, want %v", width, data, err, tt.want)
				}
				if entries, err := tlog.ParseBundle(data, width); tt.want == nil && err != nil {
					t.Errorf("bundle of width %d: %d entries, %v", width, len(entries), err)
				}
			}
			if _, err := l.Tile(t.Context(), tlog.Tile{Width: int(c.Size)}); err != nil {
				t.Errorf("tile: %v, want the tile in any case", err)
			}
			dir := t.TempDir()
			if sum, err := publish.Export(t.Context(), o, dir, true, nil); err != nil || sum.Hidden > 0 != (tt.want != nil) {
				t.Errorf("export with entries: %+v, %v", sum, err)
			}
			data, immutable, err := l.File(t.Context(), publish.ShownPath(bundle))
			if err != nil || immutable {
				t.Fatalf("the entries that are shown: %v", err)
			}
			checkShown(t, l, data, tt.want != nil)
			exported, err := os.ReadFile(filepath.Join(dir, publish.ShownPath(bundle)))
			if tt.want != nil && (err != nil || !bytes.Equal(exported, data)) {
				t.Errorf("the exported entries: %q, %v, want %q", exported, err, data)
			}
			if _, err := os.Stat(filepath.Join(dir, bundle.Path())); (err == nil) != (tt.want == nil) {
				t.Errorf("the exported bundle: %v", err)
			}
			if _, err := publish.Export(t.Context(), o, t.TempDir(), false, nil); err != nil {
				t.Errorf("export: %v", err)
			}
			o.Entries = false
			off := open(t, o)
			step(t, off, v)
			if data, err := off.Tile(t.Context(), bundle); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("without entries: %q, %v, want ErrNotExist", data, err)
			}
		})
	}
}

// world has a store in a directory that can be backed up and restored.
type world struct {
	t                *testing.T
	dir, file, store string
	skey             string
	v                note.Verifier
}

func newWorld(t *testing.T) *world {
	dir := t.TempDir()
	w := &world{t: t, dir: dir, file: filepath.Join(dir, "log.json"), store: filepath.Join(dir, "store")}
	w.skey, w.v = newKey(t, origin, false)
	return w
}

// with opens the store and its publication, and closes the store afterwards.
func (w *world) with(f func(s *pebblestore.Store, l *publish.Log)) {
	w.t.Helper()
	s, err := pebblestore.Open(pebblestore.Options{Dir: w.store})
	if err != nil {
		w.t.Fatal(err)
	}
	defer s.Close()
	f(s, open(w.t, options(w.t, s, w.skey, w.file)))
}

// refuses checks that publication stops with a problem, and that the checkpoint stays what it was.
func (w *world) refuses(l *publish.Log, problem string) {
	w.t.Helper()
	if err := l.Step(w.t.Context()); err == nil || !strings.Contains(err.Error(), problem) {
		w.t.Errorf("Step: %v, want %q", err, problem)
	}
	if p := l.Status().Problem; !strings.Contains(p, problem) {
		w.t.Errorf("the status has the problem %q, want %q", p, problem)
	}
	if _, err := l.Tile(w.t.Context(), tlog.Tile{Width: 1}); err == nil {
		w.t.Error("a tile is served that contradicts the checkpoint")
	}
}

// TestRollback checks that no checkpoint is signed that contradicts a published one: after an older
// backup was restored, with and without further changes, and with a fork. A new origin can begin.
func TestRollback(t *testing.T) {
	w := newWorld(t)
	backup := filepath.Join(w.dir, "backup")
	w.with(func(s *pebblestore.Store, l *publish.Log) {
		put(t, s, 300, 300, nomen.Active)
		step(t, l, w.v)
		if err := s.Backup(t.Context(), backup, nil); err != nil {
			t.Fatal(err)
		}
		put(t, s, 40, 10, nomen.Active)
		if c := step(t, l, w.v); c.Size != 340 {
			t.Fatalf("%d entries", c.Size)
		}
	})
	if err := os.RemoveAll(w.store); err != nil {
		t.Fatal(err)
	}
	if _, err := pebblestore.Restore(t.Context(), pebblestore.RestoreOptions{From: backup, To: w.store}); err != nil {
		t.Fatal(err)
	}
	w.with(func(s *pebblestore.Store, l *publish.Log) {
		w.refuses(l, "only 300: an older backup was restored")
		put(t, s, 40, 20, nomen.Active) // a fork: the same size, with other changes
		w.refuses(l, "does not continue the published checkpoint with 340 entries")
		put(t, s, 40, 20, nomen.Active)
		w.refuses(l, "does not continue the published checkpoint with 340 entries")
		o := options(t, s, w.skey, w.file)
		next, err := publish.NextOrigin(t.Context(), o)
		if err != nil || next != origin+"/2" {
			t.Fatalf("NextOrigin: %q, %v", next, err)
		}
		vkey, err := publish.Resume(t.Context(), o, nil, next)
		if err != nil {
			t.Fatal(err)
		}
		v, err := tlog.NewVerifier(vkey)
		if err != nil {
			t.Fatal(err)
		}
		again := open(t, o)
		if c := step(t, again, v); c.Origin != next || c.Size != 380 {
			t.Errorf("after Resume: %+v", c)
		}
		if after, err := publish.NextOrigin(t.Context(), o); err != nil || after != origin+"/3" {
			t.Errorf("the next origin: %q, %v", after, err)
		}
		put(t, s, 1, 1, nomen.Active)
		if c := step(t, open(t, o), v); c.Size != 381 {
			t.Errorf("after a restart: %+v", c)
		}
	})
}

// TestClockGoesBack checks that a clock that is set back between two checkpoints changes nothing: the
// second continues the first, and later changes are published too, also after a restart. If it is set
// back by more than a day, the store rejects changes.
func TestClockGoesBack(t *testing.T) {
	w := newWorld(t)
	now := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	for i, shift := range []time.Duration{0, -20 * time.Hour, -23 * time.Hour, 0} {
		w.with(func(s *pebblestore.Store, _ *publish.Log) {
			o := options(t, s, w.skey, w.file)
			o.Now = func() time.Time { return now.Add(shift) }
			l := open(t, o)
			for n := range 2 {
				rec := &store.Record{Name: name.MustParse(fmt.Sprintf("urn:x-a:%d", n)), Spelling: "urn:x-a:x", Status: nomen.Active, Locations: []nomen.Location{{URL: fmt.Sprint("https://example.org/", i)}}}
				if _, err := s.Apply(t.Context(), []store.Change{{Record: rec, Expected: store.AnyRevision, Time: o.Now()}}); err != nil {
					t.Fatal(err)
				}
				if c := step(t, l, w.v); c.Size != uint64(2*i+n+1) || l.Status().Problem != "" {
					t.Errorf("shift %v: %+v, %+v", shift, c, l.Status())
				}
			}
			if is := l.Status(); !is.Time.Equal(now.Add(shift)) {
				t.Errorf("shift %v: the checkpoint is from %v", shift, is.Time)
			}
		})
	}
}

// TestRestoredElsewhere checks that a store that was restored to a new data directory publishes only
// after the last published checkpoint is known.
func TestRestoredElsewhere(t *testing.T) {
	w := newWorld(t)
	backup := filepath.Join(w.dir, "backup")
	var early, late []byte
	w.with(func(s *pebblestore.Store, l *publish.Log) {
		put(t, s, 300, 300, nomen.Active)
		step(t, l, w.v)
		early, _ = l.Checkpoint()
		if err := s.Backup(t.Context(), backup, nil); err != nil {
			t.Fatal(err)
		}
		put(t, s, 40, 10, nomen.Active)
		step(t, l, w.v)
		late, _ = l.Checkpoint()
	})
	other := newWorld(t)
	other.skey, other.v = w.skey, w.v
	res, err := pebblestore.Restore(t.Context(), pebblestore.RestoreOptions{From: backup, To: other.store})
	if err != nil {
		t.Fatal(err)
	}
	if err := publish.MarkRestored(other.file, res.Head); err != nil {
		t.Fatal(err)
	}
	other.with(func(s *pebblestore.Store, l *publish.Log) {
		other.refuses(l, "the store was restored from a backup")
		o := options(t, s, w.skey, other.file)
		if _, err := publish.Resume(t.Context(), o, late, ""); err == nil || !strings.Contains(err.Error(), "only 300") {
			t.Errorf("Resume with the last checkpoint: %v", err)
		}
		forged := bytes.Replace(early, []byte("\n300\n"), []byte("\n200\n"), 1)
		if _, err := publish.Resume(t.Context(), o, forged, ""); err == nil {
			t.Error("Resume accepts a forged checkpoint")
		}
		if _, err := publish.Resume(t.Context(), o, early, ""); err != nil {
			t.Errorf("Resume: %v", err)
		}
		put(t, s, 1, 1, nomen.Active)
		if c := step(t, open(t, o), w.v); c.Size != 301 || c.Origin != origin {
			t.Errorf("after Resume: %+v", c)
		}
	})
}

// TestKeys checks which keys can publish a log.
func TestKeys(t *testing.T) {
	s := memstore.New()
	put(t, s, 3, 3, nomen.Active)
	skey, v := newKey(t, origin, false)
	file := filepath.Join(t.TempDir(), "log.json")
	step(t, open(t, options(t, s, skey, file)), v)
	other, _ := newKey(t, origin, false)
	if err := open(t, options(t, s, other, file)).Step(t.Context()); err == nil || !strings.Contains(err.Error(), "another key") {
		t.Errorf("another key: %v", err)
	}
	renamed, _ := newKey(t, "other.example.org/-/log", false)
	if err := open(t, options(t, s, renamed, file)).Step(t.Context()); err == nil || !strings.Contains(err.Error(), "published as "+origin) {
		t.Errorf("a key with another name: %v", err)
	}
	witnessKey, _ := newKey(t, origin, true)
	if _, err := publish.New(options(t, s, witnessKey, file)); err == nil {
		t.Error("the key of a witness was accepted")
	}
	if _, err := publish.New(options(t, s, "x", file)); err == nil {
		t.Error("an invalid key was accepted")
	}
}

// TestNodes checks that of several processes with one store, none signs a checkpoint that
// contradicts that of another, and that all show the newest.
func TestNodes(t *testing.T) {
	s := memstore.New()
	skey, v := newKey(t, origin, false)
	var nodes []*publish.Log
	for range 4 {
		nodes = append(nodes, open(t, options(t, s, skey, filepath.Join(t.TempDir(), "log.json"))))
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 50 {
			put(t, s, 7, 7, nomen.Active)
		}
	}()
	seen := make(chan []byte, 1000)
	for _, l := range nodes {
		go func() {
			for range 100 {
				_ = l.Step(context.Background())
				if text, err := l.Checkpoint(); err == nil {
					seen <- text
				}
			}
			seen <- nil
		}()
	}
	var all []tlog.Checkpoint
	for ended := 0; ended < len(nodes); {
		text := <-seen
		if text == nil {
			ended++
			continue
		}
		c, err := tlog.Open(text, v)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, c.Checkpoint)
	}
	<-done
	slices.SortFunc(all, func(a, b tlog.Checkpoint) int { return int(a.Size) - int(b.Size) })
	for i := 1; i < len(all); i++ {
		proof, err := s.ProveHead(t.Context(), all[i].Size, all[i-1].Size)
		if all[i].Size == all[i-1].Size {
			proof = nil
		}
		if err != nil || tlog.CheckConsistency(proof, all[i-1], all[i]) != nil {
			t.Fatalf("the checkpoints with %d and %d entries contradict each other: %v", all[i-1].Size, all[i].Size, err)
		}
	}
	for i, l := range nodes {
		if c := step(t, l, v); c.Size != 350 {
			t.Errorf("node %d shows %d entries, want 350", i, c.Size)
		}
	}
}

// TestWitnesses checks that a checkpoint is published with the cosignatures of the witnesses that
// answer, and not at all if one of them has seen a longer log.
func TestWitnesses(t *testing.T) {
	s := memstore.New()
	put(t, s, 10, 10, nomen.Active)
	skey, v := newKey(t, origin, false)
	wkey, wv := newKey(t, "witness.example.org", true)
	server := newWitness(t, wkey, v)
	_, gone := newKey(t, "gone.example.org", true)
	o := options(t, s, skey, "")
	o.Policy = witness.Policy{Witnesses: []witness.Witness{{URL: server.URL, Key: wv}, {URL: "http://127.0.0.1:1", Key: gone}}, Need: 2, Timeout: 5 * time.Second}
	l := open(t, o)
	step(t, l, v)
	text, _ := l.Checkpoint()
	signed, err := tlog.Open(text, v, wv, gone)
	if err != nil || len(signed.Cosignatures) != 1 || signed.Cosignatures[0].Witness != "witness.example.org" {
		t.Errorf("cosignatures: %v, %v", signed, err)
	}
	is := l.Status()
	if is.Cosigned != 1 || is.Need != 2 || len(is.Outcomes) != 2 || is.Outcomes[1].Err == nil {
		t.Errorf("status: %+v", is)
	}
	fork := memstore.New()
	put(t, fork, 5, 5, nomen.Active)
	o.Store, err = publish.SourceOf(fork)
	if err != nil {
		t.Fatal(err)
	}
	lost := open(t, o)
	if err := lost.Step(t.Context()); err == nil || !strings.Contains(err.Error(), "witness.example.org: the witness has cosigned more entries") {
		t.Errorf("after a rollback that only the witness knows: %v", err)
	}
	if text, err := lost.Checkpoint(); err == nil {
		t.Errorf("a checkpoint that contradicts the witness was published:\n%s", text)
	}
}

// TestLyingWitness checks that a witness that claims to have seen a longer or another log does not
// stop the log if enough other witnesses cosign it, and that it does stop the log otherwise.
func TestLyingWitness(t *testing.T) {
	for _, lie := range []struct {
		name   string
		status int
		body   string
	}{
		{"a huge size", http.StatusConflict, "9223372036854775807\n"},
		{"another history", http.StatusUnprocessableEntity, ""},
	} {
		liar := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/x.tlog.size")
			w.WriteHeader(lie.status)
			_, _ = io.WriteString(w, lie.body)
		}))
		t.Cleanup(liar.Close)
		_, liarKey := newKey(t, "liar.example.org", true)
		for _, tt := range []struct {
			honest, need int
			stops        bool
		}{
			{0, 0, true}, {0, 1, true}, {1, 0, false}, {1, 1, false}, {1, 2, true}, {2, 2, false},
		} {
			s := memstore.New()
			put(t, s, 10, 10, nomen.Active)
			skey, v := newKey(t, origin, false)
			o := options(t, s, skey, "")
			o.Policy = witness.Policy{Witnesses: []witness.Witness{{URL: liar.URL, Key: liarKey}}, Need: tt.need, Timeout: 30 * time.Second}
			for i := range tt.honest {
				wkey, wv := newKey(t, fmt.Sprintf("witness%d.example.org", i), true)
				o.Policy.Witnesses = append(o.Policy.Witnesses, witness.Witness{URL: newWitness(t, wkey, v).URL, Key: wv})
			}
			l := open(t, o)
			for range 3 {
				put(t, s, 1, 1, nomen.Active)
				err := l.Step(t.Context())
				if stops := err != nil; stops != tt.stops {
					t.Errorf("%s, %d honest witnesses of which %d are needed: %v, want an error: %t", lie.name, tt.honest, tt.need, err, tt.stops)
				}
				if is := l.Status(); is.Outcomes[0].Err == nil {
					t.Errorf("%s: the status does not name the witness: %+v", lie.name, is)
				}
			}
			head, err := s.Head(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if is := l.Status(); !tt.stops && (is.Size != head.Size || is.Cosigned != tt.honest) {
				t.Errorf("%s, %d honest witnesses: %+v, want %d entries", lie.name, tt.honest, is, head.Size)
			}
		}
	}
}

// newWitness starts a witness of one log.
func newWitness(t *testing.T, skey string, log note.Verifier) *httptest.Server {
	t.Helper()
	signer, err := tlog.NewSigner(skey, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	w, err := witness.New(witness.Options{Signer: signer, Logs: []note.Verifier{log}, Dir: t.TempDir(), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(w)
	t.Cleanup(func() {
		server.Close()
		_ = w.Close()
	})
	return server
}

// TestReceipt checks receipts of changes, and that none holds for anything else.
func TestReceipt(t *testing.T) {
	s := memstore.New()
	skey, v := newKey(t, origin, false)
	put(t, s, 600, 600, nomen.Active)
	put(t, s, 1, 1, nomen.Active)
	who := &store.Record{Name: name.MustParse("urn:x-a:who"), Spelling: "urn:x-a:who", Status: nomen.Active, Locations: []nomen.Location{{URL: "https://example.org/who"}}}
	hidden := &store.Record{Name: name.MustParse("urn:x-a:hidden"), Spelling: "urn:x-a:hidden", Status: nomen.Retired, Locations: []nomen.Location{{URL: "https://example.org/hidden"}}}
	private := &store.Record{Name: name.MustParse("urn:x-a:value"), Spelling: "urn:x-a:value", Status: nomen.Active, Values: []nomen.Value{{Index: 1, Type: "HS_SECKEY", Data: "x", Permissions: "1100"}}}
	gone := &store.Record{Name: name.MustParse("urn:x-a:a7"), Spelling: "urn:x-a:a7", Status: nomen.Active}
	for _, c := range []store.Change{
		{Record: who, Who: "anna", Why: "moved", Expected: store.AnyRevision, Time: time.Now()},
		{Record: hidden, Expected: store.AnyRevision, Time: time.Now()},
		{Record: private, Expected: store.AnyRevision, Time: time.Now()},
		{Record: gone, Redacts: []uint64{1}, Expected: store.AnyRevision, Time: time.Now()},
	} {
		if _, err := s.Apply(t.Context(), []store.Change{c}); err != nil {
			t.Fatal(err)
		}
	}
	o := options(t, s, skey, "")
	l := open(t, o)
	step(t, l, v)
	o.Content = true
	open1 := open(t, o)
	step(t, open1, v)
	for _, tt := range []struct {
		key      string
		revision uint64
		l        *publish.Log
		content  bool
		redacted bool
	}{
		{"urn:x-a:a0", 2, l, true, false},
		{"urn:x-a:a0", 1, l, true, false},
		{"urn:x-a:a599", 1, l, true, false},
		{"urn:x-a:who", 1, l, false, false},
		{"urn:x-a:who", 1, open1, true, false},
		{"urn:x-a:hidden", 1, open1, false, false},
		{"urn:x-a:value", 1, open1, false, false},
		{"urn:x-a:a7", 1, l, false, true},
		{"urn:x-a:a7", 2, l, true, false},
	} {
		c := revision(t, s, tt.key, tt.revision)
		text, err := tt.l.Receipt(t.Context(), c)
		if err != nil {
			t.Fatalf("%s: %v", tt.key, err)
		}
		r, err := receipt.Check(text, v)
		if err != nil {
			t.Fatalf("%s: %v\n%s", tt.key, err, text)
		}
		if r.Leaf.Subject.Key != tt.key || r.Leaf.Revision != tt.revision || (r.Change != nil) != tt.content || (r.RedactedBy != nil) != tt.redacted {
			t.Errorf("%s: got %+v", tt.key, r)
		}
		if tt.content && len(c.Record.Locations) > 0 && r.Change.Record.Locations[0].URL != c.Record.Locations[0].URL {
			t.Errorf("%s: got %+v", tt.key, r.Change.Record)
		}
		if !tt.content && (bytes.Contains(text, []byte("anna")) || strings.Contains(decoded(t, text), "content")) && !tt.redacted {
			t.Errorf("%s: the receipt has content that is not public", tt.key)
		}
		for i := range text { // no changed byte is accepted, except in the signature lines of others
			bad := bytes.Clone(text)
			bad[i] ^= 1
			if got, err := receipt.Check(bad, v); err == nil && !sameResult(got, r) {
				t.Fatalf("%s: byte %d was changed, and the receipt proves something else: %+v", tt.key, i, got)
			}
		}
	}
	_, other := newKey(t, origin, false)
	text, _ := l.Receipt(t.Context(), revision(t, s, "urn:x-a:a0", 1))
	if _, err := receipt.Check(text, other); !errors.Is(err, tlog.ErrUnsigned) {
		t.Errorf("another key: %v", err)
	}
	put(t, s, 1, 1, nomen.Active)
	if _, err := l.Receipt(t.Context(), revision(t, s, "urn:x-a:a0", 3)); !errors.Is(err, publish.ErrPending) {
		t.Errorf("a change that is not published: %v", err)
	}
	a, err := publish.Absent(t.Context(), o, store.Subject{Kind: store.KindName, Key: "urn:x-a:a0"}, nil)
	if err != nil || a.Seq != 1 {
		t.Errorf("Absent of a name: %+v, %v", a, err)
	}
	if a, err = publish.Absent(t.Context(), o, store.Subject{Kind: store.KindName, Key: "urn:x-a:none"}, nil); err != nil || a.Seq != 0 || a.Size != 605 {
		t.Errorf("Absent of another name: %+v, %v", a, err)
	}
}

// decoded returns the extra data of a receipt.
func decoded(t *testing.T, text []byte) string {
	t.Helper()
	p, err := tlog.ParseProof(text)
	if err != nil {
		t.Fatal(err)
	}
	return string(p.Extra)
}

func sameResult(a, b *receipt.Result) bool {
	return a.Hash == b.Hash && a.Seq == b.Seq && a.Log.Text() == b.Log.Text() && (a.Change == nil) == (b.Change == nil) && (a.RedactedBy == nil) == (b.RedactedBy == nil)
}

func revision(t *testing.T, s store.Reader, key string, n uint64) *store.Change {
	t.Helper()
	for c, err := range store.History(t.Context(), s, name.MustParse(key)) {
		if err != nil {
			t.Fatal(err)
		}
		if c.Revision() == n {
			return c
		}
	}
	t.Fatalf("%s has no revision %d", key, n)
	return nil
}

// TestExport checks that an export has each tile as it is served, also when it continues an earlier
// export, and that entries that do not match the checkpoint are not exported.
func TestExport(t *testing.T) {
	embedded, err := pebblestore.Open(pebblestore.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer embedded.Close()
	for kind, s := range map[string]store.Store{"memory": memstore.New(), "pebble": embedded} {
		t.Run(kind, func(t *testing.T) {
			skey, v := newKey(t, origin, false)
			o := options(t, s, skey, filepath.Join(t.TempDir(), "log.json"))
			l, dir := open(t, o), t.TempDir()
			listed(t, s, true)
			for _, entries := range []bool{false, true, false} {
				put(t, s, 400, 300, nomen.Active)
				c := step(t, l, v)
				sum, err := publish.Export(t.Context(), o, dir, entries, nil)
				if err != nil || sum.Entries != c.Size {
					t.Fatalf("%+v, %v, want %d entries", sum, err, c.Size)
				}
				for tile := range tlog.Tiles(c.Size, entries) {
					want, err := l.Tile(t.Context(), tile)
					if err != nil {
						t.Fatal(err)
					}
					if got, err := os.ReadFile(filepath.Join(dir, tile.Path())); err != nil || !bytes.Equal(got, want) {
						t.Errorf("%s: %d bytes, %v, want %d", tile, len(got), err, len(want))
					}
				}
				text, _ := l.Checkpoint()
				if got, err := os.ReadFile(filepath.Join(dir, "checkpoint")); err != nil || !bytes.Equal(got, text) {
					t.Errorf("checkpoint: %q, %v", got, err)
				}
			}
			damaged := filepath.Join(dir, "tile/0/001")
			whole, err := os.ReadFile(damaged)
			if err != nil {
				t.Fatal(err)
			}
			altered := bytes.Clone(whole) // of the same length
			altered[100] ^= 1
			if err := os.WriteFile(damaged, altered, 0o600); err != nil {
				t.Fatal(err)
			}
			if sum, err := publish.Export(t.Context(), o, dir, false, nil); err != nil || sum.Repaired != 1 || sum.Files != 2 {
				t.Errorf("after a bit was flipped: %+v, %v, want one file repaired, and the checkpoint", sum, err)
			}
			if got, err := os.ReadFile(damaged); err != nil || !bytes.Equal(got, whole) {
				t.Errorf("the damaged file was not repaired: %v", err)
			}
			mirrors(t, l, v, dir)
			other, ov := newKey(t, "other.example.org/-/log", false)
			second := options(t, memstore.New(), other, "")
			step(t, open(t, second), ov)
			if _, err := publish.Export(t.Context(), second, dir, false, nil); err == nil || !strings.Contains(err.Error(), "has the log "+origin) {
				t.Errorf("another log in the same directory: %v", err)
			}
		})
	}
}

// checkShown checks a bundle without the entries that are not public: the other entries match the
// tile of hashes, and the hidden names do not occur in it.
func checkShown(t *testing.T, l *publish.Log, data []byte, hides bool) {
	t.Helper()
	c, err := l.Checkpoint()
	if err != nil {
		t.Fatal(err)
	}
	is, err := tlog.Peek(c)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := tlog.ParseBundle(data, int(is.Size))
	if err != nil {
		t.Fatal(err)
	}
	hashes, err := l.Tile(t.Context(), tlog.Tile{Width: int(is.Size)})
	if err != nil {
		t.Fatal(err)
	}
	hidden, shown := 0, 0
	for i, entry := range entries {
		if len(entry) == 0 {
			hidden++
			continue
		}
		if h := tlog.EntryHash(entry); !bytes.Equal(h[:], hashes[32*i:32*i+32]) {
			t.Errorf("entry %d does not match its hash", i+1)
		}
		shown++
	}
	if hidden > 0 != hides {
		t.Errorf("%d entries are hidden, %d are shown; want hidden ones: %t", hidden, shown, hides)
	}
	if bytes.Contains(data, []byte("urn:x-a:r0")) && hides {
		t.Errorf("a reserved name is in %q", data)
	}
}

// A remote is a published log as a client sees it. It sends bad in place of the file at a path.
type remote struct {
	*publish.Log
	path string
	bad  []byte
	err  error
}

func (r remote) Checkpoint(context.Context) ([]byte, error) { return r.Log.Checkpoint() }

func (r remote) ReadTile(ctx context.Context, path string) ([]byte, error) {
	if path == r.path {
		return r.bad, r.err
	}
	data, _, err := r.File(ctx, path)
	return data, err
}

// mirrors checks that a mirror of a log has the same files as its export, and that files which do not
// match the checkpoint are not written.
func mirrors(t *testing.T, l *publish.Log, v note.Verifier, export string) {
	t.Helper()
	dir := t.TempDir()
	sum, err := publish.Mirror(t.Context(), remote{Log: l}, v, dir, true, nil)
	if err != nil || sum.Hidden != 0 || sum.Repaired != 0 {
		t.Fatalf("Mirror: %+v, %v", sum, err)
	}
	for tile := range tlog.Tiles(sum.Entries, false) {
		got, err := os.ReadFile(filepath.Join(dir, tile.Path()))
		want, wantErr := os.ReadFile(filepath.Join(export, tile.Path()))
		if err != nil || wantErr != nil || !bytes.Equal(got, want) {
			t.Errorf("%s of the mirror: %d bytes, %v, want %d, %v", tile, len(got), err, len(want), wantErr)
		}
	}
	bundle, err := l.Tile(t.Context(), tlog.Tile{Level: tlog.EntriesLevel, Width: tlog.TileWidth})
	if err != nil {
		t.Fatal(err)
	}
	flipped := bytes.Clone(bundle)
	flipped[len(flipped)-1] ^= 1
	_, foreign := newKey(t, origin, false)
	for _, tt := range []struct {
		name string
		log  remote
		key  note.Verifier
		want string // "" if a file is left out
	}{
		{"a bundle altered", remote{l, "tile/entries/000", flipped, nil}, v, "entry 256 does not match the checkpoint"},
		{"a bundle not shown", remote{l, "tile/entries/000", nil, fs.ErrPermission}, v, ""},
		{"a bundle missing", remote{l, "tile/entries/000", nil, fs.ErrNotExist}, v, ""},
		{"a tile altered", remote{l, "tile/0/001", make([]byte, tlog.MaxTile), nil}, v, "do not match the root"},
		{"a tile cut", remote{l, "tile/0/001", make([]byte, 32), nil}, v, "has 32 bytes"},
		{"another key", remote{Log: l}, foreign, "no signature by the key"},
	} {
		sum, err := publish.Mirror(t.Context(), tt.log, tt.key, t.TempDir(), true, nil)
		if tt.want == "" && (err != nil || sum.Hidden != 1) {
			t.Errorf("%s: %+v, %v, want one bundle left out", tt.name, sum, err)
		}
		if tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}
