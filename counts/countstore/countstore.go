// Package countstore stores counts of resolutions in a separate database in the data directory of a
// server.
package countstore

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"log/slog"
	"os"
	"strconv"
	"sync"
	"syscall"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/nomen-project/nomen/counts"
	"github.com/nomen-project/nomen/internal/durable"
	"github.com/nomen-project/nomen/internal/pacer"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/pebblestore"
)

// Options configure a Store. Dir is required.
type Options struct {
	Dir string // created if it does not exist, but not the directory above it
	FS  vfs.FS // file system; if nil, the file system of the operating system
	Log *slog.Logger

	Pacer *pacer.Pacer // pauses compactions while requests are answered; may be nil
}

// A Store keeps counts in a directory. It implements [counts.Store].
//
// The key of a row consists of the month, the kind and the text. docs/reference/files.md describes
// the format.
type Store struct {
	db *pebblestore.Side

	adding sync.Mutex        // held while rows are read and rewritten
	last   map[string]uint64 // number of the last batch, by node

	using sync.RWMutex // held for reading while the database is used
	shut  bool
}

var _ counts.Store = (*Store)(nil)

const (
	formatName    = "counts"
	formatVersion = 1

	cacheSize = 4 << 20
	rollRows  = 10_000
	maxNodes  = 64 // nodes whose last batch is remembered when a store is opened; each start of a server is a new node
)

// The first byte of a key.
const (
	keyMeta = 0 // the version of the format; followed by the name of a node, the number of its last batch
	keyRow  = 1
)

var versionKey = []byte{keyMeta}

func batchKey(node string) []byte { return append([]byte{keyMeta, 1}, node...) }

// ErrClosed is the error of all methods after Close.
var ErrClosed = errors.New("countstore: closed")

// Open opens the counts in a directory, or creates them. The error wraps [pebblestore.ErrLocked] if
// another process has them open. It is a [*store.VersionError] if a later version of the program
// has written them.
func Open(o Options) (*Store, error) {
	db, err := pebblestore.OpenSide(pebblestore.SideOptions{Dir: o.Dir, FS: o.FS, CacheSize: cacheSize, Log: o.Log, Pacer: o.Pacer})
	if err != nil {
		return nil, fmt.Errorf("counts: %s: %w", o.Dir, err)
	}
	s := &Store{db: db, last: map[string]uint64{}}
	if err := s.load(); err != nil {
		return nil, errors.Join(fmt.Errorf("counts: %s: %w", o.Dir, err), db.Close())
	}
	return s, nil
}

// OpenOrReplace is like Open for a directory on the disk. If Open cannot read the directory,
// OpenOrReplace logs this, renames the directory to DIR.unread (or DIR.unread2 and so on), and
// creates an empty store, so that damaged statistics do not prevent the start of a server.
func OpenOrReplace(o Options) (*Store, error) {
	s, err := Open(o)
	if err == nil || errors.Is(err, pebblestore.ErrLocked) || errors.As(err, new(syscall.Errno)) {
		return s, err
	}
	aside := o.Dir + ".unread"
	for n := 2; ; n++ {
		if _, err := os.Lstat(aside); errors.Is(err, fs.ErrNotExist) {
			break
		} else if err != nil {
			return nil, err
		}
		aside = o.Dir + ".unread" + strconv.Itoa(n)
	}
	if err := durable.Move(durable.Disk{}, o.Dir, aside); err != nil {
		return nil, err
	}
	if o.Log != nil {
		o.Log.Warn("cannot read the counts of resolutions; starting from zero", "kept_as", aside, "err", err)
	}
	return Open(o)
}

// load reads or writes the version of the format, and reads the last batches.
func (s *Store) load() error {
	version, err := s.get(versionKey)
	switch {
	case err != nil:
		return err
	case version == nil:
		if err := s.db.Set(versionKey, []byte{formatVersion}, pebble.Sync); err != nil {
			return err
		}
		return s.db.Err()
	}
	if found, _ := binary.Uvarint(version); found != formatVersion {
		return &store.VersionError{What: formatName, Found: found, Known: formatVersion}
	}
	return s.loadBatches()
}

// loadBatches reads the last batch of each node. If there are many nodes, loadBatches deletes these
// numbers. No earlier node can add a batch again, because only one process has the store open.
func (s *Store) loadBatches() error {
	first := batchKey("")
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: first, UpperBound: end(first)})
	if err != nil {
		return err
	}
	for it.First(); it.Valid(); it.Next() {
		if seq, n := binary.Uvarint(it.Value()); n > 0 {
			s.last[string(it.Key()[len(first):])] = seq
		}
	}
	if err := it.Close(); err != nil || len(s.last) <= maxNodes {
		return err
	}
	clear(s.last)
	return cmp.Or(s.db.DeleteRange(first, end(first), pebble.Sync), s.db.Err())
}

func (s *Store) get(key []byte) ([]byte, error) {
	v, closer, err := s.db.Get(key)
	switch {
	case errors.Is(err, pebble.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return bytes.Clone(v), closer.Close()
}

// Close waits for the calls in progress and closes the store.
func (s *Store) Close() error {
	s.using.Lock()
	defer s.using.Unlock()
	if s.shut {
		return nil
	}
	s.shut = true
	return s.db.Close()
}

// enter prevents that the database is closed before the call ends. It returns ErrClosed after
// Close.
func (s *Store) enter() error {
	s.using.RLock()
	if s.shut {
		s.using.RUnlock()
		return ErrClosed
	}
	return nil
}

func appendKey(b []byte, month counts.Month, kind counts.Kind, text string) []byte {
	b = append(b, keyRow)
	b = binary.BigEndian.AppendUint16(b, uint16(month))
	return append(append(b, byte(kind)), text...)
}

const rowHead = 4 // length in bytes of the key before the text

func readKey(key []byte) (counts.Key, error) {
	if len(key) < rowHead || key[0] != keyRow {
		return counts.Key{}, errors.New("countstore: invalid key")
	}
	return counts.Key{Month: counts.Month(binary.BigEndian.Uint16(key[1:])), Kind: counts.Kind(key[3]), Text: string(key[rowHead:])}, nil
}

// Add implements [counts.Store].
func (s *Store) Add(ctx context.Context, b counts.Batch) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.using.RUnlock()
	s.adding.Lock()
	defer s.adding.Unlock()
	if s.last[b.Node] == b.Seq {
		return nil
	}
	w := s.db.NewBatch()
	defer w.Close()
	var key, value []byte
	turn := pacer.Begin(ctx)
	for _, r := range b.Rows {
		turn.Rest(ctx.Done())
		key = appendKey(key[:0], r.Month, r.Kind, r.Text)
		cells, err := s.cells(key)
		if err != nil {
			return err
		}
		value = counts.AppendCells(value[:0], counts.Add(cells, r.Cells))
		if err := w.Set(key, value, nil); err != nil {
			return err
		}
	}
	if err := w.Set(batchKey(b.Node), binary.AppendUvarint(nil, b.Seq), nil); err != nil {
		return err
	}
	if err := s.commit(w); err != nil {
		return err
	}
	s.last[b.Node] = b.Seq
	return nil
}

func (s *Store) commit(w *pebble.Batch) error {
	return cmp.Or(w.Commit(pebble.Sync), s.db.Err())
}

// cells returns the cells of a row. If the row is damaged, cells returns none, so that the count
// can continue.
func (s *Store) cells(key []byte) ([]counts.Cell, error) {
	value, err := s.get(key)
	if err != nil {
		return nil, err
	}
	cells, err := counts.ReadCells(value)
	if err != nil {
		return nil, nil
	}
	return cells, nil
}

func end(prefix []byte) []byte {
	after := bytes.Clone(prefix)
	for i := len(after) - 1; i >= 0; i-- {
		if after[i]++; after[i] != 0 {
			return after[:i+1]
		}
	}
	return nil
}

// Rows implements [counts.Store].
func (s *Store) Rows(ctx context.Context, q counts.Query) iter.Seq2[counts.Row, error] {
	return func(yield func(counts.Row, error) bool) {
		if err := s.enter(); err != nil {
			yield(counts.Row{}, err)
			return
		}
		defer s.using.RUnlock()
		for month := q.From; month <= q.To; month++ {
			prefix := appendKey(nil, month, q.Kind, q.Text)
			after := end(prefix)
			if !q.Prefix {
				after = append(bytes.Clone(prefix), 0)
			}
			for r, err := range s.rows(ctx, prefix, after) {
				if !yield(r, err) || err != nil {
					return
				}
			}
			if month == ^counts.Month(0) {
				return
			}
		}
	}
}

// rows yields the rows whose keys are in a half-open interval.
func (s *Store) rows(ctx context.Context, from, to []byte) iter.Seq2[counts.Row, error] {
	return func(yield func(counts.Row, error) bool) {
		it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: from, UpperBound: to})
		if err != nil {
			yield(counts.Row{}, err)
			return
		}
		defer it.Close()
		n := 0
		for it.First(); it.Valid(); it.Next() {
			if n++; n%1024 == 0 && ctx.Err() != nil {
				yield(counts.Row{}, context.Cause(ctx))
				return
			}
			key, err := readKey(it.Key())
			if err != nil {
				continue
			}
			cells, err := counts.ReadCells(it.Value())
			if err != nil {
				continue // damaged statistics do not stop a report
			}
			if !yield(counts.Row{Key: key, Cells: cells}, nil) {
				return
			}
		}
		if err := it.Error(); err != nil {
			yield(counts.Row{}, err)
		}
	}
}

// Roll implements [counts.Store]. It begins with the earliest month. It does not read months that
// have already been rolled up.
func (s *Store) Roll(ctx context.Context, before counts.Month) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.using.RUnlock()
	from := appendKey(nil, 0, 0, "")
	for {
		next, err := s.rollSome(ctx, from, before)
		if next == nil || err != nil {
			return err
		}
		from = next
	}
}

// rollSome rolls up some rows. It returns the key at which to continue, or nil at the end.
func (s *Store) rollSome(ctx context.Context, from []byte, before counts.Month) (next []byte, err error) {
	s.adding.Lock()
	defer s.adding.Unlock()
	w := s.db.NewBatch()
	defer w.Close()
	read, turn := 0, pacer.Begin(ctx)
	for r, err := range s.rows(ctx, from, appendKey(nil, before, 0, "")) {
		if err != nil {
			return nil, err
		}
		turn.Rest(ctx.Done())
		key := appendKey(nil, r.Month, r.Kind, r.Text)
		if read++; read > rollRows {
			return key, s.commit(w)
		}
		if r.Cells[len(r.Cells)-1].Day > 0 {
			if err := w.Set(key, counts.AppendCells(nil, counts.Whole(r.Cells)), nil); err != nil {
				return nil, err
			}
		}
	}
	return nil, s.commit(w)
}
