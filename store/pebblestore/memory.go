package pebblestore

import (
	"cmp"
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
)

// The cache uses a share of the memory available to the process, within bounds.
const (
	cacheShare   = 8 // one eighth
	minCacheSize = 64 << 20
	maxCacheSize = 512 << 20

	maxServingCacheSize = 2 << 30
	maxLoadingCacheSize = 256 << 20
)

// cacheSize returns the size of a cache in bytes: a share of memory, but at most most. A
// memory of 0 means unknown.
func cacheSize(memory, most int64) int64 {
	return min(max(memory/cacheShare, minCacheSize), most)
}

// otherMemory is the maximum memory, in bytes, that a program uses in addition to the cache of
// its store: for writes in progress, requests, and garbage.
const otherMemory = 512 << 20

// withinShare is the minimum share of a memory limit that the cache gets.
const withinShare = 4 // one quarter

// CacheSizeWithin returns the size of the cache for a program with this memory limit, in
// bytes: the limit less [otherMemory], but at least a quarter of the limit.
func CacheSizeWithin(memory int64) int64 { return max(memory-otherMemory, memory/withinShare) }

// MemoryFor returns the memory limit for a program with a cache of this size, in bytes: the
// size plus otherMemory, but at most nine tenths of the machine's memory.
func MemoryFor(cache int64) int64 {
	if machine := machineMemory(); machine > 0 {
		return min(cache+otherMemory, machine-machine/10)
	}
	return cache + otherMemory
}

// DefaultCacheSize returns the size of the cache for programs other than servers and
// loaders: an eighth of the memory, 64 to 512 MiB.
func DefaultCacheSize() int64 { return cacheSize(machineMemory(), maxCacheSize) }

// ServingCacheSize returns the size of the cache for a program that has the machine to
// itself: an eighth of the memory, 64 MiB to 2 GiB.
func ServingCacheSize() int64 {
	return cacheSize(machineMemory(), maxServingCacheSize)
}

// LoadingCacheSize returns the size of the cache for a program that loads many names, most
// of which it does not read again: an eighth of the memory, 64 to 256 MiB.
func LoadingCacheSize() int64 {
	return cacheSize(machineMemory(), maxLoadingCacheSize)
}

// machineMemory returns the memory available to the process in bytes, 0 if unknown: the memory
// of the machine, or the limit of the Go runtime or a control group if that is less.
func machineMemory() int64 {
	memory := int64(math.MaxInt64)
	for _, n := range []int64{
		debug.SetMemoryLimit(-1),
		cmp.Or(numberIn("/proc/meminfo", "MemTotal:")<<10, physicalMemory()), // /proc/meminfo knows the limits of some containers
		numberIn("/sys/fs/cgroup/memory.max", ""),
		numberIn("/sys/fs/cgroup/memory/memory.limit_in_bytes", ""),
	} {
		if n > 0 {
			memory = min(memory, n)
		}
	}
	if memory == math.MaxInt64 {
		return 0
	}
	return memory
}

// numberIn reads the first number after a label in a file such as Linux's /proc/meminfo. It
// returns 0 if it cannot, or if the number has more than 53 bits.
func numberIn(file, label string) int64 {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), label)
	word, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	n, err := strconv.ParseUint(word, 10, 53)
	if err != nil {
		return 0
	}
	return int64(n)
}
