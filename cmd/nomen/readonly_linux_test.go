//go:build faults

package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A copy of a data directory on a read-only medium can be read. Only root may mount such a medium:
// `make faults` runs this test.
func TestReadOnlyMedium(t *testing.T) {
	base := t.TempDir()
	data, medium := filepath.Join(base, "data"), t.TempDir()
	do := func(args ...string) (status int, said string) {
		var out bytes.Buffer
		status = run(t.Context(), args, streams{in: strings.NewReader(""), out: &out, err: &out})
		return status, out.String()
	}
	const url = "https://example.org/1"
	if status, said := do("put", "--data", data, "urn:example:1", url); status != exitYes {
		t.Fatal(said)
	}
	if err := syscall.Mount(base, medium, "", syscall.MS_BIND, ""); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(medium, 0); err != nil {
			t.Error(err)
		}
	})
	if err := syscall.Mount("", medium, "", syscall.MS_BIND|syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	data = filepath.Join(medium, "data")
	for _, args := range [][]string{{"get", "urn:example:1"}, {"history", "urn:example:1"}, {"find", "--location", url}, {"export"}, {"verify"}} {
		if status, said := do(append(args, "--data", data)...); status != exitYes || args[0] != "verify" && args[0] != "history" && !strings.Contains(said, url) {
			t.Errorf("%s: status %d: %s", args[0], status, said)
		}
	}
	if status, said := do("put", "--data", data, "urn:example:2", url); status != exitFailure || !strings.Contains(said, "read-only file system") {
		t.Errorf("put: status %d: %s", status, said)
	}
	if status, said := do("log", "key", "new", "--name", "a.example/-/log", filepath.Join(medium, "log.key")); status != exitFailure || !strings.Contains(said, "read-only file system") || strings.Contains(said, "a.example/-/log+") {
		t.Errorf("log key new: status %d: %s, want no public key", status, said)
	}
}
