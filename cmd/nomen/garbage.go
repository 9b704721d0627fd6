package main

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// How much memory may be garbage before it is collected, in what runs for long, in
// percent of what is not. Most of what is not is the cache of the store, when it is
// full: with Go's 100 that would take twice its size. When little is in use, a share
// of that is too little garbage: each collection has the stacks of all connections
// to look at, so there is an amount that always may be.
const (
	leanGC      = 50
	mostGC      = 1000
	freeGarbage = 64 << 20 // bytes
	tuneEvery   = time.Second
)

// tuneCollector sets how much garbage there may be, by what is in use, until ctx
// ends, unless the environment says it (GOGC).
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

// gcPercent returns the share of garbage for so many bytes that are in use.
func gcPercent(live uint64) int {
	return int(min(max(freeGarbage*100/max(live, 1), leanGC), mostGC))
}
