package pebblestore

import "syscall"

// physicalMemory returns the memory of the machine in bytes, or 0 if it is unknown. It does not
// need /proc, which is hidden from some services and containers.
func physicalMemory() int64 {
	var info syscall.Sysinfo_t
	if err := syscall.Sysinfo(&info); err != nil {
		return 0
	}
	return int64(uint64(info.Totalram) * uint64(info.Unit))
}
