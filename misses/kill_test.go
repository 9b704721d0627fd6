package misses

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// countForEver counts and writes as fast as it can.
func countForEver(file string) {
	c, err := Open(Options{File: file, Every: time.Hour})
	if err != nil {
		panic(err)
	}
	for worker := range 4 {
		go func() {
			for n := 0; ; n++ {
				c.Add(fmt.Sprintf("urn:x-y:%d-%d", worker, n%500), []string{"urn:x-y:near"})
				time.Sleep(time.Microsecond)
			}
		}()
	}
	for {
		if err := c.flush(); err != nil {
			panic(err)
		}
	}
}

// After the process is killed, the file is complete, and the next Open removes an incomplete
// temporary file. Counts never decrease.
func TestKilled(t *testing.T) {
	if file := os.Getenv("NOMEN_TEST_MISSES"); file != "" {
		countForEver(file)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "misses.jsonl")
	var before uint64
	for range 4 {
		cmd := exec.Command(exe, "-test.run", "^TestKilled$")
		cmd.Env = append(os.Environ(), "NOMEN_TEST_MISSES="+file)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		asked := before
		for deadline := time.Now().Add(time.Minute); asked == before && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
			if _, totals, err := Load(file); err == nil {
				asked = totals.Asked
			}
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		list, totals, err := Load(file)
		if err != nil || len(list) == 0 || totals.Asked <= before {
			t.Fatalf("%d names, %+v, %v; %d were asked for before", len(list), totals, err, before)
		}
		before = totals.Asked
	}
	left := filepath.Join(dir, "misses.jsonl.new123456789") // in case the run left no such file
	if err := os.WriteFile(left, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	mine := filepath.Join(dir, "misses.jsonl.news")
	if err := os.WriteFile(mine, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Open(Options{File: file})
	if err != nil {
		t.Fatal(err)
	}
	balanced(t, c)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 || entries[0].Name() != "misses.jsonl" || entries[1].Name() != "misses.jsonl.news" {
		t.Errorf("left are %v, %v", entries, err)
	}
}
