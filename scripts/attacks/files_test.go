//go:build attack

package attacks

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// stranger is a user who is not the operator and in none of the operator's groups.
const stranger = 65534

// readableBy returns the files below dir that a user can read, by trying it as that
// user.
func readableBy(t *testing.T, user uint32, dir string) []string {
	t.Helper()
	cmd := exec.Command("find", dir, "-type", "f", "-readable")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: user, NoSetGroups: false}}
	out, err := cmd.Output() // find fails for directories that the user may not read
	if _, isExit := err.(*exec.ExitError); err != nil && !isExit {
		t.Fatal(err)
	}
	return strings.Fields(string(out))
}

// TestAttackFilesOfAnother checks that another user of the machine can read no file that any
// command has made, whatever the umask of the operator is.
func TestAttackFilesOfAnother(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to become another user")
	}
	for _, umask := range []string{"000", "022"} {
		t.Run("umask "+umask, func(t *testing.T) { filesOfAnother(t, umask) })
	}
}

func filesOfAnother(t *testing.T, umask string) {
	base, err := os.MkdirTemp("", "nomen-files")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(base) })
	open := filepath.Join(base, "open") // a directory that every user can read and write, as /tmp
	mustDo(t, os.Chmod(base, 0o755), os.Mkdir(open, 0o777), os.Chmod(open, 0o777))
	at := func(name string) string { return filepath.Join(open, name) }

	nomen := func(args ...string) {
		t.Helper()
		cmd := exec.Command("sh", append([]string{"-c", "umask " + umask + ` && exec "$0" "$@"`, program}, args...)...)
		cmd.Env, cmd.Dir = append(environment(), "TMPDIR="+open), open
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("nomen %s: %v: %s", strings.Join(args, " "), err, out)
		}
	}
	data := at("data")
	records := filepath.Join(base, "in.jsonl")
	mustDo(t, os.WriteFile(records, []byte(`{"name":"urn:dns:example.org:b","locations":[{"url":"https://example.org/b"}]}`+"\n"), 0o600))
	nomen("put", "--data", data, "--status", "reserved", "urn:dns:example.org:a", "https://example.org/secret")
	nomen("import", "--data", data, records)
	nomen("export", "--data", data, "-o", at("all.jsonl"))
	nomen("export", "--data", data, "-o", at("all.csv.gz"))
	nomen("backup", "--data", data, "--rehearse", at("backup"))
	nomen("put", "--data", data, "urn:dns:example.org:c", "https://example.org/c")
	nomen("backup", "--data", data, at("backup")) // replaces the first backup
	nomen("restore", "--data", at("restored"), at("backup"))
	nomen("migrate", "--from", "pebble:"+at("restored/store"), "--to", "pebble:"+at("migrated"))
	nomen("import", "--data", data, "--dry-run", records)
	nomen("token", "make", "--data", data, "--who", "kb", "--prefix", "urn:dns:example.org", "-o", at("token"))

	cmd := exec.Command("sh", "-c", "umask "+umask+` && exec "$0" "$@"`, program, "serve", "--data", data, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0")
	cmd.Env = append(environment(), "TMPDIR="+open)
	s := &server{data: data, cmd: cmd, ended: make(chan error, 1)}
	stderr, err := cmd.StderrPipe()
	mustDo(t, err, cmd.Start())
	ready := make(chan struct{})
	go s.watch(stderr, ready)
	select {
	case <-ready:
	case <-time.After(patience):
		t.Fatalf("the server did not start: %s", s.output())
	}
	if _, _, err := s.get("", "/urn:dns:example.org:missed"); err != nil { // counted in misses.jsonl
		t.Error(err)
	}
	nomen("put", "--data", data, "urn:dns:example.org:d", "https://example.org/d")
	nomen("backup", "--data", data, at("backup2"))
	nomen("export", "--data", data, "-o", at("served.jsonl"))
	while := readableBy(t, stranger, open)
	if err := s.stop(); err != nil {
		t.Error(err)
	}
	for _, file := range append(while, readableBy(t, stranger, open)...) {
		t.Errorf("another user can read %s", strings.TrimPrefix(file, open))
	}
	mustDo(t, wideModes(t, open))

	// If other users can read the token, for example because it was copied, the next start makes it
	// private.
	token := filepath.Join(data, "admin.token")
	mustDo(t, os.Chmod(data, 0o755), os.Chmod(token, 0o644))
	again := startWith(t, options{data: data})
	for _, file := range readableBy(t, stranger, data) {
		t.Errorf("another user can read %s after a start", strings.TrimPrefix(file, open))
	}
	if !strings.Contains(again.output(), "could read the administrator's token (mode 0644)") {
		t.Errorf("the server does not say that the token was open to others:\n%s", again.output())
	}

	// A store that an earlier program has made with the usual umask becomes private when a command
	// opens it.
	old := at("restored/store")
	mustDo(t, os.Chmod(at("restored"), 0o755), os.Chmod(old, 0o755), exec.Command("sh", "-c", "chmod 644 "+old+"/*").Run())
	if len(readableBy(t, stranger, old)) == 0 {
		t.Error("the store is not open to others: the test shows nothing")
	}
	nomen("get", "--data", at("restored"), "urn:dns:example.org:b")
	for _, file := range readableBy(t, stranger, old) {
		t.Errorf("another user can read %s of a store that was opened", strings.TrimPrefix(file, old))
	}
}

// wideModes returns an error that lists everything below dir that has a permission for the group or
// for other users.
func wideModes(t *testing.T, dir string) error {
	files := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		files++
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %04o", strings.TrimPrefix(path, dir), info.Mode().Perm())
		}
		return nil
	})
	if err == nil && files < 30 {
		err = fmt.Errorf("only %d files and directories were made", files)
	}
	return err
}

func mustDo(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}
