package pebblestore

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/storetest"
)

// A Scratch returns the records that were kept last, with revision and time, and leaves no files.
func TestScratch(t *testing.T) {
	parent := t.TempDir()
	s, err := NewScratch(parent)
	if err != nil {
		t.Fatal(err)
	}
	one := storetest.Typical(1)
	one.Spelling, one.Revision, one.Modified = one.Name.Key(), 7, time.UnixMilli(1_800_000_000_123).UTC()
	if got, err := s.Record(one.Name); got != nil || err != nil {
		t.Errorf("of nothing: %v, %v", got, err)
	}
	earlier := one.Clone()
	earlier.Revision, earlier.Locations = 6, nil
	for _, kept := range [][]*store.Record{{earlier}, {earlier, one}, {}} {
		if err := s.Keep(kept); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.Record(one.Name)
	if err != nil || !got.SameContent(one) || got.Revision != 7 || !got.Modified.Equal(one.Modified) {
		t.Errorf("got %+v, %v, want %+v", got, err, one)
	}
	if got, err := s.Record(name.MustParse("urn:example:other")); got != nil || err != nil {
		t.Errorf("of another name: %v, %v", got, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(parent); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// A Scratch on a full disk returns an error at once.
func TestScratchOnFullDisk(t *testing.T) {
	for _, name := range []string{".sst", "MANIFEST"} {
		injector := errorfs.InjectorFunc(func(op errorfs.Op) error {
			if op.Kind == errorfs.OpFileWrite && strings.Contains(op.Path, name) {
				return syscall.ENOSPC
			}
			return nil
		})
		s, err := newScratch(errorfs.Wrap(vfs.NewMem(), injector), "scratch")
		for i := 0; err == nil; i++ {
			if i > 100_000 {
				t.Fatalf("%s: it goes on", name)
			}
			one := storetest.Typical(i)
			one.Locations[0].URL += strings.Repeat("x", 4096)
			err = s.Keep([]*store.Record{one})
		}
		if !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%s: %v, want ENOSPC", name, err)
		}
		if s != nil {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
