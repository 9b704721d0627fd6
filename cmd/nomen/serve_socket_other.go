//go:build !unix

package main

import "net"

// listenPrivately listens on a new Unix socket. The permissions of its directory protect it.
func listenPrivately(path string) (*net.UnixListener, error) {
	return net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
}
