package pebblestore

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/nomen-project/nomen/internal/gate"
	"github.com/nomen-project/nomen/internal/ledger"
	"github.com/nomen-project/nomen/internal/pacer"
	"github.com/nomen-project/nomen/internal/reading"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// Versions of the key spaces and encodings. docs/reference/files.md has their history.
const (
	formatVersion = 7 // the latest: version of stores that split digests, or have split digests
	formatRights  = 6 // version of stores with rights of tokens, but without split digests
	formatValues  = 5 // version of stores with typed values, but without rights of tokens
	formatUsers   = 4 // version of stores with users, but without typed values and rights of tokens
	formatNoUsers = 3 // version of stores without users, typed values and rights of tokens, which earlier programs can open
)

// ErrLocked is returned by [Open] if another process has the store open.
var ErrLocked = errors.New("another process has it open")

// Options say which directory [Open] opens, and how.
type Options struct {
	Dir       string       // directory of the store; created if it does not exist, unless ReadOnly or MustExist is set
	FS        vfs.FS       // file system; if nil, the file system of the operating system
	CacheSize int64        // memory for uncompressed data, in bytes; if 0, a share of the machine's memory
	Log       *slog.Logger // logger for storage failures and Pebble's errors; nil for no log
	ReadOnly  bool         // write nothing; the store must exist
	MustExist bool         // if the store does not exist, return fs.ErrNotExist and create nothing
	Keep      bool         // if Dir is a backup, open it read-only instead of returning [ErrBackup]
	Warm      bool         // read names into the cache in the background, as many as have space
	Pacer     *pacer.Pacer // makes background work such as compactions rest while requests are answered; nil for no rests

	Now     func() time.Time // returns the current time; time.Now if nil
	Program string           // version of the program, written to the manifests of backups

	// Fatal is called if the database cannot continue, because of a bug or a memory error. Fatal
	// must not return. Acknowledged changes are on disk. If Fatal is nil, the store panics instead.
	Fatal func(error)

	baseSize  int64 // set by tests; if 0, the constants with the same names are used
	blockSize int
	watch     time.Duration
	hangAfter time.Duration
}

// A Store is an open store in a directory. It is made by [Open].
type Store struct {
	reader

	options  Options
	readOnly bool
	gate     gate.Gate // counts the calls that write
	lock     dirLock
	cache    *pebble.Cache
	engine   atomic.Pointer[engine]
	state    state
	count    atomic.Int64 // number of records

	log    ledger.Log // the log including planned changes; used only by decide
	writer writer     // used only by decide
	look   roomWatch  // used only by decide
	sealed sealedLog  // the part of the log that is on disk
	reads  reads      // records read for a coming change

	invalidations store.Invalidations

	idle     sync.Pool     // requests that can be reused
	requests chan *request // requests that Apply passes to decide
	decided  chan *request // requests that decide passes to acknowledge
	answered chan struct{} // closed when acknowledge has ended

	end     func()         // ends the goroutine watch
	watched sync.WaitGroup // waits until watch has ended
	retired sync.WaitGroup // engines that are being closed

	backups atomic.Uint64
	secrets sync.Mutex // held while a secret is written
	leases  store.Leases
	now     func() time.Time
	program string
	dir     string
	fs      vfs.FS
	report  *slog.Logger
}

type reader = reading.Reader

var (
	_ store.Invalidator        = (*Store)(nil)
	_ store.Store              = (*Store)(nil)
	_ store.Historian          = (*Store)(nil)
	_ store.AuthorityHistorian = (*Store)(nil)
	_ store.Counter            = (*Store)(nil)
	_ store.Tokens             = (*Store)(nil)
	_ store.TokenLister        = (*Store)(nil)
	_ store.Feed               = (*Store)(nil)
	_ store.Prover             = (*Store)(nil)
	_ store.TreeReader         = (*Store)(nil)
	_ store.Splitter           = (*Store)(nil)
	_ store.LeafScanner        = (*Store)(nil)
	_ store.Loader             = (*Store)(nil)
	_ store.Finder             = (*Store)(nil)
	_ store.Verifier           = (*Store)(nil)
	_ store.Backuper           = (*Store)(nil)
	_ store.Watched            = (*Store)(nil)
	_ store.Vault              = (*Store)(nil)
)

// Open opens the store in the directory o.Dir, or creates a store if the directory has none. If a
// call of [Rekey] was interrupted before the last step, Open completes it first. The error wraps:
//
//   - [ErrLocked] if another process has the store open;
//   - a [*store.VersionError] if the store has another version; [Rekey] converts the store;
//   - [fs.ErrNotExist] if the store must exist and does not.
//
// In two cases, Open succeeds although the store rejects changes. Condition then returns the cause:
//
//   - The end of the log cannot be read.
//   - The directory cannot be written, because the disk is full or the file system is read-only.
//     The store accepts changes as soon as the directory can be written.
func Open(o Options) (*Store, error) {
	o.defaults()
	if err := refuseBackup(o.FS, o.Dir); !o.ReadOnly && err != nil {
		if !o.Keep || !errors.Is(err, ErrBackup) {
			return nil, fmt.Errorf("pebblestore: %s: %w", o.Dir, err)
		}
		o.ReadOnly = true
	}
	s := &Store{
		options:  o,
		readOnly: o.ReadOnly,
		lock:     dirLock{lenient: o.ReadOnly},
		requests: make(chan *request),
		decided:  make(chan *request, maxAhead),
		answered: make(chan struct{}),
		now:      o.Now,
		program:  o.Program,
		dir:      o.Dir,
		fs:       o.FS,
		report:   o.Log,
	}
	s.reader = reading.Of(reading.Changes{Find: s.find, Scan: s.scan, History: s.history, Owner: s.owner})
	s.cache = pebble.NewCache(blockBytes(o.cacheSize()))
	e, err := s.start()
	if err != nil {
		s.cache.Unref()
		return nil, fmt.Errorf("pebblestore: %s: %w", o.Dir, errors.Join(err, s.lock.release()))
	}
	s.run(e)
	return s, nil
}

func (s *Store) run(e *engine) {
	if s.writable() {
		if err := s.clearCheckpoints(); err != nil {
			s.warn("cannot remove the remains of a backup", err)
		}
	}
	s.state.tell()
	e.run(s, s.options.Warm)
	ctx, end := context.WithCancel(context.Background())
	s.end = end
	if !s.readOnly {
		s.watched.Go(func() { s.watch(ctx) })
	}
	go s.decide()
	go s.acknowledge()
}

// start opens the first engine. If the directory cannot be written, the engine is read-only.
func (s *Store) start() (*engine, error) {
	o := s.options
	if err := errors.Join(settle(o), exists(o)); err != nil {
		return nil, err
	}
	e, err := s.openEngine(o.ReadOnly)
	if err != nil && !o.ReadOnly && isUnwritable(err) && peek(o.Dir, o.FS) == nil {
		s.lock.lenient = true
		reader, rerr := s.openEngine(true)
		if rerr != nil {
			return nil, errors.Join(err, rerr)
		}
		s.away(cmp.Or(reader.lookAtRoom(), err)) // lookAtRoom says which resource is used up, so its error is preferred
		e, err = reader, nil
	}
	if err != nil {
		return nil, err
	}
	s.install(e)
	if s.writable() {
		tighten(o)
		s.noteRoom(e)
	}
	return e, nil
}

func (s *Store) install(e *engine) {
	s.log = e.log
	s.sealed.set(&s.log)
	s.count.Store(e.count)
	s.engine.Store(e)
	s.reads.clear()
	s.invalidations.InvalidateAll() // the previous engine may have had changes that were lost
	if e.damage != nil {
		s.warn("the store is damaged: what can be read is answered, and changes are rejected until the store is replaced by a backup; verify it to find out what is affected", e.damage)
	}
}

func exists(o Options) error {
	if !o.ReadOnly && !o.MustExist {
		return nil
	}
	return unopenable(peek(o.Dir, o.FS))
}

// Exists returns nil if the directory contains a store, and fs.ErrNotExist if it does not. If the
// directory contains only some of the files of a store, Exists returns [ErrLocked] while a process
// is creating the store, and otherwise a [*ManifestError].
func Exists(dir string) error { return peek(dir, vfs.Default) }

func peek(dir string, files vfs.FS) error {
	err := peekUnlocked(dir, files)
	if damage := (*ManifestError)(nil); !errors.As(err, &damage) {
		return err
	}
	name := files.PathJoin(dir, lockFile)
	if there, _ := isThere(files, name); !there {
		return err // a process that creates a store locks the directory first
	}
	var lock dirLock
	switch _, failure := lock.take(files, name); {
	case errors.Is(failure, ErrLocked):
		return failure
	case failure != nil:
		return err
	}
	return errors.Join(peekUnlocked(dir, files), lock.release())
}

// peekUnlocked is like peek, for a caller that holds the lock. An incomplete store cannot then be a
// store that another process is creating.
func peekUnlocked(dir string, files vfs.FS) error {
	desc, err := pebble.Peek(dir, files)
	if err == nil && !desc.Exists {
		err = cmp.Or(checkNew(files, dir), fs.ErrNotExist)
	}
	return err
}

// unopenable adds advice to an error that comes from the content of a store. It returns errors of
// the operating system and a [*store.VersionError] unchanged.
func unopenable(err error) error {
	if err == nil {
		return nil
	}
	no, version := syscall.Errno(0), (*store.VersionError)(nil)
	if errors.As(err, &no) || errors.As(err, &version) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrLocked) {
		return err
	}
	return fmt.Errorf("the store cannot be opened, because its files are damaged or were written by a newer program: %w; if they are damaged, move the store away and restore a backup", err)
}

// initialize writes the metadata of a new store.
func (e *engine) initialize() error {
	v, err := newView(e.db)
	if err != nil {
		return err
	}
	empty := !v.it.First()
	v.close()
	if !empty || e.readOnly {
		return errNotStore
	}
	if err := e.checkMark(); err != nil {
		return err
	}
	batch := e.db.NewBatch()
	defer batch.Close()
	return errors.Join(
		batch.Set([]byte(metaID), newID(), nil),
		batch.Set([]byte(metaFormat), encodeNumber(formatNoUsers), nil),
		batch.Set([]byte(metaRules), encodeNumber(name.RulesVersion), nil),
		e.db.Apply(batch, pebble.Sync),
	)
}

func newID() []byte {
	id := make([]byte, 16)
	_, _ = rand.Read(id) // Read never fails
	return id
}

// Close implements [store.Store]. It waits until all listings have ended, and must not be called in
// a loop over a listing.
//
// If the disk hangs, Close gives up after one second. Acknowledged changes are on disk, and the
// next start recovers them.
func (s *Store) Close() error {
	closed := make(chan error, 1)
	go func() { closed <- s.close() }()
	select {
	case err := <-closed:
		return err
	case <-s.engine.Load().disk.hung:
	}
	select {
	case err := <-closed:
		return err
	case <-time.After(maxHungClose):
		return fmt.Errorf("pebblestore: %s: not closed: %w; acknowledged changes are on disk", s.dir, errHung)
	}
}

// Invalidations implements [store.Invalidator].
func (s *Store) Invalidations() *store.Invalidations { return &s.invalidations }

const maxHungClose = time.Second

func (s *Store) close() error {
	if !s.gate.Close() {
		return nil
	}
	s.end()
	s.watched.Wait()
	e := s.engine.Load()
	e.gate.Close()
	close(s.requests)
	<-s.answered
	if s.writable() {
		e.finishScrubs()
		e.settle()
	}
	err := e.close()
	s.retired.Wait()
	if s.writable() && e.disk.check() == nil {
		err = errors.Join(err, writeMark(s.fs, s.dir, s.sealed.head()))
	}
	s.cache.Unref()
	if err = errors.Join(err, s.lock.release()); err != nil {
		return fmt.Errorf("pebblestore: %w", err)
	}
	return nil
}

// enter returns the current engine, and enters the gate of the engine. The caller must leave the
// gate.
func (s *Store) enter() (*engine, error) {
	for {
		e := s.engine.Load()
		err := e.gate.Enter()
		if err == nil || s.engine.Load() == e {
			return e, err
		}
	}
}

func (s *Store) using(ctx context.Context, f func(*engine) error) error {
	e, err := s.enter()
	if err != nil {
		return err
	}
	defer e.gate.Leave()
	if err := ctx.Err(); err != nil {
		return err
	}
	return f(e)
}

// viewing calls f with a view of the data of the current engine.
func (s *Store) viewing(ctx context.Context, f func(*view) error) error {
	return s.using(ctx, func(e *engine) error { return viewing(e.db, f) })
}

// writable reports whether the store accepts changes, as far as the last check shows.
func (s *Store) writable() bool {
	e := s.engine.Load()
	return !s.readOnly && !e.readOnly && e.damage == nil && e.disk.err() == nil
}

func (s *Store) warn(what string, err error) {
	if s.report != nil {
		s.report.Error(what, "err", err)
	}
}

// Usage implements [store.Measured]. Disk is nil until the store has checked the free space, at the
// first change or a second after opening.
func (s *Store) Usage() store.Usage {
	s.state.mu.Lock()
	u := store.Usage{Failures: s.state.failed}
	s.state.mu.Unlock()
	e, err := s.enter()
	if err != nil {
		return u
	}
	defer e.gate.Leave()
	cache := e.cache.Metrics()
	u.Caches = []store.CacheUsage{{
		Name: "blocks", Hits: uint64(cache.Hits), Misses: uint64(cache.Misses),
		Bytes: uint64(cache.Size), Capacity: uint64(blockBytes(s.options.cacheSize())),
	}}
	u.Disk = e.room.last.Load()
	return u
}

// BlocksRead returns two numbers since the store was opened: how many blocks of tables were
// requested, and how many of these were read from files because they were not in the cache.
func (s *Store) BlocksRead() (asked, read int64) {
	e, err := s.enter()
	if err != nil {
		return 0, 0
	}
	defer e.gate.Leave()
	return e.blocks()
}

// blocks returns the numbers of [Store.BlocksRead] for one engine. It uses the metrics of the
// cache, because the metrics of the database are locked while a manifest is written.
func (e *engine) blocks() (asked, read int64) {
	cache := e.cache.Metrics()
	return cache.Hits + cache.Misses, cache.Misses
}
