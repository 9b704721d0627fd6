package wire

import (
	"net"
	"syscall"
)

// ListenConfig returns a configuration of listeners whose connections have the usual TCP keep-alive
// of package net. It applies the settings to the listening socket. On Linux, connections inherit
// the settings from this socket. This saves four system calls for each connection.
func ListenConfig() net.ListenConfig {
	return net.ListenConfig{KeepAlive: -1, Control: func(_, _ string, raw syscall.RawConn) error {
		return raw.Control(func(fd uintptr) { keepAlive(int(fd)) })
	}}
}

// keepAlive applies the settings that package net uses for accepted connections: a probe after 15 s
// without data, further probes every 15 s, and at most nine probes. It ignores errors, as package
// net does.
func keepAlive(fd int) {
	const seconds, probes = 15, 9
	_ = syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_KEEPALIVE, 1)
	_ = syscall.SetsockoptInt(fd, syscall.IPPROTO_TCP, syscall.TCP_KEEPIDLE, seconds)
	_ = syscall.SetsockoptInt(fd, syscall.IPPROTO_TCP, syscall.TCP_KEEPINTVL, seconds)
	_ = syscall.SetsockoptInt(fd, syscall.IPPROTO_TCP, syscall.TCP_KEEPCNT, probes)
}
