//go:build unix

package backups

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

func isMount(dir string) bool {
	own, err := os.Stat(dir)
	above, err2 := os.Stat(filepath.Dir(dir))
	if err != nil || err2 != nil {
		return false
	}
	a, ok := own.Sys().(*syscall.Stat_t)
	b, ok2 := above.Sys().(*syscall.Stat_t)
	return ok && ok2 && a.Dev != b.Dev
}

// endGroup puts the command into a new process group. The end of its context then kills the whole
// group, with the children of the command.
func endGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
