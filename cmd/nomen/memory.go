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

	// By default, the size of the answer cache is the part of the memory limit above largeMemory,
	// divided by largeShare. The minimum is the whole memory limit, divided by answerShare.
	answerShare, largeShare = 16, 3
	largeMemory             = 512 << 20

	// outsideHeap is an estimate of the memory that the Go runtime does not count, in bytes. It
	// includes the mapped executable and the stacks of threads.
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

// boundMemory sets the cache size of the store and the memory limit of the Go runtime. With
// --memory, both follow from the value of this option. Without --memory, the parameter usual is the
// cache size in bytes, and the memory limit follows from the cache size. In this case, the
// environment variable GOMEMLIMIT overrides the memory limit.
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

// shareCache reduces the cache of the store to make room for an answer cache of the given size in
// bytes. It subtracts the part of the answer cache that exceeds 1/answerShare of the memory limit.
// It does not reduce the cache of the store below a quarter of the memory limit.
func (c *cli) shareCache(answers int64) {
	more := max(answers-c.memoryLimit/answerShare, 0)
	c.cacheSize = max(c.cacheSize-more, min(c.cacheSize, c.memoryLimit/4))
}
