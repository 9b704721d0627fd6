package wire

import (
	"net"
	"syscall"
)

// ListenConfig returns a configuration for listeners. Their connections have the usual TCP keep-alive
// of package net. The listening socket has the settings, and on Linux connections inherit them. This
// saves four system calls for each connection.
func ListenConfig() net.ListenConfig {
	return net.ListenConfig{KeepAlive: -1, Control: func(_, _ string, raw syscall.RawConn) error {
		return raw.Control(func(fd uintptr) { keepAlive(int(fd)) })
	}}
}

// keepAlive makes the settings that package net makes for accepted connections: a probe after 15 s
// without data and then every 15 s, and nine probes. Like package net, it ignores errors.
func keepAlive(fd int) {
	const seconds, probes = 15, 9
	_ = syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_KEEPALIVE, 1)
	_ = syscall.SetsockoptInt(fd, syscall.IPPROTO_TCP, syscall.TCP_KEEPIDLE, seconds)
	_ = syscall.SetsockoptInt(fd, syscall.IPPROTO_TCP, syscall.TCP_KEEPINTVL, seconds)
	_ = syscall.SetsockoptInt(fd, syscall.IPPROTO_TCP, syscall.TCP_KEEPCNT, probes)
}
