package store

import "time"

// Usage is the resource usage of a store, for monitoring.
type Usage struct {
	Caches   []CacheUsage
	Disk     *DiskUsage     // nil if the store has no disk, or has not checked its disk yet
	Failures uint64         // how often the store has become unavailable since it was opened
	Servers  map[string]int // number of database servers, by role; nil without a database
	Unsealed time.Duration  // how long changes have been waiting without any being sealed; 0 if none is waiting
}

// A CacheUsage describes a cache in memory.
type CacheUsage struct {
	Name            string // "blocks" (embedded store), "records" (database) or "answers" (whole answers of a server)
	Hits, Misses    uint64 // how often a lookup found an entry or did not, since the store was opened
	Evictions       uint64 // entries removed to make room for others
	CountsEvictions bool   // the cache counts Evictions
	Bytes, Capacity uint64 // current and maximum size
}

// A DiskUsage describes the disk of a store at the last check, in bytes.
type DiskUsage struct {
	Free, Size uint64
	Required   uint64 // free space that the store needs to accept changes
}

// A Measured store reports its usage.
type Measured interface {
	// Usage returns the last measurements of the store. It does not access the disk or the
	// database, and is safe for concurrent use.
	Usage() Usage
}

// UsageOf returns the usage of r, or the zero Usage if r is not [Measured].
func UsageOf(r Reader) Usage {
	if m, ok := r.(Measured); ok {
		return m.Usage()
	}
	return Usage{}
}
