package pebblestore

import "testing"

// The memory of the machine is known even without /proc.
func TestPhysicalMemory(t *testing.T) {
	shown, got := numberIn("/proc/meminfo", "MemTotal:")<<10, physicalMemory()
	if got == 0 || got < shown { // a container may show less than the machine has
		t.Errorf("the machine has %d bytes, /proc/meminfo shows %d", got, shown)
	}
}
