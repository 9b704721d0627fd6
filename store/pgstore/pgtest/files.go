package pgtest

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// initialize creates the files of a new server. It copies the files from the cache of an earlier
// run. Without such files, it runs initdb and adds a copy of the result to the cache.
func (s *Server) initialize() error {
	kept, err := s.kept()
	if err != nil {
		return err
	}
	if kept != "" {
		if err := copyAll(kept, s.data()); err == nil {
			return nil
		}
		if err := os.RemoveAll(s.data()); err != nil {
			return err
		}
	}
	if err := s.initdb(); err != nil || kept == "" {
		return err
	}
	return s.keep(kept)
}

func (s *Server) initdb() error {
	args := []string{"--pgdata=" + s.data(), "--username=nomen", "--auth=trust", "--encoding=UTF8", "--no-sync"}
	if s.run("initdb", append(args, "--locale-provider=icu", "--icu-locale=en-US", "--locale=C.UTF-8")...) == nil {
		return nil
	}
	_ = os.RemoveAll(s.data()) // of a version before 15
	return s.run("initdb", append(args, "--locale=C.UTF-8")...)
}

// kept returns the cache directory for the files of servers with the version and owner of s. If the
// user has no cache directory, it returns "".
func (s *Server) kept() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", nil
	}
	var version strings.Builder
	if err := s.pipe(nil, &version, "initdb", "--version"); err != nil {
		return "", err
	}
	if s.owner != nil {
		fmt.Fprint(&version, s.owner.Uid)
	}
	return filepath.Join(cache, "nomen-pgtest", fmt.Sprintf("%x", sha256.Sum256([]byte(version.String())))[:16]), nil
}

// keep copies the files of s to the directory dir. The copy has a temporary name until it is
// complete.
func (s *Server) keep(dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return nil // the cache cannot be written
	}
	temp, err := os.MkdirTemp(filepath.Dir(dir), "new")
	if err != nil {
		return nil
	}
	err = copyAll(s.data(), filepath.Join(temp, "data"))
	if err == nil {
		_ = os.Rename(filepath.Join(temp, "data"), dir) // another process may be first
	}
	return errors.Join(err, os.RemoveAll(temp))
}

func copyAll(from, to string) error {
	if _, err := os.Stat(from); err != nil {
		return err
	}
	if out, err := exec.Command("cp", "-Rp", from, to).CombinedOutput(); err != nil {
		return fmt.Errorf("pgtest: cp: %w: %s", err, out)
	}
	return nil
}
