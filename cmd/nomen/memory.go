package main

import (
	"context"
	"os"
	"runtime/debug"

	"github.com/spf13/pflag"

	"github.com/nomen-project/nomen/store/pebblestore"
)

const (
	// minMemory is the least that --memory may be, in MiB.
	minMemory = 256

	// outsideHeap is what the process takes beside what the Go runtime counts: the
	// program itself, which is read from its file, and stacks of the system.
	outsideHeap = 48 << 20
)

// memoryFlag adds --memory, the one option for how much memory a command takes.
func (c *cli) memoryFlag(f *pflag.FlagSet, usual string) {
	f.IntVar(&c.memory, "memory", 0, "MiB that the process takes at most, from 256 on; its cache gets all but 512 of them, or a quarter (default "+usual+")")
}

// boundMemory divides --memory between the cache of the store and all else, or adds
// what all else may take to the usual cache, in bytes, and has the Go runtime keep to
// it, unless the environment says what that is to keep to (GOMEMLIMIT).
func (c *cli) boundMemory(ctx context.Context, usual int64) error {
	if c.memory != 0 && c.memory < minMemory {
		return usagef("--memory %d: want MiB, at least %d", c.memory, minMemory)
	}
	c.cacheSize = usual
	limit := pebblestore.MemoryFor(usual)
	if c.memory > 0 {
		limit = int64(c.memory) << 20
		c.cacheSize = pebblestore.CacheSizeWithin(limit)
	}
	if c.memory > 0 || os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(limit - outsideHeap)
	}
	tuneCollector(ctx)
	return nil
}
