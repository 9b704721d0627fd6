package pebblestore

import (
	"errors"
	"os"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/nomen-project/nomen/internal/codec"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// scratchCache is the cache of a Scratch in bytes. With what is not yet in tables
// it takes some 32 MiB at most, however much is kept.
const scratchCache = 16 << 20

// A Scratch keeps records for as long as it is open: on disk, where they are of no
// use to anybody afterwards. It is for one goroutine.
type Scratch struct {
	dir  string
	db   *pebble.DB
	view *view // of what is kept; nil if something was kept since
	key  []byte
	text []byte
}

// NewScratch makes a Scratch in a directory of its own below parent, the system's
// for temporary files if that is empty.
func NewScratch(parent string) (*Scratch, error) {
	dir, err := os.MkdirTemp(parent, "nomen-scratch-*")
	if err != nil {
		return nil, err
	}
	o := engineOptions(Options{Dir: dir, FS: private{vfs.Default}, CacheSize: scratchCache})
	o.DisableWAL = true
	db, err := pebble.Open(dir, o)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return &Scratch{dir: dir, db: db}, nil
}

// Record returns the record of n that was kept last, nil if there is none.
func (s *Scratch) Record(n name.Name) (*store.Record, error) {
	if s.view == nil {
		v, err := newView(s.db)
		if err != nil {
			return nil, err
		}
		v.format = format1 // values alone
		s.view = v
	}
	c, err := s.view.last(store.Subject{Kind: store.KindName, Key: n.Key()})
	if c == nil || err != nil {
		return nil, err
	}
	return c.Record, nil
}

// Keep keeps records in place of those of the same names, with their revisions and
// times.
func (s *Scratch) Keep(records []*store.Record) error {
	s.closeView()
	batch := s.db.NewBatch()
	defer batch.Close()
	for _, r := range records {
		c := store.Change{Record: r, Expected: r.Revision - 1, Time: r.Modified}
		s.key = appendKey(s.key[:0], c.Subject())
		s.text = codec.Append(s.text[:0], &c)
		if err := batch.Set(s.key, s.text, nil); err != nil {
			return err
		}
	}
	return batch.Commit(pebble.NoSync)
}

func (s *Scratch) closeView() {
	if s.view != nil {
		s.view.close()
		s.view = nil
	}
}

// Close removes what was kept.
func (s *Scratch) Close() error {
	s.closeView()
	return errors.Join(s.db.Close(), os.RemoveAll(s.dir))
}
