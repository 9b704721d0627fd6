//go:build !linux

package systemd

// Sockets returns nil, because this system has no systemd.
func Sockets() ([]Socket, error) { return nil, nil }
