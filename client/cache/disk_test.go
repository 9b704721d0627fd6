package cache_test

import (
	"bufio"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/client"
	"github.com/nomen-project/nomen/client/cache"
)

// TestMain runs this program as the one to be killed.
func TestMain(m *testing.M) {
	if dir := os.Getenv("NOMEN_TEST_CACHE"); dir != "" {
		fill(dir)
	}
	os.Exit(m.Run())
}

// fill writes entries in a loop and prints the number of each one written.
func fill(dir string) {
	k, err := cache.OpenDisk(dir, cache.Limits{})
	if err != nil {
		panic(err)
	}
	for i := 0; ; i++ {
		if err := k.Put(entry(i % 50)); err != nil {
			panic(err)
		}
		fmt.Println(i % 50)
	}
}

// entry returns a large entry whose parts show whether they belong together.
func entry(i int) cache.Entry {
	q := ask(fmt.Sprintf("urn:example:%d", i))
	a := rich(q.Name, nomen.I2C)
	a.Reason = strings.Repeat(fmt.Sprint(i), 100_000)
	return cache.Entry{Key: cache.Key(q), Answer: a, Validators: client.Validators{From: "x", Modified: time.Unix(0, 0).UTC().Format(day)}}
}

// When a program is killed while writing, every entry that it reported as written is there and
// complete, and no incomplete entry can be read.
func TestKilled(t *testing.T) {
	dir := t.TempDir()
	for round := range 5 {
		cmd := exec.Command(os.Args[0], "-test.run=^$")
		cmd.Env = append(os.Environ(), "NOMEN_TEST_CACHE="+dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		written := map[int]bool{}
		for lines := bufio.NewScanner(out); len(written) < 10*(round+1) && lines.Scan(); {
			var i int
			fmt.Sscan(lines.Text(), &i)
			written[i] = true
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()

		k, err := cache.OpenDisk(dir, cache.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 50 {
			want := entry(i)
			got, ok := k.Get(want.Key)
			if written[i] && !ok || ok && (got.Answer.Reason != want.Answer.Reason || got.Validators != want.Validators) {
				t.Errorf("round %d, entry %d: there %v, want %v", round, i, ok, written[i])
			}
		}
		if err := k.Put(entry(0)); err != nil {
			t.Error(err)
		}
	}
}

// files returns the files in a directory.
func files(t *testing.T, dir string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			all = append(all, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A damaged file counts as missing, whatever the damage. The next answer replaces it.
func TestDamage(t *testing.T) {
	dir := t.TempDir()
	k, err := cache.OpenDisk(dir, cache.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	s := &source{}
	c := cache.New(s, k, cache.Options{})
	q := ask("urn:ietf:rfc:2648")
	if _, err := c.Resolve(t.Context(), q); err != nil {
		t.Fatal(err)
	}
	path := files(t, dir)[0]
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(good); i += 7 {
		flipped := append([]byte(nil), good...)
		flipped[i] ^= 1
		for _, bad := range [][]byte{flipped, good[:i], append(good[:i:i], "\n\n"...)} {
			if err := os.WriteFile(path, bad, 0o600); err != nil {
				t.Fatal(err)
			}
			if e, ok := k.Get(cache.Key(q)); ok {
				t.Fatalf("damaged at %d: got %+v", i, e)
			}
		}
	}
	if a, err := c.Resolve(t.Context(), q); err != nil || a.Name != q.Name || s.confirms.Load() != 0 {
		t.Errorf("got %+v, %v", a, err)
	}
	if _, ok := k.Get(cache.Key(q)); !ok {
		t.Error("it was not replaced")
	}
	if got := ask("urn:example:other"); true { // the file of another key
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := k.Put(cache.Entry{Key: cache.Key(got), Answer: rich(got.Name, nomen.I2C)}); err != nil {
			t.Fatal(err)
		}
		for _, other := range files(t, dir) {
			if other != path {
				if err := os.Rename(other, path); err != nil {
					t.Fatal(err)
				}
			}
		}
		if e, ok := k.Get(cache.Key(q)); ok {
			t.Errorf("the entry of another question: %+v", e)
		}
	}
}

// Only the cache's own files are touched. Incomplete ones are removed after a while.
func TestForeignFiles(t *testing.T) {
	dir := t.TempDir()
	past := time.Now().Add(-2 * time.Hour)
	write := func(name string, old bool) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if old {
			if err := os.Chtimes(path, past, past); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, name := range []string{"new-letter", "x.entry", "docs/new-letter", "ab/notes.entry", "ab/letter"} {
		write(name, true)
	}
	write("ab/x.entry.new1", true)
	write("ab/x.entry.new2", false)
	if _, err := cache.OpenDisk(dir, cache.Limits{MaxEntries: 1, MaxBytes: 1}); err != nil {
		t.Fatal(err)
	}
	if got := files(t, dir); len(got) != 6 || strings.Contains(strings.Join(got, " "), ".new1") {
		t.Errorf("got %q", got)
	}
	if _, err := cache.OpenDisk(filepath.Join(dir, "x.entry"), cache.Limits{}); err == nil {
		t.Error("a file is taken for a directory")
	}
}

// An answer that cannot be written is returned all the same.
func TestFull(t *testing.T) {
	if os.Geteuid() == 0 {
		dir := t.TempDir()
		k, err := cache.OpenDisk(dir+"/c", cache.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(dir + "/c"); err != nil {
			t.Fatal(err)
		}
		var failed error
		c := cache.New(&source{}, k, cache.Options{Failed: func(err error) { failed = err }})
		if _, err := c.Resolve(context.Background(), ask("urn:ietf:rfc:2648")); err != nil || failed == nil {
			t.Errorf("got %v, told %v", err, failed)
		}
	}
}

// Entries with a time in the future, from a wrong clock, are removed like others.
func TestClockWasWrong(t *testing.T) {
	dir := t.TempDir()
	k, err := cache.OpenDisk(dir, cache.Limits{MaxEntries: 32})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 32 {
		if err := k.Put(entry(i)); err != nil {
			t.Fatal(err)
		}
	}
	future := time.Now().AddDate(20, 0, 0)
	for _, path := range files(t, dir) {
		if err := os.Chtimes(path, future, future); err != nil {
			t.Fatal(err)
		}
	}
	const used = 7
	if _, ok := k.Get(entry(used).Key); !ok {
		t.Fatal("it is missing")
	}
	for i := 100; i < 116; i++ {
		if err := k.Put(entry(i)); err != nil {
			t.Fatal(err)
		}
	}
	for _, i := range []int{used, 100, 110, 115} {
		if _, ok := k.Get(entry(i).Key); !ok {
			t.Errorf("entry %d was removed", i)
		}
	}
}
