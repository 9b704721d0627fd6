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

// An owner is whom a server runs as: always who runs the test.
type owner struct{ Uid, Gid uint32 }

// kill does nothing: servers are for tests, which run on Unix.
func kill(int, syscall.Signal) error { return errors.ErrUnsupported }

func runAs(*exec.Cmd, *owner) {}
