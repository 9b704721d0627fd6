package pebblestore

import (
	"cmp"
	"fmt"
	"log/slog"
	"runtime"
	"sync"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
)

const (
	engineFormat = pebble.FormatValueSeparation // raising it is a one-way change of every store

	filterBits  = 10        // of a bloom filter, for each key
	blockSize   = 16 << 10  // bytes of data compressed together
	indexSize   = 4 << 20   // bytes of an index before it gets one of its own: no table's does
	memTables   = 4         // at most, before writers wait for the disk
	baseSize    = 768 << 20 // bytes of all levels before there is another one
	maxSubLevel = 64        // of level 0, before writers wait for compactions

	// A table of new data in memory takes a share of what the cache takes,
	// within bounds. The log of one is read again at every start.
	memTableShare   = 8 // one part in
	minMemTableSize = 4 << 20
	maxMemTableSize = 32 << 20
)

// engineOptions returns Pebble's options for o.
func engineOptions(o Options) *pebble.Options {
	log := logger{o.Log}
	cache := cmp.Or(o.CacheSize, cacheSize(machineMemory(), maxCacheSize))
	p := &pebble.Options{
		FS:                          o.FS,
		ReadOnly:                    o.ReadOnly,
		ErrorIfNotExists:            o.ReadOnly,
		FormatMajorVersion:          engineFormat,
		CacheSize:                   cache,
		MemTableSize:                uint64(min(max(cache/memTableShare, minMemTableSize), maxMemTableSize)),
		MemTableStopWritesThreshold: memTables,
		L0CompactionThreshold:       2,
		L0StopWritesThreshold:       maxSubLevel,
		LBaseMaxBytes:               cmp.Or(o.baseSize, baseSize),
		CompactionConcurrencyRange:  func() (int, int) { return 1, max(1, runtime.NumCPU()/2) },
		Logger:                      log,
		EventListener:               &pebble.EventListener{DataCorruption: damageLog(log)},
	}
	for i := range p.Levels {
		p.Levels[i].BlockSize = cmp.Or(o.blockSize, blockSize)
		p.Levels[i].IndexBlockSize = indexSize
		p.Levels[i].FilterPolicy = filter{bloom.FilterPolicy(filterBits)}
	}
	p.Filters = map[string]pebble.FilterPolicy{bloom.FilterPolicy(0).Name(): bloom.FilterPolicy(0)} // of tables before [filter]
	p.Experimental.SpanPolicyFunc = spanPolicy
	p.ApplyCompressionSettings(func() pebble.DBCompressionSettings { return pebble.DBCompressionGood })
	return p
}

// spanPolicy has names compressed by what is quick to read, since look-ups read
// them, and all else by what takes the least room.
func spanPolicy(start []byte) (p pebble.SpanPolicy, end []byte, err error) {
	switch {
	case start[0] < spaceName:
		return p, []byte{spaceName}, nil
	case start[0] == spaceName:
		p.PreferFastCompression = true
		return p, []byte{spaceName + 1}, nil
	}
	return p, nil, nil
}

// A filter has the keys that are asked for one by one. The log, the history and the
// index of locations are read by seeking, which no filter helps.
type filter struct{ pebble.FilterPolicy }

// Name is written into tables.
func (f filter) Name() string { return "nomen." + f.FilterPolicy.Name() }

// MayContain implements [pebble.FilterPolicy].
func (f filter) MayContain(t pebble.FilterType, block, key []byte) bool {
	return !isFiltered(key) || f.FilterPolicy.MayContain(t, block, key)
}

// NewWriter implements [pebble.FilterPolicy].
func (f filter) NewWriter(t pebble.FilterType) pebble.FilterWriter {
	return filterWriter{f.FilterPolicy.NewWriter(t)}
}

type filterWriter struct{ pebble.FilterWriter }

// AddKey implements [pebble.FilterWriter].
func (w filterWriter) AddKey(key []byte) {
	if isFiltered(key) {
		w.FilterWriter.AddKey(key)
	}
}

func isFiltered(key []byte) bool {
	return len(key) > 0 && key[0] != spaceLog && key[0] != spaceHistory && key[0] != spaceLocation
}

// A logger passes on Pebble's errors, none of its news.
type logger struct{ log *slog.Logger }

func (l logger) Infof(string, ...any) {}

func (l logger) Errorf(format string, args ...any) {
	if l.log != nil {
		l.log.Error("store engine", "err", fmt.Sprintf(format, args...))
	}
}

// damageLog logs each damaged file once, in one line. Whoever reads what was damaged gets an
// error; all else can still be read.
func damageLog(l logger) func(pebble.DataCorruptionInfo) {
	var logged sync.Map // paths
	return func(info pebble.DataCorruptionInfo) {
		if _, again := logged.LoadOrStore(info.Path, true); !again {
			l.Errorf("%s is damaged: %s", info.Path, firstLine(info.Details))
		}
	}
}

// Fatalf ends the program, as Pebble demands: after a failed write only what is
// on disk can be trusted, and the next start will read that.
func (l logger) Fatalf(format string, args ...any) {
	l.Errorf(format, args...)
	panic("pebblestore: " + fmt.Sprintf(format, args...))
}
