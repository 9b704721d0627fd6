package durable

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// A crashing file system simulates a loss of power. If failAt is positive, the step with this
// number and all later steps fail. After each step, it calls the function after.
type crashing struct {
	*vfs.MemFS
	step, failAt int
	after        func(step int)
}

var errInjected = errors.New("injected")

func (c *crashing) next() error {
	if c.step++; c.failAt > 0 && c.step >= c.failAt {
		return errInjected
	}
	return nil
}

// do runs one step.
func (c *crashing) do(f func() error) error {
	if err := c.next(); err != nil {
		return err
	}
	err := f()
	if c.after != nil {
		c.after(c.step)
	}
	return err
}

type crashingFile struct {
	c *crashing
	vfs.File
}

func (f crashingFile) Write(p []byte) (n int, err error) {
	err = f.c.do(func() error { n, err = f.File.Write(p); return err })
	return n, err
}

func (f crashingFile) Sync() error  { return f.c.do(f.File.Sync) }
func (f crashingFile) Close() error { return f.c.do(f.File.Close) }

func (c *crashing) CreateBeside(path string) (File, string, error) {
	var f vfs.File
	err := c.do(func() (err error) {
		f, err = c.Create(path+".new", vfs.WriteCategoryUnspecified)
		return err
	})
	return crashingFile{c, f}, path + ".new", err
}

func (c *crashing) Rename(from, to string) error {
	return c.do(func() error { return c.MemFS.Rename(from, to) })
}

func (c *crashing) Remove(path string) error { return c.MemFS.Remove(path) }

func (c *crashing) SyncParent(path string) error {
	return c.do(func() error {
		d, err := c.OpenDir(c.PathDir(path))
		if err != nil {
			return err
		}
		return errors.Join(d.Sync(), d.Close())
	})
}

func content(t *testing.T, disk vfs.FS, path string) string {
	t.Helper()
	f, err := disk.Open(path)
	if err != nil {
		return fmt.Sprint(err)
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func twoParts(w io.Writer) error {
	_, err := io.WriteString(w, "ne")
	_, err2 := io.WriteString(w, "w")
	return errors.Join(err, err2)
}

const steps = 7 // of Replace with twoParts: create, two writes, sync, close, rename, sync of the directory

func newDisk(t *testing.T) *crashing {
	t.Helper()
	c := &crashing{MemFS: vfs.NewCrashableMem()}
	if err := Replace(c, "/f", func(w io.Writer) error { _, err := io.WriteString(w, "old"); return err }); err != nil {
		t.Fatal(err)
	}
	c.step = 0
	return c
}

// TestReplaceCrash checks that, after a loss of power at any step, the file has the old or the new
// content, and after the last step the new content.
func TestReplaceCrash(t *testing.T) {
	c := newDisk(t)
	c.after = func(step int) {
		for _, unsynced := range []int{0, 50, 100} { // percentage of the data that was not synced but is on disk nevertheless
			after := c.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: unsynced, RNG: rand.New(rand.NewPCG(1, uint64(step)))})
			got := content(t, after, "/f")
			if got != "old" && got != "new" || step == steps && got != "new" {
				t.Errorf("power lost after step %d, %d %% of what was not synced kept: %q", step, unsynced, got)
			}
		}
	}
	if err := Replace(c, "/f", twoParts); err != nil || c.step != steps {
		t.Fatalf("%d steps, %v; want %d", c.step, err, steps)
	}
}

// TestReplaceFails checks that Replace returns the error of any step, that the old content stays,
// and that no temporary file remains.
func TestReplaceFails(t *testing.T) {
	for failAt := 1; failAt <= steps; failAt++ {
		c := newDisk(t)
		c.failAt = failAt
		if err := Replace(c, "/f", twoParts); !errors.Is(err, errInjected) {
			t.Errorf("step %d failed: Replace returned %v", failAt, err)
		}
		want := "old"
		if failAt == steps { // the sync of the directory
			want = "new"
		}
		if got := content(t, c.MemFS, "/f"); got != want {
			t.Errorf("step %d failed: the file has %q, want %q", failAt, got, want)
		}
		if list, err := c.List("/"); len(list) != 1 || err != nil {
			t.Errorf("step %d failed: there are %q, %v", failAt, list, err)
		}
	}
}

func TestMoveFails(t *testing.T) {
	for failAt := 1; failAt <= 2; failAt++ {
		c := newDisk(t)
		c.failAt = failAt
		if err := Move(c, "/f", "/g"); !errors.Is(err, errInjected) {
			t.Errorf("step %d failed: Move returned %v", failAt, err)
		}
	}
}

// TestSweep checks that Sweep removes only the files that a crash has left beside a file.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"f", "f.new1", "f.new4294967295", "f.news", "g.new1"} {
		if err := WriteFile(filepath.Join(dir, name), "x"); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "f.new7"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := Sweep(filepath.Join(dir, "f")); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if got, want := fmt.Sprint(names), "[f f.new7 f.news g.new1]"; got != want || err != nil {
		t.Errorf("there are %s, %v; want %s", got, err, want)
	}
	if err := Sweep(filepath.Join(dir, "none", "f")); err != nil {
		t.Errorf("Sweep where there is no directory: %v", err)
	}
}
