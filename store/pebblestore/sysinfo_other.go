//go:build !linux

package pebblestore

// physicalMemory returns 0, because the memory of the machine is unknown.
func physicalMemory() int64 { return 0 }
