//go:build !linux

package systemd

// Sockets returns none, because this system has no systemd.
func Sockets() ([]Socket, error) { return nil, nil }
