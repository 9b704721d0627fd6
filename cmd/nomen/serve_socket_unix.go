//go:build unix

package main

import (
	"net"
	"syscall"
)

// listenPrivately listens on a new Unix socket. From the beginning only the user of this process
// can connect to it.
func listenPrivately(path string) (*net.UnixListener, error) {
	defer syscall.Umask(syscall.Umask(0o077))
	return net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
}
