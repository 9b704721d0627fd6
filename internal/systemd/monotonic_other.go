//go:build !linux

package systemd

// monotonic returns 0, because only Linux has systemd.
func monotonic() int64 { return 0 }
