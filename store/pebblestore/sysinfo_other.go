//go:build !linux

package pebblestore

func physicalMemory() int64 { return 0 }
