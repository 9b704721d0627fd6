package main

import (
	"context"
	"os"
	"runtime/debug"

	"github.com/spf13/pflag"

	"github.com/nomen-project/nomen/store/pebblestore"
)

const (
	minMemory = 256

	// By default the cache of answers gets 1/largeShare of the part of the memory limit above
	// largeMemory. It gets at least 1/answerShare of the whole limit.
	answerShare, largeShare = 16, 3
	largeMemory             = 512 << 20

	// outsideHeap is the memory of the process that the Go runtime does not count, in bytes: the
	// mapped file of the program, and the stacks of threads.
	outsideHeap = 48 << 20
)

func (c *cli) memoryFlag(f *pflag.FlagSet, usual string) {
	f.IntVar(&c.memory, "memory", 0, "memory limit of the process in MiB, at least 256; the cache gets the limit minus 512 MiB, but never less than a quarter of the limit (default "+usual+")")
}

func (c *cli) checkMemory() error {
	if c.memory != 0 && c.memory < minMemory {
		return usagef("--memory %d: must be at least %d MiB", c.memory, minMemory)
	}
	return nil
}

// boundMemory divides the memory of --memory between the cache of the store and everything else,
// and sets the memory limit of the Go runtime. Without --memory, the cache has the size usual, in
// bytes, and the limit is this size plus what everything else usually needs. A limit in the
// environment (GOMEMLIMIT) then takes precedence.
func (c *cli) boundMemory(ctx context.Context, usual int64) error {
	if err := c.checkMemory(); err != nil {
		return err
	}
	c.cacheSize = usual
	limit := pebblestore.MemoryFor(usual)
	defer func() { c.memoryLimit = limit }()
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

func (c *cli) usualAnswerCache() int64 {
	return max(c.memoryLimit/answerShare, (c.memoryLimit-largeMemory)/largeShare)
}

// shareCache takes memory for a cache of answers, in bytes, from the cache of the store. It takes
// only what exceeds 1/answerShare of the memory limit, and leaves the cache of the store at least a
// quarter of the limit.
func (c *cli) shareCache(answers int64) {
	more := max(answers-c.memoryLimit/answerShare, 0)
	c.cacheSize = max(c.cacheSize-more, min(c.cacheSize, c.memoryLimit/4))
}
