package backups

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A backup to a full disk fails and leaves nothing that counts as a backup. Earlier backups stay,
// and the next backup succeeds when there is space again. All this applies even if the state file
// is on the same disk. Only an administrator can run the test.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	for name, withState := range map[string]bool{"backups": false, "backups and state": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			disk := t.TempDir()
			if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=16m"); err != nil {
				t.Logf("no small disk can be made: %v", err)
				return
			}
			t.Cleanup(func() { _ = syscall.Unmount(disk, syscall.MNT_DETACH) })
			k := newScheduled(t)
			k.to = filepath.Join(disk, "backups")
			if withState {
				k.data = disk
			}
			k.Scheduler = k.restarted(k.live)
			k.set(Plan{Every: time.Hour, Keep: 1, Rehearse: 1})
			k.step(t.Context())
			earlier := k.there()
			if len(earlier) != 1 || k.problem() != "" {
				t.Fatalf("before: %q, %s", earlier, k.problem())
			}
			k.put("urn:example:b")
			foreign := filepath.Join(disk, "foreign")
			if err := os.WriteFile(foreign, make([]byte, 16<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
				t.Fatal(err)
			}
			k.now = k.now.Add(time.Hour)
			for i := range 2 { // the first failure must not leave an incomplete backup either
				if wait := k.step(t.Context()); wait != firstRetry<<i || !strings.Contains(k.problem(), "no space left on device") {
					t.Errorf("waits %v: %s", wait, k.problem())
				}
				s, _ := k.State()
				if s.Failures != i+1 || len(s.Backups) != 1 || s.Last().Dir != filepath.Join(k.to, earlier[0]) || s.Others != 0 {
					t.Errorf("state %+v", s)
				}
				k.check(earlier...)
				k.now = k.now.Add(firstRetry << i)
			}
			if want := []string{"backup", "rehearsal", "backup!", "backup!"}; !slices.Equal(k.ran, want) {
				t.Errorf("tasks %q, want %q", k.ran, want)
			}
			if err := os.Remove(foreign); err != nil {
				t.Fatal(err)
			}
			k.step(t.Context())
			s, err := Read(k.data)
			if err != nil || s.Problem != "" || s.Failures != 0 || len(s.Backups) != 1 || s.Last().Dir == filepath.Join(k.to, earlier[0]) || s.LastRehearsed() != s.Last() {
				t.Errorf("with room again: %+v, %v", s, err)
			}
			k.check(filepath.Base(s.Last().Dir))
			if unsaved := strings.Contains(k.log.String(), "cannot save the state of the backups"); unsaved != withState {
				t.Errorf("the state could not be saved: %t; log:\n%s", unsaved, k.log.String())
			}
		})
	}
}
