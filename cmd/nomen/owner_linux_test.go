package main

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// What root does in the data directory of another user leaves files that this user can use.
func TestRootKeepsOwner(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Log("only root can act for other users: not tested")
		return
	}
	const nobody = 65534
	top := t.TempDir()
	data, backups, restored := filepath.Join(top, "data"), filepath.Join(top, "backups"), filepath.Join(top, "restored")
	for _, dir := range []string{data, backups, restored} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(dir, nobody, nobody); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{"put", "--data", data, "urn:example:a", "https://example.org/a"},
		{"verify", "--data", data},
		{"backup", "--data", data, filepath.Join(backups, "one")},
		{"restore", "--data", restored, filepath.Join(backups, "one")},
	} {
		if status := run(t.Context(), args, streams{out: io.Discard, err: io.Discard}); status != exitYes {
			t.Fatalf("%q: status %d", args, status)
		}
	}
	for _, dir := range []string{data, backups, restored} {
		files := 0
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := e.Info()
			if err == nil && info.Sys().(*syscall.Stat_t).Uid != nobody {
				t.Errorf("%s belongs to user %d", path, info.Sys().(*syscall.Stat_t).Uid)
			}
			files++
			return err
		})
		if err != nil || files < 3 {
			t.Errorf("%s: %d files, %v", dir, files, err)
		}
	}
}
