// Package testrun decides how many repetitions tests make, and finds the data files that some tests
// read.
package testrun

import (
	"compress/gzip"
	"errors"
	"flag"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Long is the environment variable that makes tests run at full length if it is 1.
const Long = "NOMEN_LONG"

// Reduced reports whether tests should make fewer repetitions. This is so with -short, and under
// the race detector, where each step takes ten times as long and more repetitions do not find more
// races. With NOMEN_LONG=1, Reduced always returns false.
func Reduced() bool {
	return os.Getenv(Long) == "" && (testing.Short() || RaceEnabled)
}

// Repeats returns reduced if [Reduced] is true, and full otherwise. What a test checks must not
// depend on the number of repetitions.
func Repeats(full, reduced int) int {
	if Reduced() {
		return reduced
	}
	return full
}

// Some returns every nth element of a list with -short, and otherwise the whole list.
func Some[T any](list []T, n int) []T {
	if !testing.Short() {
		return list
	}
	var some []T
	for i := 0; i < len(list); i += n {
		some = append(some, list[i])
	}
	return some
}

// Checks sets the number of random examples in the property tests of t if [Reduced] is true.
func Checks(t *testing.T, reduced int) {
	t.Helper()
	f := flag.Lookup("rapid.checks")
	if f == nil || !Reduced() || f.Value.String() != f.DefValue {
		return
	}
	if testing.Short() {
		reduced *= 5 // with -short, rapid divides the number by five
	}
	if err := f.Value.Set(strconv.Itoa(reduced)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Value.Set(f.DefValue) })
}

// Corpus returns the decompressed content of a file of the collected data. It uses the first of
// these that exists: the committed copy in testdata/corpus/whole, the copy in ../shared/data next
// to the module, and the committed part in testdata/corpus/part. The result whole is false if only
// a part was found. If no file exists, the test fails, because every clone of the repository
// contains at least a part.
func Corpus(t testing.TB, file string) (data []byte, whole bool) {
	t.Helper()
	committed := filepath.Join(moduleRoot(t), "testdata", "corpus")
	if data, ok := read(t, filepath.Join(committed, "whole", file)); ok {
		return data, true
	}
	if data, ok := Beside(t, filepath.Join("data", file)); ok {
		return data, true
	}
	data, ok := read(t, filepath.Join(committed, "part", file))
	if !ok {
		t.Fatalf("%s is missing in testdata/corpus, which scripts/corpus.sh writes", file)
	}
	return data, false
}

// Lines returns the lines of a file that [Corpus] finds.
func Lines(t testing.TB, file string) (lines []string, whole bool) {
	t.Helper()
	data, whole := Corpus(t, file)
	for line := range strings.Lines(string(data)) {
		lines = append(lines, strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r"))
	}
	return lines, whole
}

// Beside returns the decompressed content of a file in ../shared next to the module, and false if
// the file is missing. Use it for data that may not be committed because of its licence. If the
// file is missing, a test should use committed data instead of skipping.
func Beside(t testing.TB, file string) (data []byte, ok bool) {
	t.Helper()
	return read(t, filepath.Join(moduleRoot(t), "..", "shared", file))
}

// read returns the content of a file. If the file does not exist, read decompresses the file with
// the suffix ".gz". If that does not exist either, it returns false.
func read(t testing.TB, path string) (data []byte, ok bool) {
	t.Helper()
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		path += ".gz"
		f, err = os.Open(path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
	}
	if data, err = io.ReadAll(r); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return data, true
}

// CI is an environment variable that most continuous integration services set. If it is set, a test
// fails if a program that it needs is not installed.
const CI = "CI"

// Missing skips a test that needs a program that is not installed. If [CI] is set, the test fails.
func Missing(t testing.TB, what string) {
	t.Helper()
	Lacks(t, what)
	t.SkipNow()
}

// Lacks logs that a test continues without a program that is not installed. If [CI] is set, the
// test fails.
func Lacks(t testing.TB, what string) {
	t.Helper()
	const advice = "%s is missing: scripts/prepare.sh installs what tests need"
	if os.Getenv(CI) != "" {
		t.Fatalf(advice, what)
	}
	t.Logf(advice, what)
}

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
