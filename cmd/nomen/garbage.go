package main

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// The garbage collector runs when garbage exceeds a percentage of the memory in use. Go's
// default of 100 would let the process grow to twice the size of a full cache, so a
// smaller percentage is used. If little memory is in use, a percentage would start the
// collector too often, and each time it scans the stacks of all connections; so a fixed
// amount of garbage is always allowed.
const (
	leanGC      = 50
	mostGC      = 1000
	freeGarbage = 64 << 20 // bytes
	tuneEvery   = time.Second
)

// tuneCollector sets the percentage of garbage by the memory in use until ctx ends, unless
// the environment sets it (GOGC).
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
