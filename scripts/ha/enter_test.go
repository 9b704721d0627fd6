//go:build ha

package ha

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nomen-project/nomen/internal/flock"
)

const (
	// insideVar is set in the process that has the namespaces. Its value is the directory for all
	// files.
	insideVar = "NOMEN_HA_DIR"

	longest = 40 * time.Minute // maximum time of a run
)

// enter runs this test again as a process with its own namespaces: for processes, so that all
// processes end when the test ends, for the network and for mounts. In that process, enter returns
// true and the directory for files.
func enter(t *testing.T) (at string, inside bool) {
	t.Helper()
	if at := os.Getenv(insideVar); at != "" {
		return at, true
	}
	if os.Getuid() != 0 {
		t.Fatal("network namespaces need root")
	}
	for _, program := range []string{"unshare", "ip", "setpriv", "patroni", "etcd", "haproxy"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Fatalf("%v: run scripts/prepare.sh ha", err)
		}
	}
	sweep(t)
	dir, err := os.MkdirTemp("", tempPrefix)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for range 100 { // processes that were killed may still write for a moment
			if os.RemoveAll(dir) == nil {
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
		t.Errorf("%s cannot be removed", dir)
	})
	t.Cleanup(func() { keepLogs(t, dir) })
	held, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if err := flock.Try(held); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, version := range []string{"before", "after"} {
		build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-ldflags", "-X main.version="+version, "-o", filepath.Join(dir, "nomen-"+version), "../../cmd/nomen")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), longest)
	defer cancel()
	// The shell is the first process of its namespace, and reaps orphans.
	args := []string{"--net", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child", "sh", "-c", `"$0" "$@"; exit $?`}
	cmd := exec.CommandContext(ctx, "unshare", slices.Concat(args, os.Args, []string{"-test.run", "^" + t.Name() + "$"})...)
	cmd.Env = append(os.Environ(), insideVar+"="+dir)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Run(); err != nil {
		t.Fatalf("inside: %v", err)
	}
	return "", false
}

// tempPrefix begins the names of directories for the files of a run.
const tempPrefix = "nomen-ha-"

// sweep removes the files of runs that were killed: no process holds their directories.
func sweep(t *testing.T) {
	t.Helper()
	dirs, _ := filepath.Glob(filepath.Join(os.TempDir(), tempPrefix+"*")) // the pattern is valid
	for _, dir := range dirs {
		f, err := os.Open(dir)
		if err != nil {
			continue // another process removes it
		}
		if flock.Try(f) == nil {
			keepLogs(t, dir)
			_ = os.RemoveAll(dir) // or the next run does it
		}
		f.Close()
	}
}

const (
	logsPrefix = "nomen-logs-ha-" // beginning of the names of the directories with the logs of a run
	keptRuns   = 10               // number of runs whose logs are kept
)

// keepLogs moves the logs of all programs of a run to a directory that stays after the run.
func keepLogs(t *testing.T, dir string) {
	t.Helper()
	run, _ := strings.CutPrefix(filepath.Base(dir), tempPrefix)
	kept := filepath.Join(os.TempDir(), logsPrefix+time.Now().UTC().Format("20060102-150405-")+run)
	err := os.Mkdir(kept, 0o700)
	logs, _ := filepath.Glob(filepath.Join(dir, "*.log")) // the pattern is valid
	for _, file := range logs {
		err = errors.Join(err, os.Rename(file, filepath.Join(kept, filepath.Base(file))))
	}
	if err != nil {
		t.Error(err)
	}
	t.Logf("logs of all programs: %s", kept)
	runs, _ := filepath.Glob(filepath.Join(os.TempDir(), logsPrefix+"*")) // in order of time
	for _, run := range runs[:max(0, len(runs)-keptRuns)] {
		_ = os.RemoveAll(run) // or the next run does it
	}
}
