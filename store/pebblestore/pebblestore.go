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
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// formatVersion is the version of the key spaces and encodings. Its history is
// in docs/reference/files.md.
const formatVersion = 3

// formatUnaliased is the version before, whose index of locations has no aliases.
const formatUnaliased = 2

// format1 is the version without a log of changes, which [Rekey] reads.
const format1 = 1

// ErrLocked is returned by [Open] when another process has the store open.
var ErrLocked = errors.New("another process has it open")

// Options say where a store is and how it is opened.
type Options struct {
	Dir       string       // made if it is not there, unless ReadOnly or MustExist
	FS        vfs.FS       // the disk if nil
	CacheSize int64        // bytes of memory for data kept uncompressed; 0 for a share of the machine's
	Log       *slog.Logger // of the storage and of what Pebble has to complain about; nil for nobody
	ReadOnly  bool         // nothing is written, and the store must exist
	MustExist bool         // the store must exist: else Open returns fs.ErrNotExist and makes nothing
	Keep      bool         // a store of an older format is not converted, nor a backup changed: it is opened for reading alone
	Warm      bool         // names are read into the cache in the background, as many as it holds

	Now     func() time.Time // the clock; time.Now if nil
	Program string           // the version of the program, for the manifests of backups

	// Fatal is called when the engine finds that it cannot go on, which is an error of
	// the program or of its memory, and must not return. What was acknowledged is on
	// disk. It panics if nil.
	Fatal func(error)

	baseSize  int64 // the constants if 0
	blockSize int
	watch     time.Duration
	hangAfter time.Duration
}

// A Store is a directory that is open. [Open] makes one.
type Store struct {
	options  Options
	readOnly bool
	gate     gate.Gate // of calls that change something
	lock     dirLock
	cache    *pebble.Cache
	engine   atomic.Pointer[engine]
	state    state
	count    atomic.Int64 // of records

	log    ledger.Log // of what was decided; decide's alone
	writer writer     // decide's alone
	look   roomWatch  // decide's alone
	sealed sealed     // what is on disk

	idle     sync.Pool     // requests that were answered
	requests chan *request // from Apply to decide
	decided  chan *request // from decide to acknowledge
	answered chan struct{} // closed when acknowledge has ended

	end     func()         // tells watch
	watched sync.WaitGroup // that it has ended
	retired sync.WaitGroup // engines that are being closed

	backups atomic.Uint64
	now     func() time.Time
	program string
	dir     string
	fs      vfs.FS
	report  *slog.Logger
}

var (
	_ store.Store              = (*Store)(nil)
	_ store.Historian          = (*Store)(nil)
	_ store.AuthorityHistorian = (*Store)(nil)
	_ store.Counter            = (*Store)(nil)
	_ store.Tokens             = (*Store)(nil)
	_ store.TokenLister        = (*Store)(nil)
	_ store.Feed               = (*Store)(nil)
	_ store.Prover             = (*Store)(nil)
	_ store.Loader             = (*Store)(nil)
	_ store.Finder             = (*Store)(nil)
	_ store.Verifier           = (*Store)(nil)
	_ store.Backuper           = (*Store)(nil)
	_ store.Watched            = (*Store)(nil)
)

// Open opens the store in a directory, or makes one there. The error contains
// [ErrLocked] when another process has it open, a [*store.VersionError] when it
// was made by other rules ([Rekey] changes them), and [fs.ErrNotExist] when it has
// to exist and does not. It ends a Rekey that a crash has kept from its last step.
//
// A store whose log has no readable end can be read, but not written. So can one
// whose directory takes no writes, on a full disk or a read-only file system; that
// one takes changes as soon as the directory does. Its Condition tells the cause.
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
	s.cache = pebble.NewCache(blockBytes(o.cacheSize()))
	e, err := s.start()
	if err != nil {
		s.cache.Unref()
		return nil, fmt.Errorf("pebblestore: %s: %w", o.Dir, errors.Join(err, s.lock.release()))
	}
	if s.writable() {
		if err := s.clearCheckpoints(); err != nil {
			s.warn("what a backup has left cannot be removed", err)
		}
	}
	s.state.tell()
	e.run(s, o.Warm)
	ctx, end := context.WithCancel(context.Background())
	s.end = end
	if !s.readOnly {
		s.watched.Go(func() { s.watch(ctx) })
	}
	go s.decide()
	go s.acknowledge()
	return s, nil
}

// start opens the first engine: one that only reads if the directory takes no writes.
func (s *Store) start() (*engine, error) {
	o := s.options
	err := errors.Join(settle(o), exists(o))
	if err != nil {
		return nil, err
	}
	e, err := s.openEngine(o.ReadOnly)
	if err != nil && !o.ReadOnly && isUnwritable(err) && peek(o.Dir, o.FS) == nil {
		s.lock.lenient = true
		reader, rerr := s.openEngine(true)
		if rerr != nil {
			return nil, errors.Join(err, rerr)
		}
		s.away(cmp.Or(reader.lookAtRoom(), err)) // which says what there is too little of
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

// install makes an engine, and what it has found, those of the store.
func (s *Store) install(e *engine) {
	s.log = e.log
	s.sealed.set(&s.log)
	s.count.Store(e.count)
	s.engine.Store(e)
	if e.damage != nil {
		s.warn("the store is damaged: what can be read is answered, and changes are refused until the store is replaced by a backup; 'nomen verify' tells what is affected", e.damage)
	}
}

// exists returns fs.ErrNotExist if there has to be a store but is none.
func exists(o Options) error {
	if !o.ReadOnly && !o.MustExist {
		return nil
	}
	return peek(o.Dir, o.FS)
}

// Exists returns nil if there is a store in dir, and fs.ErrNotExist if there is no
// directory, or one without a store.
func Exists(dir string) error { return peek(dir, vfs.Default) }

func peek(dir string, files vfs.FS) error {
	desc, err := pebble.Peek(dir, files)
	if err == nil && !desc.Exists {
		err = fs.ErrNotExist
	}
	return err
}

// unopenable says what to do about a store whose files have not what they should have.
// Errors of the system, and of a store of another version, say that themselves.
func unopenable(err error) error {
	no, version := syscall.Errno(0), (*store.VersionError)(nil)
	if errors.As(err, &no) || errors.As(err, &version) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrLocked) {
		return err
	}
	return fmt.Errorf("the store cannot be opened, because its files are damaged or of a later program: %w; if they are damaged, move the store away and make one of a backup with 'nomen restore'", err)
}

// found makes an empty directory a store.
func (e *engine) found() error {
	v, err := newView(e.db)
	if err != nil {
		return err
	}
	empty := !v.it.First()
	v.close()
	if !empty || e.readOnly {
		return errors.New("this is not a store of names")
	}
	batch := e.db.NewBatch()
	defer batch.Close()
	return errors.Join(
		batch.Set([]byte(metaID), newID(), nil),
		batch.Set([]byte(metaFormat), encodeNumber(formatVersion), nil),
		batch.Set([]byte(metaRules), encodeNumber(name.RulesVersion), nil),
		e.db.Apply(batch, pebble.Sync),
	)
}

// newID returns random bytes.
func newID() []byte {
	id := make([]byte, 16)
	_, _ = rand.Read(id) // it never fails
	return id
}

// Close implements [store.Store]. It must not be called from within a listing,
// for whose end it waits.
//
// If the disk hangs it waits no longer: what was acknowledged is on disk, and the next
// start recovers it.
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
		return fmt.Errorf("pebblestore: %s: not closed: %w; what was acknowledged is on disk", s.dir, errHung)
	}
}

// maxHungClose is how long the closing of a store waits for a disk that hangs.
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

// enter lets a call into the engine of now, which has to leave by its gate.
func (s *Store) enter() (*engine, error) {
	for {
		e := s.engine.Load()
		err := e.gate.Enter()
		if err == nil || s.engine.Load() == e {
			return e, err
		}
	}
}

// writable reports whether s may write, and could up to now.
func (s *Store) writable() bool {
	e := s.engine.Load()
	return !s.readOnly && !e.readOnly && !e.kept && e.damage == nil && e.disk.err() == nil
}

// warn tells the log what nobody waits for.
func (s *Store) warn(what string, err error) {
	if s.report != nil {
		s.report.Error(what, "err", err)
	}
}

// BlocksRead returns how many blocks of tables were asked for since the store was
// opened, and how many of those were not in the cache and had to be read from files.
func (s *Store) BlocksRead() (asked, read int64) {
	e, err := s.enter()
	if err != nil {
		return 0, 0
	}
	defer e.gate.Leave()
	return e.blocks()
}

// blocks is BlocksRead of an engine. It asks the cache itself: the engine's own metrics
// wait for a manifest that is being written.
func (e *engine) blocks() (asked, read int64) {
	cache := e.cache.Metrics()
	return cache.Hits + cache.Misses, cache.Misses
}
