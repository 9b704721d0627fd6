//go:build !unix

package pgtest

import (
	"errors"
	"os/exec"
	"syscall"
)

const (
	sigKill = syscall.Signal(9)
	sigStop = syscall.Signal(19)
	sigCont = syscall.Signal(18)
)

// An owner is the user that runs a server; on this system, it is always the user of the test.
type owner struct{ Uid, Gid uint32 }

// kill is not supported: tests with servers run on Unix.
func kill(int, syscall.Signal) error { return errors.ErrUnsupported }

func runAs(*exec.Cmd, *owner) {}
