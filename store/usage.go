package store

import "time"

// Usage holds what a store reports about itself for monitoring.
type Usage struct {
	Caches   []CacheUsage
	Disk     *DiskUsage     // nil if the store has no disk, or nothing is known about it yet
	Failures uint64         // how often the store became unavailable since it was opened
	Servers  map[string]int // number of database servers by role; nil without a database
	Unsealed time.Duration  // how long changes have been waiting to be sealed without progress; 0 if no change is waiting
}

// A CacheUsage describes a cache in memory.
type CacheUsage struct {
	Name            string // "blocks" of an embedded store, "records" of a database
	Hits, Misses    uint64 // since the store was opened
	Evictions       uint64 // entries removed to make room
	CountsEvictions bool   // whether Evictions is known
	Bytes, Capacity uint64 // the current and the maximum size
}

// A DiskUsage describes the disk of a store as of the last check, in bytes.
type DiskUsage struct {
	Free, Size uint64
	Required   uint64 // the store rejects changes while less is free
}

// A Measured store reports its usage.
type Measured interface {
	// Usage returns what is known. It accesses neither disk nor database, does not wait for
	// them, and is safe for concurrent use.
	Usage() Usage
}

// UsageOf returns the usage of r, or the zero Usage if r is not [Measured].
func UsageOf(r Reader) Usage {
	if m, ok := r.(Measured); ok {
		return m.Usage()
	}
	return Usage{}
}
