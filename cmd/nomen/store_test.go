package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
)

// A bench is a command line with a store in memory.
type bench struct {
	*cli
	l        *local
	out, err *bytes.Buffer
}

func newBench(t *testing.T) *bench {
	t.Helper()
	s := memstore.New()
	t.Cleanup(func() { _ = s.Close() })
	b := &bench{out: new(bytes.Buffer), err: new(bytes.Buffer), l: &local{store: s, registrar: registrar.New(s, registrar.Options{})}}
	b.cli = &cli{streams: streams{in: strings.NewReader(""), out: b.out, err: b.err}}
	return b
}

// put puts names of example.org with a location each.
func (b *bench) put(t *testing.T, elements ...string) {
	t.Helper()
	for _, e := range elements {
		spelling := "urn:dns:example.org:" + e
		rec := &store.Record{Name: name.MustParse(spelling), Spelling: spelling, Locations: []nomen.Location{{URL: "https://old.example/" + e}}}
		if _, err := b.l.Put(t.Context(), registrar.Request{Record: rec, Expected: store.AnyRevision}, "a test"); err != nil {
			t.Fatal(err)
		}
	}
}

// said returns what was printed since the last call.
func (b *bench) said() string {
	defer b.out.Reset()
	return b.out.String()
}

func TestVerify(t *testing.T) {
	b := newBench(t)
	ctx := t.Context()
	b.put(t, "a", "b", "c")
	if err := b.cli.verify(ctx, b.l, nil, nil); err != nil {
		t.Fatal(err)
	}
	head, rest, _ := strings.Cut(strings.TrimPrefix(b.said(), "head "), "\n")
	if rest != "3 changes, no faults\n" {
		t.Errorf("said %q", rest)
	}
	noted, err := store.ParseHead(head)
	if err != nil {
		t.Fatal(err)
	}
	b.put(t, "d")
	if err := b.cli.verify(ctx, b.l, &noted, nil); err != nil {
		t.Errorf("the log has grown: %v", err)
	}
	b.json = true
	b.said()
	for what, spoil := range map[string]func(*store.Head){
		"the log does not begin": func(h *store.Head) { h.Hash[31]++ },
		"changes are missing":    func(h *store.Head) { h.Size = 5 },
	} {
		other := noted
		spoil(&other)
		if err := b.cli.verify(ctx, b.l, &other, nil); !errors.Is(err, errNo) {
			t.Errorf("%s: %v", what, err)
		}
		said := b.said()
		fault, end, _ := strings.Cut(said, "\n")
		var line verifiedLine
		if err := json.Unmarshal([]byte(end), &line); err != nil || line.Faults != 1 || !strings.HasPrefix(line.Head, "4:") || !strings.Contains(fault, what) {
			t.Errorf("%s: said %s", what, said)
		}
	}
}

// damaged is a store that finds something wrong with itself.
type damaged struct{ *memstore.Store }

func (d damaged) Verify(ctx context.Context, fault func(store.Fault), progress func(done, total uint64)) (store.Head, error) {
	fault(store.Fault{Subject: store.Subject{Kind: store.KindName, Key: "urn:x\x1b[2J"}, Seq: 7, Problem: "altered"})
	fault(store.Fault{Problem: "an index is short"})
	return d.Store.Verify(ctx, fault, progress)
}

func TestVerifyNamesFaults(t *testing.T) {
	b := newBench(t)
	l := &local{store: damaged{b.l.store.(*memstore.Store)}}
	if err := b.cli.verify(t.Context(), l, nil, nil); !errors.Is(err, errNo) || exitStatus(err) != exitNo {
		t.Errorf("got %v", err)
	}
	want := "fault: name urn:x[U+001B][2J: change 7: altered\nfault: an index is short\nhead 0:" + strings.Repeat("0", 64) + "\n"
	if got := b.said(); got != want || !strings.Contains(b.err.String(), "2 faults") {
		t.Errorf("said %q and %q", got, b.err)
	}
}

func TestFind(t *testing.T) {
	b := newBench(t)
	ctx := t.Context()
	b.put(t, "b", "a", "c")
	const line = "https://old.example/%[1]s\turn:dns:example.org:%[1]s\n"
	if err := b.find(ctx, b.l, "https://old.example/", store.Place{}, 0); err != nil {
		t.Fatal(err)
	}
	if got, want := b.said(), fmt.Sprintf(line, "a")+fmt.Sprintf(line, "b")+fmt.Sprintf(line, "c"); got != want {
		t.Errorf("said %q, want %q", got, want)
	}
	after := store.Place{URL: "https://old.example/a", Name: name.MustParse("urn:dns:example.org:a")}
	if err := b.find(ctx, b.l, "https://", after, 1); err != nil || b.said() != fmt.Sprintf(line, "b") {
		t.Errorf("one after another: %v", err)
	}
	if err := b.find(ctx, b.l, "https://none.example/", store.Place{}, 0); !errors.Is(err, errNo) {
		t.Errorf("none: %v", err)
	}
	b.json = true
	if err := b.find(ctx, b.l, "https://old.example/c", store.Place{}, 0); err != nil || b.said() != `{"location":"https://old.example/c","name":"urn:dns:example.org:c"}`+"\n" {
		t.Errorf("as JSON: %v", err)
	}
}

// A firstRead reads from in. Before its first read it calls before.
type firstRead struct {
	before func()
	in     io.Reader
}

func (f *firstRead) Read(p []byte) (int, error) {
	if f.before != nil {
		f.before()
		f.before = nil
	}
	return f.in.Read(p)
}

// TestStoreOpensAtFirstLine checks that a command after a pipe opens the store only when input
// arrives, because until then the command before the pipe has the store open.
func TestStoreOpensAtFirstLine(t *testing.T) {
	for _, args := range [][]string{{"get"}, {"history"}, {"retire", "--reason", "gone"}} {
		data := t.TempDir()
		in := &firstRead{in: strings.NewReader("urn:example:a\n"), before: func() {
			if status, _, said := command(t.Context(), nil, "--data", data, "put", "urn:example:a"); status != exitYes {
				t.Errorf("the store is not free: %s", said)
			}
		}}
		status, out, said := command(t.Context(), in, append(append([]string{"--data", data}, args...), "-")...)
		if status != exitYes || out == "" {
			t.Errorf("%s: status %d, %q, %s", args[0], status, out, said)
		}
	}
}

func TestRelocate(t *testing.T) {
	b := newBench(t)
	ctx := t.Context()
	for i := range 8 {
		b.put(t, fmt.Sprint(i))
	}
	rel := registrar.Relocation{From: "https://old.example/", To: "https://new.example/", DryRun: true}
	if err := b.cli.relocate(ctx, b.l, rel); err != nil {
		t.Fatal(err)
	}
	said := b.said()
	for _, want := range []string{
		"urn:dns:example.org:0: https://old.example/0 -> https://new.example/0\n", "\n... and 3 more\n8 locations of 8 names would change in ", "nothing was changed",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("a dry run said %q, want %q", said, want)
		}
	}
	rel.DryRun, b.json = false, true
	if err := b.cli.relocate(ctx, b.l, rel); err != nil || !strings.Contains(b.said(), `,"names":8,"locations":8,"retired":0,"refused":0,"seconds":`) {
		t.Errorf("got %v", err)
	}
	rel = registrar.Relocation{From: "https://new.example/", To: "https://new.example/#a#"}
	if err := b.cli.relocate(ctx, b.l, rel); exitStatus(err) != exitNo {
		t.Errorf("to an invalid location: %v", err)
	}
}

func TestMigrate(t *testing.T) {
	b := newBench(t)
	ctx := t.Context()
	b.put(t, "a", "b", "c")
	if _, err := b.l.Relocate(ctx, registrar.Relocation{From: "https://old.example/a", To: "https://new.example/a"}); err != nil {
		t.Fatal(err)
	}
	_, token := adminapi.NewToken(adminapi.AdministratorGrant(), time.Now())
	if _, err := b.l.store.Apply(ctx, []store.Change{{Token: token, Time: time.Now(), Who: "an archivist", Why: "for the loader"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.l.Redact(ctx, name.MustParse("urn:dns:example.org:a"), registrar.Redaction{Revisions: []uint64{1}, Reason: "x", Expected: store.AnyRevision}); err != nil {
		t.Fatal(err)
	}
	to := memstore.New()
	broken := errors.New("broken")
	if err := b.migrate(ctx, &cutOff{Store: b.l.store.(*memstore.Store), after: 2, err: broken}, to, false); !errors.Is(err, broken) || !strings.Contains(err.Error(), "run the same command again to continue") {
		t.Errorf("cut off: %v", err)
	}
	if h, err := to.Head(ctx); err != nil || h.Size != 2 {
		t.Errorf("cut off after %v, %v", h, err)
	}
	for range 2 { // resumed, and once more
		if err := b.migrate(ctx, b.l.store, to, false); err != nil {
			t.Fatal(err)
		}
	}
	want, _ := store.HeadOf(ctx, b.l.store)
	if got, err := to.Head(ctx); err != nil || got != want {
		t.Errorf("head %v, %v; want %v", got, err, want)
	}
	if got, err := to.Token(ctx, token.ID); err != nil || !got.SameContent(token.Clone()) {
		t.Errorf("token %+v, %v", got, err)
	}
	if said := b.said(); !strings.Contains(said, "5 changes of 3 records and 1 token in ") || !strings.Contains(said, "the heads are equal: "+want.String()) {
		t.Errorf("said %q", said)
	}

	for c, err := range store.TokenChanges(ctx, to) {
		if err != nil || c.Who != "an archivist" || c.Why != "for the loader" {
			t.Errorf("the token is there by %q, %q, %v", c.Who, c.Why, err)
		}
	}

	// The destination already has other changes.
	other := newBench(t)
	other.put(t, "x")
	var entry *store.EntryError
	if err := b.migrate(ctx, b.l.store, other.l.store, false); !errors.As(err, &entry) {
		t.Errorf("into another store: %v", err)
	}
	for _, spec := range []string{"", "pebble:", "mysql://x", "/srv/names"} {
		if _, err := b.openAt(ctx, spec, true); exitStatus(err) != exitUsage {
			t.Errorf("openAt(%q): %v", spec, err)
		}
	}
}

// cutOff is a store whose log ends with an error.
type cutOff struct {
	*memstore.Store
	after uint64
	err   error
}

func (s *cutOff) Changes(ctx context.Context, after uint64) iter.Seq2[*store.Entry, error] {
	return func(yield func(*store.Entry, error) bool) {
		for e, err := range s.Store.Changes(ctx, after) {
			if err == nil && e.Seq > s.after {
				e, err = nil, s.err
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// Each difference between a copy and its source is reported.
func TestMigrationIsCompared(t *testing.T) {
	b := newBench(t)
	ctx := t.Context()
	b.put(t, "a", "b")
	head, err := store.HeadOf(ctx, b.l.store)
	if err != nil {
		t.Fatal(err)
	}
	to := memstore.New()
	if err := to.Load(ctx, store.Changes(ctx, b.l.store, 0)); err != nil {
		t.Fatal(err)
	}
	if _, n, err := b.compareStores(ctx, b.l.store, to, head, false); err != nil || n != 2 {
		t.Fatalf("%d, %v", n, err)
	}
	if _, _, err := b.compareStores(ctx, b.l.store, miscounting{to}, head, false); err == nil || !strings.Contains(err.Error(), "it has 3 records, expected 2") {
		t.Errorf("another number: %v", err)
	}
	_, token := adminapi.NewToken(adminapi.AdministratorGrant(), time.Now())
	if _, err := b.l.store.Apply(ctx, []store.Change{{Token: token, Time: time.Now()}}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := b.compareStores(ctx, b.l.store, to, head, false); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a token that is missing: %v", err)
	}
	wrong := head
	wrong.Hash[0]++
	if _, _, err := b.compareStores(ctx, b.l.store, to, wrong, false); err == nil || !strings.Contains(err.Error(), "the copy differs: its head") {
		t.Errorf("another head: %v", err)
	}
}

type miscounting struct{ *memstore.Store }

func (m miscounting) Count(ctx context.Context) (int64, bool, error) {
	n, exact, err := m.Store.Count(ctx)
	return n + 1, exact, err
}

func TestFree(t *testing.T) {
	to := t.TempDir()
	if err := errors.Join(free(to), free(filepath.Join(to, "none"))); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(to, "a"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := free(to); err == nil {
		t.Error("a directory with files is free")
	}
}

// Redact shows what it will remove, and the answer of the user decides.
func TestConfirmRedaction(t *testing.T) {
	b := newBench(t)
	b.put(t, "a")
	n := name.MustParse("urn:dns:example.org:a")
	for typed, want := range map[string]int{
		"urn:dns:example.org:a\n": exitYes, " URN:DNS:Example.org:a \n": exitYes, "urn:dns:example.org:a": exitYes,
		"": exitNo, "yes\n": exitNo, "urn:dns:example.org:b\n": exitNo,
	} {
		b.in = strings.NewReader(typed)
		b.err.Reset()
		err := b.confirmRedaction(t.Context(), b.l, n, registrar.Redaction{Revisions: []uint64{1}})
		if exitStatus(err) != want || !strings.Contains(b.err.String(), "https://old.example/a") {
			t.Errorf("typed %q: %v; asked %q", typed, err, b.err)
		}
	}
}
