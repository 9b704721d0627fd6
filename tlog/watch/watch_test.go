package watch_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"
	xtlog "golang.org/x/mod/sumdb/tlog"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/codec"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/tlog"
	"github.com/nomen-project/nomen/tlog/watch"
)

const origin = "names.example.org/-/log"

var start = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)

// A site is a log and the server that publishes it, with the faults that a test sets.
type site struct {
	t       testing.TB
	signer  note.Signer
	key     note.Verifier
	cosign  []note.Signer
	origin  string
	leaves  [][]byte
	hashes  []xtlog.Hash
	now     time.Time
	replace map[string]func([]byte) []byte // by path: what the server sends instead
	missing map[string]bool
	asked   map[string]int
}

func newSite(t testing.TB) *site {
	t.Helper()
	s := &site{t: t, origin: origin, now: start, replace: map[string]func([]byte) []byte{}, missing: map[string]bool{}, asked: map[string]int{}}
	s.signer, s.key = keyPair(t, origin, false)
	return s
}

func keyPair(t testing.TB, name string, witness bool) (note.Signer, note.Verifier) {
	t.Helper()
	skey, vkey, err := tlog.GenerateKey(rand.Reader, name, witness)
	if err != nil {
		t.Fatal(err)
	}
	s, err := tlog.NewSigner(skey, func() time.Time { return start })
	if err != nil {
		t.Fatal(err)
	}
	v, err := tlog.NewVerifier(vkey)
	if err != nil {
		t.Fatal(err)
	}
	return s, v
}

// A change is an entry of the log.
type change struct {
	name     string
	revision uint64
	at       time.Time
	status   nomen.Status // "" deletes the name
	location string
	redacts  []uint64
}

func leafOf(c change) []byte {
	n := name.MustParse(c.name)
	ch := &store.Change{Expected: c.revision - 1, Time: c.at, Redacts: c.redacts, Delete: n}
	if c.status != "" {
		ch.Delete = name.Name{}
		ch.Record = &store.Record{Name: n, Status: c.status, Revision: c.revision}
	}
	return codec.AppendLeaf(nil, &store.Entry{Change: ch, Digest: sha256.Sum256([]byte(c.location))})
}

func (s *site) add(leaf []byte) {
	s.t.Helper()
	h, err := xtlog.StoredHashes(int64(len(s.leaves)), leaf, xtlog.HashReaderFunc(func(indexes []int64) ([]xtlog.Hash, error) {
		hashes := make([]xtlog.Hash, len(indexes))
		for i, n := range indexes {
			hashes[i] = s.hashes[n]
		}
		return hashes, nil
	}))
	if err != nil {
		s.t.Fatal(err)
	}
	s.leaves, s.hashes = append(s.leaves, leaf), append(s.hashes, h...)
}

// fill adds n changes, one a second, from the time of the site on.
func (s *site) fill(n int) *site {
	for range n {
		s.now = s.now.Add(time.Second)
		s.add(leafOf(change{name: fmt.Sprintf("urn:x-a:n%d", len(s.leaves)), revision: 1, at: s.now, status: nomen.Active, location: "https://example.org/"}))
	}
	return s
}

// rewrite replaces the log by one with other leaves.
func (s *site) rewrite(leaves [][]byte) {
	s.leaves, s.hashes = nil, nil
	for _, l := range leaves {
		s.add(l)
	}
}

func (s *site) checkpoint(signers ...note.Signer) []byte {
	s.t.Helper()
	c := tlog.Checkpoint{Origin: s.origin, Size: uint64(len(s.leaves)), Root: tlog.EmptyRoot()}
	if c.Size > 0 {
		root, err := xtlog.TreeHash(int64(c.Size), xtlog.HashReaderFunc(func(indexes []int64) ([]xtlog.Hash, error) {
			hashes := make([]xtlog.Hash, len(indexes))
			for i, n := range indexes {
				hashes[i] = s.hashes[n]
			}
			return hashes, nil
		}))
		if err != nil {
			s.t.Fatal(err)
		}
		c.Root = root
	}
	msg, err := c.Sign(append([]note.Signer{s.signer}, signers...)...)
	if err != nil {
		s.t.Fatal(err)
	}
	return msg
}

// ServeHTTP implements [http.Handler] as a log of tlog-tiles.
func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := strings.TrimPrefix(r.URL.Path, "/-/log/")
	s.asked[path]++
	data := s.file(path)
	if data == nil || s.missing[path] {
		http.NotFound(w, r)
		return
	}
	if f := s.replace[path]; f != nil {
		data = f(slices.Clone(data))
	}
	if strings.HasPrefix(path, "tile/entries/") && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		_, _ = z.Write(data)
		z.Close()
		return
	}
	_, _ = w.Write(data)
}

func (s *site) file(path string) []byte {
	if path == "checkpoint" {
		return s.checkpoint(s.cosign...)
	}
	tile, err := tlog.ParseTilePath(path)
	if err != nil || !tile.In(uint64(len(s.leaves))) {
		return nil
	}
	var data []byte
	for i := range tile.Width {
		n := int64(tile.N)*tlog.TileWidth + int64(i)
		if tile.Level == tlog.EntriesLevel {
			data, _ = tlog.AppendEntry(data, s.leaves[n])
			continue
		}
		h := s.hashes[xtlog.StoredHashIndex(8*tile.Level, n)]
		data = append(data, h[:]...)
	}
	return data
}

// A client is a watcher of a site with its alerts.
type client struct {
	*watch.Watcher
	alerts []*watch.Alert
}

// newClient returns a watcher of the site. The function set changes its options.
func newClient(t testing.TB, s *site, set func(*watch.Options)) *client {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	log, err := watch.NewRemote(server.URL+"/-/log/", nil, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	c := new(client)
	o := watch.Options{
		Log: log, Key: s.key, Prefixes: []name.Prefix{name.MustParsePrefix("urn:x-a:kept")}, State: filepath.Join(t.TempDir(), "state"),
		Now: func() time.Time { return s.now.Add(time.Second) }, Alert: func(a *watch.Alert) { c.alerts = append(c.alerts, a) },
	}
	if set != nil {
		set(&o)
	}
	if c.Watcher, err = watch.New(o); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *client) check(t testing.TB) watch.Report {
	t.Helper()
	c.alerts = nil
	r, err := c.Check(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if r.Alerts != len(c.alerts) {
		t.Errorf("the report has %d alerts, want %d", r.Alerts, len(c.alerts))
	}
	return r
}

// want fails unless there is exactly one alert, of this kind and with this text.
func (c *client) want(t testing.TB, kind watch.Kind, text string) {
	t.Helper()
	if len(c.alerts) != 1 || c.alerts[0].Kind != kind || !strings.Contains(c.alerts[0].Text, text) {
		t.Errorf("got the alerts %v, want one: %s with %q", c.alerts, kind, text)
	}
}

func flip(i int) func([]byte) []byte {
	return func(b []byte) []byte { b[i] ^= 1; return b }
}

// TestAttacks makes each attack after a watcher has seen the honest log, and checks that the watcher and a
// new audit name it. An audit without earlier heads cannot see that history was rewritten; those
// attacks have no text for the audit.
func TestAttacks(t *testing.T) {
	kept := func(revision uint64, location string, at time.Time) []byte {
		return leafOf(change{name: "urn:x-a:kept", revision: revision, at: at, status: nomen.Active, location: location})
	}
	honest := func(t *testing.T) *site {
		s := newSite(t).fill(600)
		for revision := range uint64(4) {
			s.add(kept(revision+1, "https://example.org/kept", s.now))
		}
		return s.fill(96)
	}
	for _, tt := range []struct {
		name   string
		attack func(s *site)
		kind   watch.Kind
		text   string
		audit  watch.Kind // "" if an audit without earlier heads cannot find it
	}{
		{"location in revision 3 rewritten with a recomputed digest", func(s *site) {
			s.leaves[602] = kept(3, "https://evil.example/", start.Add(600*time.Second))
			s.rewrite(s.leaves)
		}, watch.Fork, "the first 700 entries differ", ""},
		{"name dropped", func(s *site) { s.rewrite(slices.Delete(s.leaves, 600, 604)); s.fill(10) }, watch.Fork, "the first 700 entries differ", ""},
		{"older backup restored", func(s *site) { s.rewrite(s.leaves[:650]) }, watch.Rollback, "has 650 entries, but it had 700", ""},
		{"older backup restored, then changed", func(s *site) { s.rewrite(s.leaves[:650]); s.fill(100) }, watch.Fork, "entries after number 0 were rewritten", ""},
		{"back-dated entry", func(s *site) {
			s.now = s.now.Add(time.Hour)
			s.fill(1)
			s.add(kept(1, "x", s.now.Add(-50*time.Minute)))
		}, watch.BackDated, "entry 702", watch.BackDated},
		{"entry of the future", func(s *site) { s.add(kept(1, "x", s.now.Add(24*time.Hour))) }, watch.FutureTime, "entry 701", watch.FutureTime},
		{"flipped bit in a tile at the edge", func(s *site) { s.fill(50); s.replace["tile/0/002.p/238"] = flip(0) }, watch.BadTile, "do not match the root", watch.BadTile},
		{"flipped bit in an upper tile", func(s *site) { s.fill(50); s.replace["tile/1/000.p/2"] = flip(40) }, watch.BadTile, "do not match the root", watch.BadTile},
		{"flipped bit in a bundle", func(s *site) { s.fill(50); s.replace["tile/entries/002.p/238"] = flip(1) }, watch.BadBundle, "tile/entries/002.p/238", watch.BadBundle},
		{"flipped bit in a leaf", func(s *site) {
			s.fill(50)
			s.replace["tile/entries/002.p/238"] = func(b []byte) []byte { b[len(b)-1] ^= 1; return b }
		}, watch.BadBundle, "entry 750 does not match", watch.BadBundle},
		{"tile too long", func(s *site) {
			s.fill(50)
			s.replace["tile/0/002.p/238"] = func(b []byte) []byte { return append(b, b[:32]...) }
		}, watch.BadTile, "tile/0/002.p/238: the tile has 7648 bytes", watch.BadTile},
		{"tile much too long", func(s *site) {
			s.fill(50)
			s.replace["tile/0/002.p/238"] = func(b []byte) []byte { return bytes.Repeat(b, 9) }
		}, watch.BadTile, "too long", watch.BadTile},
		{"tile missing", func(s *site) { s.fill(50); s.missing["tile/0/002.p/238"] = true }, watch.BadTile, "tile/0/002.p/238", watch.BadTile},
		{"bundles withdrawn", func(s *site) {
			s.fill(50)
			s.missing["tile/entries/002.p/238"] = true
		}, watch.BadBundle, "has published its entries", watch.BadBundle},
		{"entry that is not a leaf", func(s *site) { s.add([]byte("spam")) }, watch.BadEntry, "entry 701", watch.BadEntry},
		{"wrong origin", func(s *site) { s.origin = "other.example.org/-/log" }, watch.Origin, `its origin is "other.example.org/-/log"`, watch.Origin},
		{"unknown key", func(s *site) { s.signer, _ = keyPair(s.t, origin, false) }, watch.UnknownKey, "no signature by the key", watch.UnknownKey},
		{"altered size", func(s *site) {
			s.replace["checkpoint"] = func(b []byte) []byte { return bytes.Replace(b, []byte("\n700\n"), []byte("\n701\n"), 1) }
		}, watch.Signature, origin, watch.Signature},
		{"CRLF", func(s *site) {
			s.replace["checkpoint"] = func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("\n"), []byte("\r\n")) }
		}, watch.Malformed, "carriage return", watch.Malformed},
		{"leading zero", func(s *site) {
			s.replace["checkpoint"] = func(b []byte) []byte { return bytes.Replace(b, []byte("\n700\n"), []byte("\n0700\n"), 1) }
		}, watch.Malformed, "leading zero", watch.Malformed},
		{"page instead of a checkpoint", func(s *site) {
			s.replace["checkpoint"] = func([]byte) []byte { return []byte("<html></html>\n") }
		}, watch.Malformed, "signatures must follow", watch.Malformed},
		{"endless checkpoint", func(s *site) {
			s.replace["checkpoint"] = func([]byte) []byte { return make([]byte, tlog.MaxCheckpoint+10) }
		}, watch.Malformed, "too long", watch.Malformed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := honest(t)
			c := newClient(t, s, nil)
			if r := c.check(t); r.Size != 700 || len(c.alerts) != 0 {
				t.Fatalf("the honest log: got %+v with the alerts %v", r, c.alerts)
			}
			s.fill(0)
			if tt.name == "bundles withdrawn" { // the watcher must have seen entries
				s.fill(1)
				c.check(t)
			}
			tt.attack(s)
			if tt.name == "bundles withdrawn" {
				s.missing = map[string]bool{"tile/entries/002.p/239": true, "tile/entries/002": true}
			}
			r := c.check(t)
			c.want(t, tt.kind, tt.text)
			if r.Notices != 0 {
				t.Errorf("got %d alerts about names, want none", r.Notices)
			}
			a := newClient(t, s, func(o *watch.Options) { o.All, o.Prefixes = true, nil })
			a.check(t)
			if tt.audit == "" {
				if len(a.alerts) != 0 {
					t.Errorf("audit without earlier heads: got %v, want nothing", a.alerts)
				}
				return
			}
			a.want(t, tt.audit, "")
		})
	}
}

// TestStale checks that a watcher reports a log that does not grow, once, also after a restart, and
// that it goes on.
func TestStale(t *testing.T) {
	s := newSite(t).fill(10)
	state := filepath.Join(t.TempDir(), "state")
	set := func(o *watch.Options) { o.MaxAge, o.State = time.Hour, state }
	c := newClient(t, s, set)
	for _, tt := range []struct {
		passes time.Duration
		grows  int
		alerts int
	}{
		{0, 0, 0}, {59 * time.Minute, 0, 0}, {time.Minute, 0, 1}, {time.Hour, 0, 0}, {0, 1, 0}, {30 * time.Minute, 0, 0}, {30 * time.Minute, 0, 1},
	} {
		s.now = s.now.Add(tt.passes)
		s.fill(tt.grows)
		r := c.check(t)
		if len(c.alerts) != tt.alerts || r.Notices != tt.alerts {
			t.Errorf("after %v and %d entries: the alerts %v, want %d", tt.passes, tt.grows, c.alerts, tt.alerts)
		}
		if tt.alerts > 0 {
			c.want(t, watch.Stale, "no longer grows")
		}
	}
	c = newClient(t, s, set)
	c.check(t)
	c.want(t, watch.Stale, "11 entries since 2026-11-24T")
	without := newClient(t, s, func(o *watch.Options) { o.State = state })
	if without.check(t); len(without.alerts) != 0 {
		t.Errorf("without a maximum age: the alerts %v, want none", without.alerts)
	}
}

// TestForkForOneClient shows a fork after entry 650 to one client only. The client finds it because
// the witness does not cosign it, and because of a checkpoint that another client has got.
func TestForkForOneClient(t *testing.T) {
	w, wv := keyPair(t, "witness.example.org", true)
	honest := newSite(t).fill(700)
	honest.cosign = []note.Signer{w}
	fork := newSite(t)
	fork.signer, fork.key, fork.now = honest.signer, honest.key, honest.now
	fork.rewrite(slices.Clone(honest.leaves[:650]))
	fork.fill(80)
	quorum := func(o *watch.Options) { o.Witnesses, o.Need = []note.Verifier{wv}, 1 }

	c := newClient(t, honest, quorum)
	if r := c.check(t); r.Cosigns != 1 || len(c.alerts) != 0 {
		t.Errorf("honest: got %+v and %v, want one cosignature and no alert", r, c.alerts)
	}
	c = newClient(t, fork, quorum)
	c.check(t)
	c.want(t, watch.Unwitnessed, "has 0 of 1 cosignatures")
	c = newClient(t, fork, nil)
	if c.check(t); len(c.alerts) != 0 {
		t.Errorf("without witnesses: got %v, want nothing", c.alerts)
	}
	c = newClient(t, fork, func(o *watch.Options) { o.Seen = [][]byte{honest.checkpoint()} })
	c.check(t)
	c.want(t, watch.Fork, "different histories")
	c = newClient(t, honest, func(o *watch.Options) { o.Seen = [][]byte{fork.checkpoint()} })
	c.check(t)
	c.want(t, watch.Rollback, "others have got a checkpoint with 730")
}

// TestForkIsLocated shows that a fork is located by the heads that a watcher has kept.
func TestForkIsLocated(t *testing.T) {
	s := newSite(t)
	c := newClient(t, s, nil)
	for range 200 {
		c.check(t)
		s.fill(5)
	}
	s.rewrite(s.leaves[:900])
	s.now = s.now.Add(time.Hour)
	s.fill(200)
	c.check(t)
	c.want(t, watch.Fork, "entries after number 900 were rewritten")
}

// TestNames shows which changes of names are reported: those below the prefixes, once.
func TestNames(t *testing.T) {
	s := newSite(t).fill(300)
	c := newClient(t, s, nil)
	c.check(t)
	for _, ch := range []change{
		{name: "urn:x-a:kept", revision: 1, status: nomen.Active},
		{name: "urn:x-a:kept", revision: 2, status: nomen.Active},
		{name: "urn:x-a:kept", revision: 3, status: nomen.Retired},
		{name: "urn:x-a:kept", revision: 4, status: nomen.Retired, redacts: []uint64{1, 2}},
		{name: "urn:x-a:keptsecret", revision: 2, status: nomen.Active},
		{name: "urn:x-b:other", revision: 2, status: nomen.Active},
	} {
		ch.at = s.now
		s.add(leafOf(ch))
	}
	r := c.check(t)
	var got []string
	for _, a := range c.alerts {
		got = append(got, fmt.Sprintf("%s %d %s", a.Kind, a.Entry, a.Name))
	}
	want := []string{"changed 302 urn:x-a:kept", "retired 303 urn:x-a:kept", "redacted 304 urn:x-a:kept", "retired 304 urn:x-a:kept"}
	if !slices.Equal(got, want) || r.Notices != len(want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if c.check(t); len(c.alerts) != 0 {
		t.Errorf("a second check: got %v, want nothing", c.alerts)
	}
}

// TestStateAfterRestart shows that a watcher that starts again knows its heads, and that an alert does
// not replace them.
func TestStateAfterRestart(t *testing.T) {
	s := newSite(t).fill(300)
	state := filepath.Join(t.TempDir(), "state")
	with := func(o *watch.Options) { o.State = state }
	newClient(t, s, with).check(t)
	honest := slices.Clone(s.leaves)
	s.rewrite(s.leaves[:100])
	for range 2 {
		c := newClient(t, s, with)
		c.check(t)
		c.want(t, watch.Rollback, "it had 300")
	}
	if evidence, err := os.ReadFile(state + ".evidence"); err != nil || !strings.HasPrefix(string(evidence), origin+"\n100\n") {
		t.Errorf("the evidence is %q, %v, want the checkpoint with 100 entries", evidence, err)
	}
	for _, f := range []string{state, state + ".evidence"} {
		if info, err := os.Stat(f); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: got the mode %v, %v, want 0600", f, info.Mode(), err)
		}
	}
	s.rewrite(honest)
	c := newClient(t, s.fill(1), with)
	if r := c.check(t); len(c.alerts) != 0 || r.Size != 301 {
		t.Errorf("the honest log again: got %+v, %v", r, c.alerts)
	}
	_, other := keyPair(t, origin, false)
	text, err := os.ReadFile(state)
	if err != nil {
		t.Fatal(err)
	}
	for name, damage := range map[string]func(*watch.Options){
		"other key": func(o *watch.Options) { o.Key = other },
		"other version": func(*watch.Options) {
			os.WriteFile(state, bytes.Replace(text, []byte(`"version": 1`), []byte(`"version": 2`), 1), 0o600)
		},
		"other size": func(*watch.Options) {
			os.WriteFile(state, bytes.Replace(text, []byte(`"size": 301`), []byte(`"size": 401`), 1), 0o600)
		},
		"no JSON":   func(*watch.Options) { os.WriteFile(state, []byte("{"), 0o600) },
		"too large": func(*watch.Options) { os.WriteFile(state, make([]byte, 5<<20), 0o600) },
	} {
		o := watch.Options{Key: s.key, State: state}
		damage(&o)
		if _, err := watch.New(o); err == nil {
			t.Errorf("%s: the file was accepted", name)
		}
		if err := os.WriteFile(state, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAuditResumes interrupts an audit, and shows that it continues and reads each bundle once.
func TestAuditResumes(t *testing.T) {
	const size = 70 * 256
	s := newSite(t).fill(size)
	state := filepath.Join(t.TempDir(), "state")
	s.missing["tile/entries/066"] = true
	audit := func(o *watch.Options) { o.State, o.All = state, true }
	c := newClient(t, s, audit)
	c.check(t)
	c.want(t, watch.BadBundle, "tile/entries/066")
	s.missing = map[string]bool{}
	s.fill(10)
	s.asked = map[string]int{}
	c = newClient(t, s, audit)
	if r := c.check(t); len(c.alerts) != 0 || r.Checked != size+10 || !r.Entries {
		t.Errorf("got %+v with %v, want all entries checked", r, c.alerts)
	}
	if s.asked["tile/entries/063"] != 0 || s.asked["tile/entries/064"] != 1 || s.asked["tile/entries/070.p/10"] != 1 {
		t.Errorf("the audit did not continue after bundle 63: %v", s.asked)
	}
	// The next audit begins at the beginning.
	s.asked = map[string]int{}
	newClient(t, s, audit).check(t)
	if s.asked["tile/entries/000"] != 1 || s.asked["tile/entries/069"] != 1 {
		t.Error("the next audit did not check everything")
	}
}

// TestAuditWithoutEntries audits a log that publishes only hashes.
func TestAuditWithoutEntries(t *testing.T) {
	s := newSite(t).fill(1000)
	for tile := range tlog.Tiles(1000, true) {
		if tile.Level == tlog.EntriesLevel {
			s.missing[tile.Path()] = true
		}
	}
	audit := func(o *watch.Options) { o.All = true }
	c := newClient(t, s, audit)
	if r := c.check(t); len(c.alerts) != 0 || r.Checked != 1000 || r.Entries {
		t.Errorf("got %+v with %v, want all hashes checked and no entries", r, c.alerts)
	}
	s.replace["tile/0/001"] = flip(5)
	c = newClient(t, s, audit)
	c.check(t)
	c.want(t, watch.BadTile, "do not match")
}

func TestOptions(t *testing.T) {
	_, key := keyPair(t, origin, false)
	_, w := keyPair(t, "w.example.org", true)
	for name, o := range map[string]watch.Options{
		"too few witnesses": {Key: key, Need: 1},
		"log as a witness":  {Key: key, Witnesses: []note.Verifier{key}},
		"witness as a log":  {Key: w},
		"wrong checkpoint":  {Key: key, Seen: [][]byte{[]byte("x")}},
	} {
		if _, err := watch.New(o); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	for _, address := range []string{"", "names.example.org", "ftp://names.example.org", "https://", "https://names.example.org/?x", "https://a b/"} {
		if _, err := watch.NewRemote(address, nil, time.Now); err == nil {
			t.Errorf("%q: accepted", address)
		}
	}
}

// failing is a log that cannot be read while fails is set.
type failing struct {
	watch.Log
	fails bool
}

func (f *failing) Checkpoint(ctx context.Context) ([]byte, error) {
	if f.fails {
		return nil, errors.New("status 503")
	}
	return f.Log.Checkpoint(ctx)
}

// TestUnreadable shows that a server cannot hide a fork from a watcher by answering nothing: after an
// hour there is one alert, and the next comes only after the log could be read again.
func TestUnreadable(t *testing.T) {
	s := newSite(t).fill(10)
	log := new(failing)
	c := newClient(t, s, func(o *watch.Options) { log.Log, o.Log = o.Log, log })
	for _, tt := range []struct {
		fails  bool
		later  time.Duration
		alerts int
	}{
		{false, 0, 0},
		{true, 0, 0},
		{true, watch.UnreadableAfter - time.Minute, 0},
		{true, time.Minute, 1},
		{true, time.Minute, 0},
		{false, time.Minute, 0},
		{true, time.Minute, 0},
		{true, watch.UnreadableAfter, 1},
	} {
		s.now = s.now.Add(tt.later)
		log.fails, c.alerts = tt.fails, nil
		if r, err := c.Check(t.Context()); (err != nil) != tt.fails || r.Alerts != tt.alerts || len(c.alerts) != tt.alerts {
			t.Errorf("%+v: got %d alerts and %v", tt, r.Alerts, err)
		}
		if tt.alerts > 0 {
			c.want(t, watch.Unreadable, "since 2026-11-24T")
		}
	}
}

// TestRemoteFollowsNoRedirects shows that a log cannot make a watcher connect to another host.
func TestRemoteFollowsNoRedirects(t *testing.T) {
	inner := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the redirect was followed") }))
	defer inner.Close()
	outer := httptest.NewServer(http.RedirectHandler(inner.URL, http.StatusFound))
	defer outer.Close()
	r, err := watch.NewRemote(outer.URL, nil, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Checkpoint(t.Context()); err == nil || !strings.Contains(err.Error(), "status 302") {
		t.Errorf("got %v, want status 302", err)
	}
}
