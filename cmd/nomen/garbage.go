package main

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// These are the limits for tuneCollector. The garbage collector of Go runs when the garbage exceeds
// a percentage of the live heap. With the default of 100 percent, a process with a full cache could
// use twice the size of the cache. A smaller percentage avoids this. If the live heap is small,
// however, a small percentage would run the collector too often, and each run scans the stacks of
// all connections. A fixed amount of garbage is therefore always permitted.
const (
	leanGC      = 50
	mostGC      = 1000
	freeGarbage = 64 << 20 // bytes
	tuneEvery   = time.Second
)

// tuneCollector adjusts the garbage collection percentage to the size of the live heap until ctx is
// done. It does nothing if the environment variable GOGC is set.
func tuneCollector(ctx context.Context) {
	if os.Getenv("GOGC") != "" {
		return
	}
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	now := 0
	tune := func() {
		metrics.Read(live)
		percent := gcPercent(live[0].Value.Uint64())
		if percent > now+now/8 || percent < now-now/8 { // setting it stops the world
			debug.SetGCPercent(percent)
			now = percent
		}
	}
	tune()
	go func() {
		tick := time.NewTicker(tuneEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				tune()
			}
		}
	}()
}

// gcPercent returns the garbage collection percentage for a live heap of the given size in bytes.
func gcPercent(live uint64) int {
	return int(min(max(freeGarbage*100/max(live, 1), leanGC), mostGC))
}
