//go:build !linux

package systemd

// monotonic returns 0, because this system has no systemd.
func monotonic() int64 { return 0 }
