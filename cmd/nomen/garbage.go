package main

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// The limits of tuneCollector. Go starts the garbage collector when the garbage exceeds a
// percentage of the memory in use. With the default, 100, a process could take twice the memory of
// its full cache. A smaller percentage avoids that. But if little memory is in use, it would start
// the collector too often, and each run scans the stacks of all connections. So a fixed amount of
// garbage is always allowed.
const (
	leanGC      = 50
	mostGC      = 1000
	freeGarbage = 64 << 20 // bytes
	tuneEvery   = time.Second
)

// tuneCollector adjusts the percentage to the memory in use until ctx ends. It does nothing if the
// environment sets the percentage (GOGC).
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

// gcPercent returns the percentage of garbage to allow for live bytes in use.
func gcPercent(live uint64) int {
	return int(min(max(freeGarbage*100/max(live, 1), leanGC), mostGC))
}
