package countstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/nomen-project/nomen/counts"
	"github.com/nomen-project/nomen/counts/countstest"
	"github.com/nomen-project/nomen/internal/pacer"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/pebblestore"
)

func open(t testing.TB, fs vfs.FS) *Store {
	t.Helper()
	s, err := Open(Options{Dir: "counts", FS: fs})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestStore(t *testing.T) {
	countstest.Run(t, func(t testing.TB) (counts.Store, func() counts.Store) {
		fs := vfs.NewMem()
		s := open(t, fs)
		return s, func() counts.Store {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			return open(t, fs)
		}
	})
}

// While requests are answered, background work with many rows rests.
func TestRests(t *testing.T) {
	const rows = 20_000
	s, p := open(t, vfs.NewMem()), pacer.New()
	b := counts.Batch{Node: "a", Seq: 1}
	for i := range rows {
		b.Rows = append(b.Rows, counts.Row{Key: counts.Key{Month: 1, Kind: counts.OfName, Text: fmt.Sprintf("urn:a:%06d", i)}, Cells: []counts.Cell{{Day: 1, What: 1, Class: counts.Regular, N: 1}}})
	}
	for _, tt := range []struct {
		what string
		do   func(context.Context) error
	}{
		{"Add", func(ctx context.Context) error { return s.Add(ctx, b) }},
		{"Roll", func(ctx context.Context) error { return s.Roll(ctx, 2) }},
	} {
		before := p.Rested()
		p.Request()
		if err := tt.do(pacer.With(t.Context(), p)); err != nil {
			t.Fatalf("%s: %v", tt.what, err)
		}
		if p.Rested()-before < time.Millisecond {
			t.Errorf("%s did not rest", tt.what)
		}
	}
}

// A store that is open in one process cannot be opened by another one.
func TestLocked(t *testing.T) {
	fs := vfs.NewMem()
	open(t, fs)
	if s, err := Open(Options{Dir: "counts", FS: fs}); !errors.Is(err, pebblestore.ErrLocked) {
		t.Errorf("got %v, %v, want ErrLocked", s, err)
	}
}

// A later format is not read.
func TestLaterVersion(t *testing.T) {
	fs := vfs.NewMem()
	s := open(t, fs)
	if err := s.db.Set(versionKey, []byte{formatVersion + 1}, pebble.Sync); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := Open(Options{Dir: "counts", FS: fs})
	if version := new(store.VersionError); !errors.As(err, &version) {
		t.Errorf("got %v, want a VersionError", err)
	}
}

// A directory that cannot be read is put aside, and counting starts again.
func TestOpenOrReplace(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "counts")
	for _, aside := range []string{"", ".unread", ".unread2"} {
		var log bytes.Buffer
		s, err := OpenOrReplace(Options{Dir: dir, Log: slog.New(slog.NewTextHandler(&log, nil))})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(dir + aside); err != nil || strings.Contains(log.String(), "starting from zero") != (aside != "") {
			t.Errorf("%q: %v, %s", aside, err, &log)
		}
		if again, err := OpenOrReplace(Options{Dir: dir}); !errors.Is(err, pebblestore.ErrLocked) {
			t.Errorf("while it is open: %v, %v; want ErrLocked", again, err)
		}
		if err := s.db.Set(versionKey, []byte{formatVersion + 1}, pebble.Sync); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A damaged row does not stop counting or reports.
func TestDamaged(t *testing.T) {
	s := open(t, vfs.NewMem())
	row := counts.Row{Key: counts.Key{Month: 24000, Kind: counts.OfName, Text: "urn:x-y:a"}, Cells: []counts.Cell{{Day: 1, What: 1, N: 5}}}
	key := appendKey(nil, row.Month, row.Kind, row.Text)
	if err := s.db.Set(key, []byte{0xff}, pebble.Sync); err != nil {
		t.Fatal(err)
	}
	q := counts.Query{Kind: counts.OfName, From: 24000, To: 24000, Prefix: true}
	if got := countstest.Rows(t, s, q); len(got) != 0 {
		t.Errorf("got %v", got)
	}
	if err := s.Add(t.Context(), counts.Batch{Node: "n", Seq: 1, Rows: []counts.Row{row}}); err != nil {
		t.Fatal(err)
	}
	if got := countstest.Rows(t, s, q); len(got) != 1 || got[0].Cells[0].N != 5 {
		t.Errorf("got %v", got)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Add(t.Context(), counts.Batch{}); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	for _, err := range s.Rows(t.Context(), q) {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	}
}
