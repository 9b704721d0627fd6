//go:build unix

package wire

import (
	"net"
	"syscall"
)

func hasInput(c net.Conn) (has bool) {
	for {
		switch v := c.(type) {
		case syscall.Conn:
			raw, err := v.SyscallConn()
			if err != nil {
				return false
			}
			_ = raw.Control(func(fd uintptr) {
				n, _, err := syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
				has = err == nil && n > 0
			})
			return has
		case interface{ NetConn() net.Conn }:
			c = v.NetConn()
		default:
			return false
		}
	}
}
