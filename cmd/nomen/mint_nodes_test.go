package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/nomen-project/nomen/store/pgstore/pgtest"
)

// Several processes make the names of a NOID minter at the same time, and some of them are killed. No
// name is made twice, none is lost, and together they are the next names of the real minter.
func TestMintByNodes(t *testing.T) {
	t.Parallel()
	db := startDatabase(t, pgtest.Options{})
	for _, tt := range []struct {
		name      string
		store     []string
		processes int // at once
		rounds    int
	}{
		{"own store", []string{"--data", t.TempDir()}, 1, 3},
		{"database", []string{"--data", t.TempDir(), "--store", db.URL()}, 3, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := &minters{t: t, args: tt.store}
			m.nomen("authority", "put", "ark:77913", "--owner", "archive", "--owner", "library", "--mint", "r7{noid:eedk:add3:2191}")
			for range tt.rounds {
				var all sync.WaitGroup
				for i := range tt.processes {
					all.Go(func() { m.mint(i == 0) })
				}
				all.Wait()
			}
			m.check()
		})
	}
}

// minters are processes that make names in one store.
type minters struct {
	t    *testing.T
	args []string // options of the store

	mu    sync.Mutex
	names []string // that were printed
}

func (m *minters) nomen(args ...string) (out string) {
	m.t.Helper()
	var o, log strings.Builder
	if status := run(m.t.Context(), append(slices.Clone(m.args), args...), streams{strings.NewReader(""), &o, &log}); status != exitYes {
		m.t.Fatal(args, status, log.String())
	}
	return o.String()
}

// mint makes names in a process of its own, which is killed before it has made all if killed is true.
func (m *minters) mint(killed bool) {
	count, enough := 120, 120
	if killed {
		count, enough = 5000, 70
	}
	cmd := exec.CommandContext(m.t.Context(), os.Args[0], append(slices.Clone(m.args), "mint", "--count", fmt.Sprint(count), "ark:77913")...)
	cmd.Env = append(os.Environ(), "NOMEN_TEST_PROGRAM=1")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		m.t.Error(err)
		return
	}
	got := m.read(bufio.NewReader(out), enough)
	if killed {
		_ = cmd.Process.Kill()
	}
	if err := cmd.Wait(); got < enough || killed == (err == nil) {
		m.t.Errorf("a process that made %d of %d names ended with %v", got, count, err)
	}
}

// read reads names until there are enough. It ignores a line that was not written completely.
func (m *minters) read(in *bufio.Reader, enough int) (n int) {
	for ; n < enough; n++ {
		line, err := in.ReadString('\n')
		if err != nil {
			return n
		}
		m.mu.Lock()
		m.names = append(m.names, strings.TrimSpace(line))
		m.mu.Unlock()
	}
	return n
}

// check compares the names that exist with those of the real minter, and with those that were printed.
func (m *minters) check() {
	t := m.t
	text, err := os.ReadFile("../../mint/testdata/noid_77913_r7.txt")
	if err != nil {
		t.Fatal(err)
	}
	var exist []string
	for line := range strings.Lines(m.nomen("export", "--format", "csv", "--prefix", "ark:77913/")) {
		key, _, _ := strings.Cut(line, ",")
		exist = append(exist, key)
	}
	exist = exist[1:] // without the header
	var want []string
	for i, s := range strings.Fields(string(text)) {
		if i < len(exist) {
			want = append(want, "ark:77913/r7"+s)
		}
	}
	next := strings.Fields(string(text))[len(exist)]
	slices.Sort(want)
	slices.Sort(exist)
	if !slices.Equal(exist, want) {
		t.Errorf("the %d names are not the next of the minter:\n got %q\nwant %q", len(exist), exist, want)
	}
	slices.Sort(m.names)
	if made := len(m.names); len(slices.Compact(m.names)) != made || made < 200 || made > len(exist) {
		t.Errorf("%d names were printed, of which %d differ; %d exist", made, len(slices.Compact(m.names)), len(exist))
	}
	for _, n := range m.names {
		if _, ok := slices.BinarySearch(exist, n); !ok {
			t.Errorf("%s was printed, but does not exist", n)
		}
	}
	if got := strings.TrimSpace(m.nomen("mint", "ark:77913")); got != "ark:77913/r7"+next {
		t.Errorf("the next name is %s, want %s", got, "ark:77913/r7"+next)
	}
}
