//go:build unix

package client

import (
	"errors"
	"net"
	"syscall"
)

// quiet returns a function that reports whether nothing has arrived on an idle connection, neither
// data nor the end of the stream. The function does not block. It discards data that has arrived.
func quiet(conn net.Conn) func() bool {
	s, ok := conn.(syscall.Conn)
	if !ok {
		return func() bool { return true }
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return func() bool { return false }
	}
	var b [1]byte
	silent := false
	look := func(fd uintptr) bool {
		_, err := syscall.Read(int(fd), b[:])
		silent = errors.Is(err, syscall.EAGAIN)
		return true
	}
	return func() bool {
		silent = false
		return raw.Read(look) == nil && silent
	}
}
