package store

import "time"

// Usage holds what a store reports about itself for monitoring.
type Usage struct {
	Caches   []CacheUsage
	Disk     *DiskUsage     // nil if the store has no disk, or has not checked its disk yet
	Failures uint64         // how often the store has become unavailable since it was opened
	Servers  map[string]int // number of database servers by role; nil without a database
	Unsealed time.Duration  // for how long no change was sealed although changes are waiting; 0 if no change is waiting
}

// A CacheUsage describes a cache in memory.
type CacheUsage struct {
	Name            string // "blocks" for an embedded store, "records" for a database, "answers" for whole answers of a server
	Hits, Misses    uint64 // how often a lookup found an entry or did not, since the store was opened
	Evictions       uint64 // entries removed to make room for others
	CountsEvictions bool   // the cache counts Evictions
	Bytes, Capacity uint64 // current and maximum size
}

// A DiskUsage describes the disk of a store at the time of the last check. All numbers are in
// bytes.
type DiskUsage struct {
	Free, Size uint64
	Required   uint64 // free space that the store needs to accept changes
}

// A Measured store reports its usage.
type Measured interface {
	// Usage returns the usage that the store last observed. It accesses neither disk nor database,
	// and does not block. It is safe for concurrent use.
	Usage() Usage
}

// UsageOf returns the usage of r. If r is not [Measured], it returns the zero Usage.
func UsageOf(r Reader) Usage {
	if m, ok := r.(Measured); ok {
		return m.Usage()
	}
	return Usage{}
}
