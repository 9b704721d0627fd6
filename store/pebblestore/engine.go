package pebblestore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"

	"github.com/nomen-project/nomen/internal/gate"
	"github.com/nomen-project/nomen/internal/ledger"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
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

	// The cache counts the bytes of its blocks. In memory most of them, being a bit
	// longer than blockSize, take the next size of Go's allocator, an eighth more.
	slack = 9 // one part in
)

// cacheSize returns how much memory the cache of a store takes, in bytes.
func (o *Options) cacheSize() int64 {
	return cmp.Or(o.CacheSize, DefaultCacheSize())
}

// blockBytes returns how many bytes of blocks fit into a cache that takes size bytes.
func blockBytes(size int64) int64 { return size - size/slack }

// engineOptions returns Pebble's options for o.
func engineOptions(o Options) *pebble.Options {
	log := &logger{log: o.Log, fatal: o.Fatal}
	cache := o.cacheSize()
	p := &pebble.Options{
		FS:                          o.FS,
		ReadOnly:                    o.ReadOnly,
		ErrorIfNotExists:            o.ReadOnly,
		FormatMajorVersion:          engineFormat,
		CacheSize:                   blockBytes(cache),
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

// A logger passes on Pebble's errors, none of its news: of those that differ in
// numbers alone one in quietTime.
type logger struct {
	log   *slog.Logger
	fatal func(error)

	mu   sync.Mutex
	told map[string]*told // by the text without numbers
}

// told is when an error was told last, and how often it was not told since.
type told struct {
	at      time.Time
	skipped int
}

const (
	quietTime = time.Minute
	maxTold   = 64 // different errors that are remembered
)

// Infof implements [pebble.Logger].
func (l *logger) Infof(string, ...any) {}

// Errorf implements [pebble.Logger].
func (l *logger) Errorf(format string, args ...any) {
	if l.log == nil {
		return
	}
	text := fmt.Sprintf(format, args...)
	if skipped, ok := l.admit(text, time.Now()); ok && skipped > 0 {
		l.log.Error("store engine", "err", text, "suppressed", skipped)
	} else if ok {
		l.log.Error("store engine", "err", text)
	}
}

// admit reports whether a text is to be told now, and how many like it were not since
// the last one that was.
func (l *logger) admit(text string, now time.Time) (skipped int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' {
			return -1
		}
		return r
	}, text)
	t := l.told[key]
	if t != nil && now.Sub(t.at) < quietTime {
		t.skipped++
		return 0, false
	}
	if t == nil {
		if l.told == nil || len(l.told) >= maxTold {
			l.told = map[string]*told{}
		}
		t = &told{}
		l.told[key] = t
	}
	skipped = t.skipped
	*t = told{at: now}
	return skipped, true
}

// damageLog logs each damaged file once, in one line. Whoever reads what was damaged gets an
// error; all else can still be read.
func damageLog(l *logger) func(pebble.DataCorruptionInfo) {
	var logged sync.Map // paths
	return func(info pebble.DataCorruptionInfo) {
		if _, again := logged.LoadOrStore(info.Path, true); !again && l.log != nil {
			l.log.Error("store engine", "err", fmt.Sprintf("%s is damaged: %s", info.Path, firstLine(info.Details)))
		}
	}
}

// Fatalf ends the program, as Pebble demands. Failures of the disk do not lead here:
// see [engineDisk].
func (l *logger) Fatalf(format string, args ...any) {
	err := fmt.Errorf("pebblestore: the engine cannot go on: "+format, args...)
	if l.fatal != nil {
		l.fatal(err)
	}
	panic(err)
}

// An engine is Pebble on a disk. A store has one, and another one after the disk has
// failed and takes writes again.
type engine struct {
	db       *database
	disk     *engineDisk
	cache    *pebble.Cache
	room     room
	report   func(what string, err error)
	gate     gate.Gate // of the calls that use it
	readOnly bool      // it writes nothing

	// What was found when it was opened.
	log     ledger.Log
	count   int64
	kept    bool  // it has an older format, and is to keep it
	damage  error // why the log is not what it was, nil if it is
	missing error // the same, if the log can be read all the same
	since   time.Time

	ctx    context.Context // ends when the disk fails, or the engine ends
	end    func()
	tasks  sync.WaitGroup // in the background
	scrubs sync.WaitGroup // compactions that remove what was redacted

	mu         sync.Mutex
	unscrubbed []span        // what they have not done when the disk failed
	flushed    chan struct{} // told when there is a new table
}

// openEngine opens an engine and reads what the store needs to know.
func (s *Store) openEngine(readOnly bool) (*engine, error) {
	o := s.options
	o.ReadOnly = readOnly
	e := &engine{readOnly: readOnly, cache: s.cache, report: s.warn, flushed: make(chan struct{}, 1), since: time.Now()}
	e.ctx, e.end = context.WithCancel(context.Background())
	var opening atomic.Bool
	opening.Store(true)
	onDown := func(err error) {
		e.end()
		switch {
		case s.engine.Load() == e:
			s.away(err)
		case opening.Load() && errors.Is(err, errHung):
			s.warn("opening the store waits for the disk", err) // nothing else reports it
		}
	}
	var err error
	e.db, err = openDatabase(o, &s.lock, onDown, func(p *pebble.Options, d *engineDisk) {
		e.disk = d
		p.Cache = s.cache
		p.EventListener.FlushEnd = func(pebble.FlushInfo) { e.noteFlush() }
		e.room = room{fs: s.fs, dir: s.dir, spare: memTables * p.MemTableSize}
	})
	opening.Store(false)
	switch {
	case err != nil && e.disk.err() == nil:
		return nil, unopenable(err)
	case err != nil:
		return nil, err
	}
	err = e.identify(o.Keep)
	if err = cmp.Or(e.disk.err(), err); err != nil {
		return nil, errors.Join(unopenable(err), e.close())
	}
	return e, nil
}

// run begins what an engine does in the background.
func (e *engine) run(s *Store, warm bool) {
	if warm {
		e.tasks.Go(func() { e.warm(s.options.cacheSize()) })
	}
	if e.readOnly || e.kept {
		return
	}
	e.tasks.Go(func() { s.keepTidy(e) })
	e.tasks.Go(func() { s.keepMark(e) })
}

// close ends the engine, whose calls have ended. Compactions give up.
func (e *engine) close() error {
	e.end()
	e.tasks.Wait()
	e.scrubs.Wait()
	err := e.db.Close()
	if e.disk.err() != nil {
		return nil // the store knows, and expects nothing of it
	}
	return err
}

// identify checks that the store was made by the rules of this program, or
// records them in a new one. One of [formatUnaliased] is converted, unless it is
// to be kept: it can be read, and finds no aliases.
func (e *engine) identify(keep bool) error {
	format, ok, err := number(e.db, metaFormat)
	if err != nil {
		return err
	}
	if !ok {
		return e.found()
	}
	if format != formatVersion && format != formatUnaliased {
		return &store.VersionError{What: "format of the store", Found: format, Known: formatVersion}
	}
	rules, _, err := number(e.db, metaRules)
	if err != nil {
		return err
	}
	if rules != name.RulesVersion {
		return &store.VersionError{What: "rules of names", Found: rules, Known: name.RulesVersion}
	}
	switch {
	case format != formatUnaliased || e.readOnly:
	case keep:
		e.kept = true
	default:
		if err := e.indexAliases(); err != nil {
			return err
		}
	}
	count, _, err := number(e.db, metaCount)
	if err != nil {
		return err
	}
	e.count = int64(count)
	err = e.openLog()
	if err == nil {
		if e.missing = e.checkMark(); e.missing != nil {
			e.damage = fmt.Errorf("pebblestore: the store does not have all that it had: %w", e.missing)
		}
	}
	if damaged := (*CorruptError)(nil); errors.As(err, &damaged) || pebble.IsCorruptionError(err) {
		e.damage = fmt.Errorf("pebblestore: the log of changes cannot be read: %w", err)
		return nil
	}
	return err
}

// openLog finds the end of the log.
func (e *engine) openLog() error {
	v, err := newView(e.db)
	if err != nil {
		return err
	}
	defer v.close()
	size, err := v.logSize()
	if err != nil {
		return err
	}
	e.log, err = ledger.Open(size, source{e.db})
	return err
}

// noteFlush tells keepMark that there is a new table. Pebble calls it, and must not
// wait.
func (e *engine) noteFlush() {
	select {
	case e.flushed <- struct{}{}:
	default:
	}
}

// lookAtRoom returns a *FullError if the disk has too little room for changes.
func (e *engine) lookAtRoom() error { return e.room.check(e.db.Metrics().WAL.Size) }

// How long closing waits for what is in memory to be written into tables, and for
// what was redacted to be removed from them.
const (
	maxSettle = 5 * time.Second
	maxScrub  = time.Minute
)

// finishScrubs waits until what was redacted is removed from the tables.
func (e *engine) finishScrubs() {
	done := make(chan struct{})
	go func() { e.scrubs.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(maxScrub):
		e.report("what was redacted is still being removed", context.DeadlineExceeded)
	}
}

// settle writes what is in memory into tables, so that the next start has no log
// to read again. Without it nothing is lost.
func (e *engine) settle() {
	ctx, cancel := context.WithTimeout(e.ctx, maxSettle)
	defer cancel()
	if err := e.flush(ctx); err != nil && ctx.Err() == nil {
		e.report("settling", err)
	}
}

// flush writes what is in memory into tables, and waits for that until ctx ends or
// the disk fails.
func (e *engine) flush(ctx context.Context) error {
	flushed, err := e.db.AsyncFlush()
	if err != nil {
		return err
	}
	select {
	case <-flushed:
	case <-e.disk.down:
	case <-ctx.Done():
	}
	return cmp.Or(e.disk.err(), ctx.Err())
}
