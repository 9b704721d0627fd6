package pebblestore

import (
	"cmp"
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
)

// Shares of the memory that a cache uses, and limits of the size of a cache.
const (
	cacheShare   = 8 // one eighth
	minCacheSize = 64 << 20
	maxCacheSize = 512 << 20

	maxServingCacheSize = 2 << 30
	maxLoadingCacheSize = 256 << 20
)

// cacheSize returns the size of the cache for a machine with the given memory, in bytes and at most
// limit. A memory of 0 means that the memory is unknown.
func cacheSize(memory, limit int64) int64 {
	return min(max(memory/cacheShare, minCacheSize), limit)
}

// otherMemory is the memory that a program needs in addition to the cache of its store, in bytes.
// It is for writes in progress, requests and garbage.
const otherMemory = 512 << 20

const withinShare = 4 // one quarter

// CacheSizeWithin returns the size of the cache for a program with the given memory limit, both in
// bytes: the limit less 512 MiB, but at least a quarter of the limit.
func CacheSizeWithin(memory int64) int64 { return max(memory-otherMemory, memory/withinShare) }

// MemoryFor returns the memory limit for a program with a cache of the given size, both in bytes:
// the size and 512 MiB, but at most nine tenths of the machine's memory.
func MemoryFor(cache int64) int64 {
	if machine := machineMemory(); machine > 0 {
		return min(cache+otherMemory, machine-machine/10)
	}
	return cache + otherMemory
}

// DefaultCacheSize returns the size of the cache, in bytes, for programs that neither serve
// requests nor load many names. It is an eighth of the memory, but at least 64 MiB and at most 512
// MiB.
func DefaultCacheSize() int64 { return cacheSize(machineMemory(), maxCacheSize) }

// ServingCacheSize returns the size of the cache, in bytes, for a server that is the main program
// of its machine. It is an eighth of the memory, but at least 64 MiB and at most 2 GiB.
func ServingCacheSize() int64 {
	return cacheSize(machineMemory(), maxServingCacheSize)
}

// LoadingCacheSize returns the size of the cache, in bytes, for a program that writes many names
// and reads few of them. It is an eighth of the memory, but at least 64 MiB and at most 256 MiB.
func LoadingCacheSize() int64 {
	return cacheSize(machineMemory(), maxLoadingCacheSize)
}

// machineMemory returns the memory that the process may use in bytes, or 0 if it is unknown. It is
// the smallest of three values: the memory of the machine, the limit of the Go runtime, and the
// limit of a control group.
func machineMemory() int64 {
	memory := int64(math.MaxInt64)
	for _, n := range []int64{
		debug.SetMemoryLimit(-1),
		cmp.Or(numberIn("/proc/meminfo", "MemTotal:")<<10, physicalMemory()), // in some containers, /proc/meminfo shows the limit of the container
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

// numberIn returns the first number after a label in a file such as /proc/meminfo. If the file has
// no such number, or if the number has more than 53 bits, numberIn returns 0.
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
