//go:build !linux

package systemd

// Sockets returns none, because only Linux has systemd.
func Sockets() ([]Socket, error) { return nil, nil }
