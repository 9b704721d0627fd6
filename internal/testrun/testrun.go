// Package testrun decides how much work a run of the tests does, and finds the data
// files that some tests read.
package testrun

import (
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// Long is the environment variable that asks for full-length tests.
const Long = "NOMEN_LONG"

// Reduced reports whether tests repeat less: with -short, and under the race detector,
// where each step takes ten times as long and more rounds find no other races.
// NOMEN_LONG=1 asks for all of it.
func Reduced() bool {
	return os.Getenv(Long) == "" && (testing.Short() || RaceEnabled)
}

// Repeats returns how often a test repeats what it does: full, or reduced if [Reduced].
// What is asserted of each round must not depend on it.
func Repeats(full, reduced int) int {
	if Reduced() {
		return reduced
	}
	return full
}

// Checks sets how many random examples the property tests of t try if [Reduced].
func Checks(t *testing.T, reduced int) {
	t.Helper()
	f := flag.Lookup("rapid.checks")
	if f == nil || !Reduced() || f.Value.String() != f.DefValue {
		return
	}
	if testing.Short() {
		reduced *= 5 // rapid divides it
	}
	if err := f.Value.Set(strconv.Itoa(reduced)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Value.Set(f.DefValue) })
}

// Corpus returns the path of a file of the collected data, which lies beside the module in
// ../shared/data, or of the part of it that is committed in internal/testrun/testdata;
// whole reports which. If there is neither, it calls [Missing].
func Corpus(t testing.TB, file string) (path string, whole bool) {
	t.Helper()
	root := moduleRoot(t)
	file = filepath.FromSlash(file)
	path = filepath.Join(root, "..", "shared", "data", file)
	if _, err := os.Stat(path); err == nil {
		return path, true
	}
	part := filepath.Join(root, "internal", "testrun", "testdata", file)
	if _, err := os.Stat(part); err == nil {
		t.Logf("%s is missing: a part of it is read", path)
		return part, false
	}
	Missing(t, path)
	return "", false
}

// Complete is the environment variable that forbids tests to do without a file or program.
const Complete = "NOMEN_COMPLETE"

// Missing skips a test that cannot run without a file or program, or fails it if
// NOMEN_COMPLETE is set.
func Missing(t testing.TB, what string) {
	t.Helper()
	if os.Getenv(Complete) != "" {
		t.Fatalf("%s is missing", what)
	}
	t.Skipf("%s is missing", what)
}

// Lacks notes that a test does without a program or a file, or fails it if NOMEN_COMPLETE
// is set.
func Lacks(t testing.TB, what string) {
	t.Helper()
	if os.Getenv(Complete) != "" {
		t.Fatalf("%s is missing", what)
	}
	t.Logf("%s is missing: the test does without", what)
}

// moduleRoot returns the directory of go.mod.
func moduleRoot(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		above := filepath.Dir(dir)
		if above == dir {
			t.Fatal("no go.mod above the working directory")
		}
		dir = above
	}
}
