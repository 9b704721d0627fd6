package search

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
)

// TestFullDisk checks that the index stops if its disk is full, reports this, and continues when
// there is space.
func TestFullDisk(t *testing.T) {
	var full atomic.Bool
	disk := errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
		if full.Load() && op.Kind.ReadOrWrite() == errorfs.OpIsWrite && !strings.HasPrefix(op.Path, "other") {
			return syscall.ENOSPC
		}
		return nil
	}))
	s := &subject{T: t, store: memstore.New(), clock: 1}
	s.open(disk)
	t.Cleanup(func() { _ = s.index.Close() })
	s.put("urn:dns:example.org:a", "alpha")
	s.catchUp()
	full.Store(true)
	s.put("urn:dns:example.org:b", "alpha")
	for range 3 {
		if err := s.index.CatchUp(t.Context()); !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("got %v, want %v", err, syscall.ENOSPC)
		}
	}
	if _, err := s.index.Search(t.Context(), store.Query{Text: "alpha"}); err != nil && !errors.Is(err, store.ErrNoIndex) {
		t.Errorf("got %v, want a result or %v", err, store.ErrNoIndex)
	}
	full.Store(false)
	s.catchUp()
	s.finds(store.Query{Text: "alpha"}, "urn:dns:example.org:a", "urn:dns:example.org:b")
}

// TestLocked checks that an index that another program has open is not removed.
func TestLocked(t *testing.T) {
	s := newSubject(t, memstore.New())
	s.put("urn:dns:example.org:a", "alpha")
	s.catchUp()
	dir := t.TempDir()
	first, err := Open(Options{Dir: dir, Store: s.store.(Source)})
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	if err := first.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "kept"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if second, err := Open(Options{Dir: dir, Store: s.store.(Source)}); err == nil {
		_ = second.Close()
		t.Fatal("an index was opened twice")
	}
	if _, err := os.Stat(filepath.Join(dir, "kept")); err != nil {
		t.Errorf("the files of the index: %v", err)
	}
	if page, err := first.Search(t.Context(), store.Query{Text: "alpha"}); err != nil || len(page.Records) != 1 {
		t.Errorf("got %d records, %v", len(page.Records), err)
	}
}

// TestDirectoryAbove checks that the index does not create the data directory, because the
// directory may have been moved away.
func TestDirectoryAbove(t *testing.T) {
	s := newSubject(t, memstore.New())
	data := filepath.Join(t.TempDir(), "data")
	if x, err := Open(Options{Dir: filepath.Join(data, "search"), Store: s.store.(Source)}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, %v, want %v", x, err, os.ErrNotExist)
	}
	if _, err := os.Stat(data); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory was created: %v", err)
	}
}
