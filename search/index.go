package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/nomen-project/nomen/internal/pacer"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/pebblestore"
)

// A Source is the store that an index follows.
type Source interface {
	store.Reader
	store.Feed
}

// Options configure an Index. Dir and Store are required.
type Options struct {
	Dir   string // directory of the index, which is created if necessary
	FS    vfs.FS // file system; nil means the file system of the operating system
	Store Source

	CacheSize int64         // bytes of memory for reading; 0 means 32 MiB
	Every     time.Duration // how often the log is read; 0 means 1 s
	Pacer     *pacer.Pacer  // makes [Index.Run] rest while requests are answered; may be nil

	Now func() time.Time // returns the current time; nil means time.Now
	Log *slog.Logger     // nil means no log

	// Limits that only tests set. The value 0 stands for baseSize, extraSize or maxSteps,
	// respectively.
	baseSize  int
	extraSize int
	steps     int
}

// Limits of an index.
const (
	baseSize  = 40 << 10 // names in a new segment
	extraSize = 8 << 10  // changes of a segment before it is rebuilt
	postings  = 2 << 20  // words of a new segment, once for each name; limits the memory for building
	vocabular = 32 << 20 // bytes of the distinct words of a new segment; limits the memory for building
	cacheSize = 32 << 20 // default of Options.CacheSize
)

// An Index is an index of the names in a store. It is safe for concurrent use.
type Index struct {
	o Options

	work     sync.Mutex // held while the index is changed; also protects building
	building time.Time  // when the present build started, or zero

	mu       sync.RWMutex      // protects the fields from db to closed; read-locked while a snapshot is taken
	db       *pebblestore.Side // nil if it cannot be opened
	segments segments
	position position
	head     uint64
	failure  error
	closed   bool

	pace    pace           // only for Run
	using   sync.WaitGroup // counts searches in progress
	damaged atomic.Bool    // a search has found damage
}

var _ store.Searcher = (*Index)(nil)

// ErrClosed means that the index was closed.
var ErrClosed = fmt.Errorf("%w: it is closed", store.ErrNoIndex)

// Open opens the index in the directory o.Dir. If the directory has no index, or if the index is
// damaged or has another version, Open creates an empty index. [Index.Run] must then build the
// index. If another process has opened the index, the error wraps [pebblestore.ErrLocked].
func Open(o Options) (*Index, error) {
	o.CacheSize = cmp.Or(o.CacheSize, cacheSize)
	o.Every = cmp.Or(o.Every, time.Second)
	o.baseSize, o.extraSize, o.steps = cmp.Or(o.baseSize, baseSize), cmp.Or(o.extraSize, extraSize), cmp.Or(o.steps, maxSteps)
	if o.FS == nil {
		o.FS = vfs.Default
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	x := &Index{o: o}
	x.mu.Lock()
	defer x.mu.Unlock()
	return x, x.open()
}

// open opens the database and reads the state of the index. If the content of the database is
// invalid, open replaces the index by an empty index. The caller must hold x.mu.
func (x *Index) open() error {
	err := x.load()
	if err == nil || isOutside(err) {
		return x.failed(err)
	}
	x.o.Log.Warn("the search index cannot be read and is built again", "dir", x.o.Dir, "err", err)
	return x.renew()
}

// isOutside reports whether an error is unrelated to the content of the index. Such an error comes
// from the operating system, or from another process that has locked the index.
func isOutside(err error) bool {
	return errors.Is(err, pebblestore.ErrLocked) || errors.As(err, new(syscall.Errno))
}

func (x *Index) failed(err error) error {
	if err != nil {
		return fmt.Errorf("search: %s: %w", x.o.Dir, err)
	}
	return nil
}

// load opens the database, reads the state of the index, and removes incomplete segments.
func (x *Index) load() error {
	db, err := pebblestore.OpenSide(pebblestore.SideOptions{Dir: x.o.Dir, FS: x.o.FS, CacheSize: x.o.CacheSize, Log: x.o.Log, Pacer: x.o.Pacer})
	if err != nil {
		return err
	}
	x.position, err = readPosition(db)
	if err == nil {
		x.segments, err = readSegments(db)
	}
	if err == nil {
		err = x.segments.sweep(db.DB)
	}
	if err != nil {
		return errors.Join(err, db.Close())
	}
	x.db = db
	return nil
}

// shut waits for the searches in progress, and closes the database. The caller must hold x.mu.
func (x *Index) shut() error {
	x.using.Wait()
	db := x.db
	if x.db = nil; db == nil {
		return nil
	}
	return db.Close()
}

// renew replaces the index by an empty index. The caller must hold x.mu.
func (x *Index) renew() error {
	_ = x.shut() // the content is not needed any more
	x.segments, x.position = nil, position{}
	if err := x.o.FS.RemoveAll(x.o.Dir); err != nil {
		return x.failed(err)
	}
	return x.failed(x.load())
}

// repair opens the database again if its disk has failed. It replaces a damaged index by an empty
// index.
func (x *Index) repair() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	switch {
	case x.closed:
		return ErrClosed
	case x.damaged.Swap(false):
		x.o.Log.Warn("the search index is damaged and is built again", "dir", x.o.Dir)
		return x.renew()
	case x.db != nil && x.db.Err() == nil:
		return nil
	}
	_ = x.shut() // the disk is known to have failed
	return x.open()
}

// Close closes the index. It must not be called before [Index.Run] has returned.
func (x *Index) Close() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.closed = true
	return x.shut()
}

// Status implements [store.Searcher].
func (x *Index) Status() store.IndexStatus {
	x.mu.RLock()
	defer x.mu.RUnlock()
	s := store.IndexStatus{Built: x.position.Version == version && x.segments.pending() < 0, Position: x.position.Seq, Head: max(x.head, x.position.Seq), Err: x.failure}
	for i := range x.segments {
		s.Names += int64(x.segments[i].base)
	}
	return s
}

// Run builds the index, and then indexes new changes until ctx ends. Run logs errors and retries.
// While the store gets very many changes, for example during an import, Run waits, because indexing
// would slow the changes down.
func (x *Index) Run(ctx context.Context) {
	ctx = pacer.With(ctx, x.o.Pacer)
	tick := time.NewTicker(x.o.Every)
	defer tick.Stop()
	for {
		more := false
		if !x.busy(ctx) {
			var err error
			more, err = x.step(ctx)
			x.report(ctx, err)
		}
		if more && ctx.Err() == nil {
			continue
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

const (
	busyRate     = 1000             // changes per second above which indexing waits
	maxPostponed = 10 * time.Minute // how long indexing waits at most
)

// A pace records the growth of the log.
type pace struct {
	at    time.Time // when the size of the log was read
	size  uint64    // size of the log at that time
	busy  bool      // last result of Index.busy
	since time.Time // when the log last grew slowly
}

// busy reports whether indexing should wait because the store gets many changes.
func (x *Index) busy(ctx context.Context) bool {
	p, now := &x.pace, x.o.Now()
	passed := now.Sub(p.at)
	if passed < x.o.Every {
		return p.busy
	}
	head, err := x.o.Store.Head(ctx)
	if err != nil {
		return false // the next step reports this error
	}
	x.heard(head)
	grown := head.Size - min(p.size, head.Size)
	fast := !p.at.IsZero() && float64(grown) > busyRate*passed.Seconds()
	if !fast {
		p.since = now
	}
	p.at, p.size, p.busy = now, head.Size, fast && now.Sub(p.since) < maxPostponed
	return p.busy
}

func (x *Index) heard(head store.Head) {
	x.mu.Lock()
	x.head = head.Size
	x.mu.Unlock()
}

// report records the result of a step. Of several successive errors it logs only the first. It also
// logs the first success after an error.
func (x *Index) report(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	x.mu.Lock()
	before := x.failure
	x.failure = err
	x.mu.Unlock()
	switch {
	case err != nil && before == nil:
		x.o.Log.Error("the search index does not follow the changes of the store", "err", err)
	case err == nil && before != nil:
		x.o.Log.Info("the search index follows the changes of the store again")
	}
}

// CatchUp completes the build and indexes all changes in the log.
func (x *Index) CatchUp(ctx context.Context) error {
	for {
		if more, err := x.step(ctx); err != nil || !more {
			return err
		}
	}
}

// step builds the first pending segment. If no segment is pending, step indexes the next changes.
// The result more reports whether step should be called again at once.
func (x *Index) step(ctx context.Context) (more bool, err error) {
	x.work.Lock()
	defer x.work.Unlock()
	if err := x.repair(); err != nil {
		return false, err
	}
	head, err := x.o.Store.Head(ctx)
	if err != nil {
		return false, err
	}
	x.heard(head)
	if err := x.check(ctx, head); err != nil {
		return false, err
	}
	if i := x.segments.pending(); i >= 0 {
		more, err = true, x.continueBuild(ctx, i)
	} else {
		more, err = x.follow(ctx)
	}
	return more && err == nil, cmp.Or(err, ctx.Err())
}

// continueBuild builds segment i. If the build of the index takes several steps, continueBuild logs
// the beginning and the end of the build.
func (x *Index) continueBuild(ctx context.Context, i int) error {
	begun := x.o.Now()
	if err := x.rebuild(ctx, i, 1); err != nil {
		return err
	}
	more := x.segments.pending() >= 0
	switch {
	case more && x.building.IsZero():
		x.building = begun
		x.o.Log.Info("building the search index", "dir", x.o.Dir)
	case !more && !x.building.IsZero():
		x.o.Log.Info("the search index is built", "names", x.Status().Names, "took", x.o.Now().Sub(x.building).Round(time.Millisecond).String())
		x.building = time.Time{}
	}
	return nil
}

// check replaces the index by an empty index if the log does not contain the last indexed change.
// The index may belong to another store, or the store may have lost changes, for example when a
// backup was restored.
func (x *Index) check(ctx context.Context, head store.Head) error {
	if x.position.Version == version {
		same, err := x.onLog(ctx, head)
		if err != nil || same {
			return err
		}
		x.o.Log.Warn("the search index belongs to another log of changes and is built again", "dir", x.o.Dir)
	}
	at, err := positionAt(ctx, x.o.Store, head.Size)
	if err != nil {
		return err
	}
	if err := x.reset(); err != nil {
		return err
	}
	return x.commit(nil, at, segments{{pending: true}})
}

func (x *Index) reset() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.renew()
}

func (x *Index) onLog(ctx context.Context, head store.Head) (bool, error) {
	if head.Size < x.position.Seq {
		return false, nil
	}
	at, err := positionAt(ctx, x.o.Store, x.position.Seq)
	return at.Digest == x.position.Digest, err
}

// commit writes the batch b, the position and the segments atomically, and makes them visible to
// searches. The batch may be nil.
func (x *Index) commit(b *pebble.Batch, at position, all segments) error {
	if b == nil {
		b = x.db.NewBatch()
	}
	defer b.Close()
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := all.write(b, x.segments); err != nil {
		return err
	}
	if err := at.write(b); err != nil {
		return err
	}
	if err := x.db.Apply(b, pebble.Sync); err != nil {
		return err
	}
	if err := x.db.Err(); err != nil {
		return err
	}
	x.segments, x.position = all, at
	return nil
}
