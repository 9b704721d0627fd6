package countstore

import (
	"bufio"
	"context"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/nomen-project/nomen/counts"
	"github.com/nomen-project/nomen/counts/countstest"
)

// countForEver counts 100 resolutions at a time and writes them. Before each write it prints how
// many it has counted, after it how many are written.
func countForEver(dir string) {
	s, err := Open(Options{Dir: dir})
	if err != nil {
		panic(err)
	}
	c, err := counts.Open(counts.Options{Store: s, Every: time.Hour})
	if err != nil {
		panic(err)
	}
	for n := 0; ; {
		for range 100 {
			n++
			by := &counts.Client{}
			by.Set(netip.AddrFrom4([4]byte{10, byte(n >> 16), byte(n >> 8), byte(n)}), "Mozilla/5.0 (X11) Firefox/140.0")
			c.Resolved(by, fmt.Sprint("urn:x-y:", n%37), 1, time.Now())
		}
		fmt.Println("counted", n)
		if err := c.Flush(context.Background()); err != nil {
			panic(err)
		}
		fmt.Println("written", n)
	}
}

// When a server is killed, at most the counts since the last write are lost, and none counts twice.
func TestKilled(t *testing.T) {
	if dir := os.Getenv("NOMEN_TEST_COUNTS"); dir != "" {
		countForEver(dir)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "counts")
	var base uint64
	for run := range 6 {
		cmd := exec.Command(exe, "-test.run", "^TestKilled$")
		cmd.Env = append(os.Environ(), "NOMEN_TEST_COUNTS="+dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var counted, written uint64
		lines := bufio.NewScanner(out)
		for line := 0; lines.Scan(); line++ {
			var what string
			var n uint64
			if _, err := fmt.Sscan(lines.Text(), &what, &n); err != nil {
				t.Fatalf("%q: %v", lines.Text(), err)
			}
			if what == "counted" {
				counted = n
			} else {
				written = n
			}
			if line == 20+7*run {
				_ = cmd.Process.Kill() // and read what it printed until then
			}
		}
		_ = cmd.Wait()
		if written == 0 || counted-written > 100 {
			t.Fatalf("counted %d, written %d", counted, written)
		}
		s, err := Open(Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		var got uint64
		for _, kind := range []counts.Kind{counts.OfName, counts.OfAuthority} {
			got = 0
			for _, r := range countstest.Rows(t, s, counts.Query{Kind: kind, To: 60000, Prefix: true}) {
				for _, c := range r.Cells {
					got += c.N
				}
			}
			if got != base+written && got != base+counted && (counted != written || got != base+counted+100) { // the last line may not have been printed
				t.Errorf("run %d, kind %d: %d resolutions; before %d, written %d, counted %d", run, kind, got, base, written, counted)
			}
		}
		base = got
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
