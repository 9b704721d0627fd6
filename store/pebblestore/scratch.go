package pebblestore

import (
	"cmp"
	"errors"
	"os"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/nomen-project/nomen/internal/codec"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

const scratchCache = 16 << 20

// A Scratch stores records on disk temporarily, until it is closed. It must not be used
// concurrently.
type Scratch struct {
	files vfs.FS
	dir   string
	db    *database
	view  *view // view of the current content; nil after a write
	key   []byte
	text  []byte
}

// NewScratch creates a Scratch in a temporary directory below parent, or below the system's
// directory for temporary files if parent is empty.
func NewScratch(parent string) (*Scratch, error) {
	dir, err := os.MkdirTemp(parent, "nomen-scratch-*")
	if err != nil {
		return nil, err
	}
	return newScratch(vfs.Default, dir)
}

func newScratch(files vfs.FS, dir string) (*Scratch, error) {
	o := Options{Dir: dir, FS: files, CacheSize: scratchCache}
	o.defaults()
	db, err := openDatabase(o, &dirLock{}, nil, func(p *pebble.Options, _ *engineDisk) { p.DisableWAL = true })
	if err != nil {
		return nil, errors.Join(err, files.RemoveAll(dir))
	}
	return &Scratch{dir: dir, db: db, files: files}, nil
}

// Record returns the record of the name n, or nil.
func (s *Scratch) Record(n name.Name) (*store.Record, error) {
	if s.view == nil {
		v, err := newView(s.db.DB)
		if err != nil {
			return nil, err
		}
		s.view = v
	}
	subject := store.Subject{Kind: store.KindName, Key: n.Key()}
	if !s.view.seek(subject) {
		return nil, s.view.failure(subject.Key)
	}
	value, err := s.view.it.ValueAndErr()
	if err != nil {
		return nil, err
	}
	c, err := codec.Decode(subject, value)
	if err != nil {
		return nil, err
	}
	return c.Record, nil
}

// Keep stores records with their revisions and times. A record replaces an earlier record of the
// same name.
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
	return cmp.Or(s.db.disk.err(), batch.Commit(pebble.NoSync), s.db.disk.err())
}

func (s *Scratch) closeView() {
	if s.view != nil {
		s.view.close()
		s.view = nil
	}
}

// Close deletes the records.
func (s *Scratch) Close() error {
	s.closeView()
	_ = s.db.closeAlone() // an error does not matter: the content is not needed any more
	return s.files.RemoveAll(s.dir)
}
