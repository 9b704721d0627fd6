package pebblestore

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/nomen-project/nomen/internal/gate"
	"github.com/nomen-project/nomen/internal/ledger"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// formatVersion is the version of the key spaces and encodings. Its history is
// in docs/formats.md.
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
	CacheSize int64        // bytes of data kept uncompressed in memory; 0 for a share of the machine's
	Log       *slog.Logger // of what Pebble has to complain about; nil for nobody
	ReadOnly  bool         // nothing is written, and the store must exist
	MustExist bool         // the store must exist: else Open returns fs.ErrNotExist and makes nothing
	Keep      bool         // a store of an older format is not converted, nor a backup changed: it is opened for reading alone
	Warm      bool         // names are read into the cache in the background, as many as it holds

	Now     func() time.Time // the clock; time.Now if nil
	Program string           // the version of the program, for the manifests of backups

	baseSize  int64 // the constants if 0
	blockSize int
}

// A Store is a directory that is open. [Open] makes one.
type Store struct {
	db       *pebble.DB
	readOnly bool
	gate     gate.Gate
	count    atomic.Int64          // of records
	failure  atomic.Pointer[error] // that ended all writing

	log    ledger.Log     // of what was decided; decide's alone
	writer writer         // decide's alone
	room   room           // decide's alone
	sealed sealed         // what is on disk
	scrubs sync.WaitGroup // compactions that remove what was redacted

	logDamage error // why the log is not what it was, nil if it is
	missing   error // the same, if the log can be read all the same

	flushed chan struct{} // told when there is a new table
	marked  chan struct{} // closed when keepMark has ended

	idle     sync.Pool     // requests that were answered
	requests chan *request // from Apply to decide
	decided  chan *request // from decide to acknowledge
	answered chan struct{} // closed when acknowledge has ended

	end        func()         // tells what goes on in the background
	background sync.WaitGroup // that it has ended

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
)

// Open opens the store in a directory, or makes one there. The error contains
// [ErrLocked] when another process has it open, a [*store.VersionError] when it
// was made by other rules ([Rekey] changes them), and [fs.ErrNotExist] when it has
// to exist and does not. It ends a Rekey that a crash has kept from its last step.
// A store whose log has no readable end can be read, but not written.
func Open(o Options) (*Store, error) {
	o.defaults()
	if err := refuseBackup(o.FS, o.Dir); !o.ReadOnly && err != nil {
		if !o.Keep || !errors.Is(err, ErrBackup) {
			return nil, fmt.Errorf("pebblestore: %s: %w", o.Dir, err)
		}
		o.ReadOnly = true
	}
	if o.ReadOnly {
		o.FS = lockless{o.FS}
	}
	s := &Store{
		readOnly: o.ReadOnly,
		requests: make(chan *request),
		decided:  make(chan *request, maxAhead),
		answered: make(chan struct{}),
		flushed:  make(chan struct{}, 1),
		marked:   make(chan struct{}),
		now:      o.Now,
		program:  o.Program,
		dir:      o.Dir,
		fs:       o.FS,
		report:   o.Log,
	}
	if err := errors.Join(settle(o), exists(o)); err != nil {
		return nil, fmt.Errorf("pebblestore: %s: %w", o.Dir, err)
	}
	engine := engineOptions(o)
	engine.EventListener.FlushEnd = func(pebble.FlushInfo) { s.noteFlush() }
	s.room = room{fs: o.FS, dir: o.Dir, spare: memTables * engine.MemTableSize}
	var err error
	if s.db, err = pebble.Open(o.Dir, engine); err != nil {
		return nil, fmt.Errorf("pebblestore: %s: %w", o.Dir, explain(o, err))
	}
	tighten(o)
	if err := s.identify(o.Keep); err != nil {
		return nil, errors.Join(fmt.Errorf("pebblestore: %s: %w", o.Dir, err), s.db.Close())
	}
	if !s.readOnly {
		if err := s.clearCheckpoints(); err != nil {
			s.warn("what a backup has left cannot be removed", err)
		}
	}
	ctx, end := context.WithCancel(context.Background())
	s.end = end
	if o.Warm {
		s.background.Go(func() { s.warm(ctx, engine.CacheSize) })
	}
	if !s.readOnly {
		s.background.Go(func() { s.keepTidy(ctx) })
	}
	go s.decide()
	go s.acknowledge()
	go func() {
		defer close(s.marked)
		s.keepMark()
	}()
	return s, nil
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

// explain returns ErrLocked in place of err if that is the reason.
func explain(o Options, err error) error {
	lock, lockErr := pebble.LockDirectory(o.Dir, o.FS)
	if lockErr == nil {
		_ = lock.Close() // of a lock of which nobody knew
		return err
	}
	if path := (*fs.PathError)(nil); errors.As(lockErr, &path) {
		return err // the lock's file cannot be made at all
	}
	return ErrLocked
}

// identify checks that the store was made by the rules of this program, or
// records them in a new one. One of [formatUnaliased] is converted, unless it is
// to be kept: it can be read, and finds no aliases.
func (s *Store) identify(keep bool) error {
	format, ok, err := number(s.db, metaFormat)
	if err != nil {
		return err
	}
	if !ok {
		return s.found()
	}
	if format != formatVersion && format != formatUnaliased {
		return &store.VersionError{What: "format of the store", Found: format, Known: formatVersion}
	}
	rules, _, err := number(s.db, metaRules)
	if err != nil {
		return err
	}
	if rules != name.RulesVersion {
		return &store.VersionError{What: "rules of names", Found: rules, Known: name.RulesVersion}
	}
	switch {
	case format != formatUnaliased || s.readOnly:
	case keep:
		s.readOnly = true
	default:
		if err := s.indexAliases(); err != nil {
			return err
		}
	}
	count, _, err := number(s.db, metaCount)
	if err != nil {
		return err
	}
	s.count.Store(int64(count))
	err = s.openLog()
	if err == nil {
		if s.missing = s.checkMark(); s.missing != nil {
			s.logDamage = fmt.Errorf("pebblestore: nothing can be written: %w", s.missing)
			s.warn("store opened for reading only, and it does not have all that it had", s.missing)
		}
	}
	if damaged := (*CorruptError)(nil); errors.As(err, &damaged) || pebble.IsCorruptionError(err) {
		s.logDamage = fmt.Errorf("pebblestore: the log of changes is damaged, and nothing can be written: %w", err)
		s.warn("store opened for reading only", s.logDamage)
		return nil
	}
	return err
}

// openLog finds the end of the log.
func (s *Store) openLog() error {
	v, err := newView(s.db)
	if err != nil {
		return err
	}
	defer v.close()
	size, err := v.logSize()
	if err != nil {
		return err
	}
	if s.log, err = ledger.Open(size, source{s.db}); err != nil {
		return err
	}
	s.sealed.set(&s.log)
	return nil
}

// found makes an empty directory a store.
func (s *Store) found() error {
	v, err := newView(s.db)
	if err != nil {
		return err
	}
	empty := !v.it.First()
	v.close()
	if !empty || s.readOnly {
		return errors.New("this is not a store of names")
	}
	batch := s.db.NewBatch()
	defer batch.Close()
	return errors.Join(
		batch.Set([]byte(metaID), newID(), nil),
		batch.Set([]byte(metaFormat), encodeNumber(formatVersion), nil),
		batch.Set([]byte(metaRules), encodeNumber(name.RulesVersion), nil),
		s.db.Apply(batch, pebble.Sync),
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
func (s *Store) Close() error {
	if !s.gate.Close() {
		return nil
	}
	s.end()
	s.background.Wait()
	close(s.requests)
	<-s.answered
	s.scrubs.Wait()
	s.settle()
	err := s.db.Close()
	close(s.flushed)
	<-s.marked
	if s.writable() {
		err = errors.Join(err, writeMark(s.fs, s.dir, s.sealed.head()))
	}
	if err != nil {
		return fmt.Errorf("pebblestore: %w", err)
	}
	return nil
}

// writable reports whether s may write, and could up to now.
func (s *Store) writable() bool { return !s.readOnly && s.logDamage == nil && s.failed() == nil }

// noteFlush tells keepMark that there is a new table. The engine calls it, and must
// not wait.
func (s *Store) noteFlush() {
	select {
	case s.flushed <- struct{}{}:
	default:
	}
}

// maxSettle is how long settling may take. A disk that is full never ends it.
const maxSettle = 30 * time.Second

// settle writes what is in memory into tables, so that the next start has no log
// to read again. Without it nothing is lost.
func (s *Store) settle() {
	if !s.writable() {
		return
	}
	flushed, err := s.db.AsyncFlush()
	if err != nil {
		s.warn("settling", err)
		return
	}
	select {
	case <-flushed:
	case <-time.After(maxSettle):
	}
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
	if s.gate.Enter() != nil {
		return 0, 0
	}
	defer s.gate.Leave()
	return s.blocks()
}

// blocks is BlocksRead of a store that is open.
func (s *Store) blocks() (asked, read int64) {
	cache := s.db.Metrics().BlockCache
	return cache.Hits + cache.Misses, cache.Misses
}
