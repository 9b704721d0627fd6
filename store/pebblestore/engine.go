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
	engineFormat = pebble.FormatValueSeparation // a higher version of Pebble's format would convert stores irreversibly

	filterBits  = 10        // number of bits of a Bloom filter for each key
	blockSize   = 16 << 10  // bytes of data that are compressed together
	indexSize   = 4 << 20   // size at which the index of a table gets a second level, in bytes; no table's index is that large
	memTables   = 4         // number of memtables at which writers wait for the disk
	baseSize    = 768 << 20 // size of all levels, in bytes, at which another level is added
	maxSubLevel = 64        // number of sublevels of level 0 at which writers wait for compactions

	// The size of a memtable is a share of the cache size, within limits. When a store is opened,
	// it replays the write-ahead log of one memtable.
	memTableShare   = 8 // one eighth
	minMemTableSize = 4 << 20
	maxMemTableSize = 32 << 20

	// The cache counts only the bytes of its blocks. Most blocks are slightly longer than
	// blockSize, so Go's allocator uses an eighth more memory for them.
	slack = 9 // one ninth of the total
)

func (o *Options) cacheSize() int64 {
	return cmp.Or(o.CacheSize, DefaultCacheSize())
}

// blockBytes returns the capacity of a Pebble cache that uses size bytes of memory.
func blockBytes(size int64) int64 { return size - size/slack }

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
	p.Experimental.SpanPolicyFunc = spanPolicy
	p.ApplyCompressionSettings(func() pebble.DBCompressionSettings { return pebble.DBCompressionGood })
	return p
}

// spanPolicy separates the key spaces into different tables. Otherwise a new table could contain
// both log rows and locations. The range of its keys would then overlap with nearly all tables of
// locations, and a compaction would rewrite them all.
//
// Names are compressed for fast lookups. Everything else is compressed for size.
func spanPolicy(start []byte) (pebble.SpanPolicy, []byte, error) {
	return pebble.SpanPolicy{PreferFastCompression: start[0] == spaceName}, []byte{start[0] + 1}, nil
}

// A filter is a Bloom filter for the keys that are looked up individually. The log, the history and
// the index of locations are read by seeking, for which filters are useless.
type filter struct{ pebble.FilterPolicy }

func (f filter) Name() string { return "nomen." + f.FilterPolicy.Name() }

func (f filter) MayContain(t pebble.FilterType, block, key []byte) bool {
	return !isFiltered(key) || f.FilterPolicy.MayContain(t, block, key)
}

func (f filter) NewWriter(t pebble.FilterType) pebble.FilterWriter {
	return filterWriter{f.FilterPolicy.NewWriter(t)}
}

type filterWriter struct{ pebble.FilterWriter }

func (w filterWriter) AddKey(key []byte) {
	if isFiltered(key) {
		w.FilterWriter.AddKey(key)
	}
}

func isFiltered(key []byte) bool {
	return len(key) > 0 && key[0] != spaceLog && key[0] != spaceHistory && key[0] != spaceLocation
}

// A logger writes Pebble's errors, but not its informational messages, to the server log. It logs
// the same message at most once in quietTime. Messages that differ only in digits are treated as
// the same.
type logger struct {
	log   *slog.Logger
	fatal func(error)

	mu   sync.Mutex
	told map[string]*told // by the message without its digits
}

// A told records when a message was last logged, and how many similar messages were suppressed
// since then.
type told struct {
	at      time.Time
	skipped int
}

const (
	quietTime = time.Minute
	maxTold   = 64 // maximum number of different messages that are tracked
)

func (l *logger) Infof(string, ...any) {}

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

// admit reports whether to log a message now. It also returns the number of similar messages that
// were suppressed since the last logged message.
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

// damageLog returns a function that logs each damaged file once. Other data in the file can still
// be read.
func damageLog(l *logger) func(pebble.DataCorruptionInfo) {
	var logged sync.Map // by path
	return func(info pebble.DataCorruptionInfo) {
		if _, again := logged.LoadOrStore(info.Path, true); !again && l.log != nil {
			l.log.Error("store engine", "err", fmt.Sprintf("%s is damaged: %s", info.Path, firstLine(info.Details)))
		}
	}
}

// Fatalf ends the program, as Pebble requires. Disk failures do not lead to a call of Fatalf (see
// [engineDisk]).
func (l *logger) Fatalf(format string, args ...any) {
	err := fmt.Errorf("pebblestore: the engine cannot go on: "+format, args...)
	if l.fatal != nil {
		l.fatal(err)
	}
	panic(err)
}

// An engine is an open Pebble database. A store uses one engine at a time. It opens another engine
// when a failed disk is writable again.
type engine struct {
	db       *database
	disk     *engineDisk
	cache    *pebble.Cache
	room     room
	report   func(what string, err error)
	gate     gate.Gate // counts the calls that use the engine
	readOnly bool

	// The state of the database when the engine was opened.
	log     ledger.Log
	count   int64
	damage  error // how the log is damaged; nil if it is not
	missing error // damage that leaves the log readable
	since   time.Time

	ctx    context.Context // cancelled when the disk fails or the engine is closed
	end    func()
	tasks  sync.WaitGroup // background tasks
	scrubs sync.WaitGroup // compactions that remove redacted content

	mu         sync.Mutex
	unscrubbed []span        // spans that were still to be scrubbed when the disk failed
	flushed    chan struct{} // signals that there is a new table
}

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
			s.warn("opening the store waits for the disk", err) // not reported anywhere else
		}
	}
	var err error
	e.db, err = openDatabase(o, &s.lock, onDown, func(p *pebble.Options, d *engineDisk) {
		e.disk = d
		p.Cache = s.cache
		p.EventListener.FlushEnd = func(pebble.FlushInfo) { e.noteFlush() }
		e.room.fs, e.room.dir, e.room.spare = s.fs, s.dir, memTables*p.MemTableSize
	})
	opening.Store(false)
	switch {
	case err != nil && (e.disk == nil || e.disk.err() == nil):
		return nil, unopenable(err)
	case err != nil:
		return nil, err
	}
	err = e.identify()
	if err = cmp.Or(e.disk.err(), err); err != nil {
		return nil, errors.Join(unopenable(err), e.close())
	}
	return e, nil
}

func (e *engine) run(s *Store, warm bool) {
	if warm {
		e.tasks.Go(func() { e.warm(s.options.cacheSize()) })
	}
	if e.readOnly {
		return
	}
	e.tasks.Go(func() { s.keepTidy(e) })
	e.tasks.Go(func() { s.keepMark(e) })
}

func (e *engine) close() error {
	e.end()
	e.tasks.Wait()
	e.scrubs.Wait()
	err := e.db.Close()
	if e.disk.err() != nil {
		return nil // the store already knows that writes no longer reach this disk
	}
	return err
}

// identify checks the versions of the format and of the rules of names. In a new store it records
// the current versions.
func (e *engine) identify() error {
	_, rules, err := versionsOf(e.db.DB)
	switch {
	case err == errNotStore:
		return e.initialize()
	case err != nil:
		return err
	case rules != name.RulesVersion:
		return &store.VersionError{What: "rules of names", Found: rules, Known: name.RulesVersion}
	}
	count, _, err := number(e.db, metaCount)
	if err != nil {
		return err
	}
	e.count = int64(count)
	e.log, err = logOf(e.db)
	if err == nil {
		if e.missing = e.checkMark(); e.missing != nil {
			e.damage = fmt.Errorf("pebblestore: the store has lost changes: %w", e.missing)
		}
	}
	if damaged := (*CorruptError)(nil); errors.As(err, &damaged) || pebble.IsCorruptionError(err) {
		e.damage = fmt.Errorf("pebblestore: the log of changes cannot be read: %w", err)
		return nil
	}
	return err
}

// noteFlush notifies keepMark of a flush. Pebble calls noteFlush, which must not block.
func (e *engine) noteFlush() {
	select {
	case e.flushed <- struct{}{}:
	default:
	}
}

// lookAtRoom returns a [*FullError] if the disk does not have enough free space to accept changes.
func (e *engine) lookAtRoom() error { return e.room.check(e.db.Metrics().WAL.Size) }

// Time limits for closing a store: for flushing memtables, and for removing redacted content from
// tables.
const (
	maxSettle = 5 * time.Second
	maxScrub  = time.Minute
)

func (e *engine) finishScrubs() {
	done := make(chan struct{})
	go func() { e.scrubs.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(maxScrub):
		e.report("redacted content is still being removed", context.DeadlineExceeded)
	}
}

// settle flushes memtables to make the next start faster, which then need not replay the log.
func (e *engine) settle() {
	ctx, cancel := context.WithTimeout(e.ctx, maxSettle)
	defer cancel()
	if err := e.flush(ctx); err != nil && ctx.Err() == nil {
		e.report("flushing the store at closing failed", err)
	}
}

// flush flushes memtables. It waits until the flush is complete, ctx ends, or the disk fails.
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
