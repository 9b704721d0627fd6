package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestLogKeyFiles checks that 'nomen log key new' prints a public key only if the private key is on
// disk, that only the owner can read the private key, and that a server accepts it from a file or
// from the directory of credentials.
func TestLogKeyFiles(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(plain, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	nomen := func(args ...string) (int, string, string) {
		var out, errs strings.Builder
		status := run(t.Context(), append([]string{"--data", filepath.Join(dir, "data")}, args...), streams{strings.NewReader(""), &out, &errs})
		return status, out.String(), errs.String()
	}
	unwritable := map[string]string{
		"missing directory": filepath.Join(dir, "none", "log.key"), "file as directory": filepath.Join(plain, "log.key"),
		"existing file": plain, "symbolic link": filepath.Join(dir, "link"), "directory": dir,
	}
	if runtime.GOOS == "linux" {
		unwritable["file system without files"] = "/proc/log.key" // for root too
	}
	for what, file := range unwritable {
		status, out, errs := nomen("log", "key", "new", "--name", "a.example/-/log", file)
		if status != exitFailure || out != "" || !strings.Contains(errs, file) {
			t.Errorf("%s: status %d, %q, %q, want a failure that names the file", what, status, out, errs)
		}
	}
	if b, err := os.ReadFile(plain); err != nil || string(b) != "x" {
		t.Errorf("a file that existed is now %q, %v", b, err)
	}

	key := filepath.Join(dir, "log.key")
	if status, out, errs := nomen("log", "key", "new", "--public-url", "https://a.example", key); status != exitYes || !strings.HasPrefix(out, "a.example/-/log+") {
		t.Fatal(status, out, errs)
	}
	if info, err := os.Stat(key); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the mode of the key is %v, %v, want 0600", info.Mode(), err)
	}
	t.Setenv("CREDENTIALS_DIRECTORY", dir)
	for name, want := range map[string]string{
		key: "", "credential:log.key": "", "credential:none": "not found", "credential:../plain": "invalid credential name", plain: plain,
	} {
		f := serveFlags{publicURL: "https://a.example"}
		f.publish.key, f.publish.timeout = name, 1
		err := f.checkPublish()
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("log.key = %q: %v, want %q", name, err, want)
		}
	}
}
