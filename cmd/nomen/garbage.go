package main

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// The garbage collector runs when the garbage exceeds a percentage of the memory in use. The
// default of Go is 100: the process could become twice as large as a full cache. So nomen uses a
// smaller percentage. If little memory is in use, such a percentage would start the collector too
// often, and each run scans the stacks of all connections. So a fixed amount of garbage is always
// allowed.
const (
	leanGC      = 50
	mostGC      = 1000
	freeGarbage = 64 << 20 // bytes
	tuneEvery   = time.Second
)

// tuneCollector adjusts the percentage to the memory in use until ctx ends. If the environment sets
// the percentage (GOGC), tuneCollector does nothing.
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

// gcPercent returns the percentage of garbage to allow if live bytes are in use.
func gcPercent(live uint64) int {
	return int(min(max(freeGarbage*100/max(live, 1), leanGC), mostGC))
}
