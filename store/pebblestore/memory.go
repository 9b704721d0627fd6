package pebblestore

import (
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
)

// The cache takes a share of the memory that the process may use, within
// bounds.
const (
	cacheShare   = 8 // one part in
	minCacheSize = 64 << 20
	maxCacheSize = 512 << 20

	maxServingCacheSize = 2 << 30
	maxLoadingCacheSize = 256 << 20
)

// cacheSize returns the size of a cache for so much memory, in bytes, 0 if that is
// unknown: at most the second.
func cacheSize(memory, most int64) int64 {
	return min(max(memory/cacheShare, minCacheSize), most)
}

// Beside is how many bytes a program takes at most beside the cache of its store: for
// what is being written, requests, and garbage.
const Beside = 512 << 20

// withinShare is the least share of the memory that the cache gets within a limit.
const withinShare = 4 // one part in

// CacheSizeWithin returns the size of a cache for a program that may take so much
// memory: all but [Beside], or a quarter.
func CacheSizeWithin(memory int64) int64 { return max(memory-Beside, memory/withinShare) }

// MemoryFor returns how much memory a program may take with a cache of a size: Beside
// more, or nine tenths of what the machine has, if that is less.
func MemoryFor(cache int64) int64 {
	if machine := machineMemory(); machine > 0 {
		return min(cache+Beside, machine-machine/10)
	}
	return cache + Beside
}

// DefaultCacheSize returns the size of a cache for any other program: an eighth of the
// memory, 64 to 512 MiB.
func DefaultCacheSize() int64 { return cacheSize(machineMemory(), maxCacheSize) }

// ServingCacheSize returns the size of a cache for a program that has the machine
// for itself: an eighth of the memory, 64 MiB to 2 GiB.
func ServingCacheSize() int64 {
	return cacheSize(machineMemory(), maxServingCacheSize)
}

// LoadingCacheSize returns the size of a cache for a program that brings many names
// in, most of which it does not look at again: an eighth of the memory, 64 to 256 MiB.
func LoadingCacheSize() int64 {
	return cacheSize(machineMemory(), maxLoadingCacheSize)
}

// machineMemory returns how much memory the process may use, 0 if unknown: that
// of the machine, or less if the Go runtime or a control group has a limit.
func machineMemory() int64 {
	memory := int64(math.MaxInt64)
	for _, n := range []int64{
		debug.SetMemoryLimit(-1),
		meminfo("/proc/meminfo"),
		plainNumber("/sys/fs/cgroup/memory.max"),
		plainNumber("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
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

// meminfo reads MemTotal from a file like Linux's /proc/meminfo, 0 if it is not
// there.
func meminfo(file string) int64 {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), "MemTotal:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0
	}
	kb, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil || kb > math.MaxInt64>>10 {
		return 0
	}
	return kb << 10
}

// plainNumber reads a file that holds one number, 0 if it does not.
func plainNumber(file string) int64 {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		return 0
	}
	return n
}
