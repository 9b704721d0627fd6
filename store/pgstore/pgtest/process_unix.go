//go:build unix

package pgtest

import (
	"os/exec"
	"syscall"
)

const (
	sigKill = syscall.SIGKILL
	sigStop = syscall.SIGSTOP
	sigCont = syscall.SIGCONT
)

// An owner is the user that runs a server.
type owner = syscall.Credential

func kill(pid int, sig syscall.Signal) error { return syscall.Kill(pid, sig) }

func runAs(cmd *exec.Cmd, o *owner) { cmd.SysProcAttr = &syscall.SysProcAttr{Credential: o} }
