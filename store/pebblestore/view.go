package pebblestore

import (
	"bytes"
	"fmt"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/nomen-project/nomen/internal/codec"
	"github.com/nomen-project/nomen/store"
)

// A view reads the tree as of one moment. It is for one goroutine, which has to
// close it.
type view struct {
	it      *pebble.Iterator
	format  uint64
	key     []byte // scratch
	options pebble.IterOptions
}

// newView returns a view of a database, a snapshot or an indexed batch.
func newView(r pebble.Reader) (*view, error) {
	v := &view{}
	return v, v.open(r)
}

// open makes v, which is closed or new, a view of r.
func (v *view) open(r pebble.Reader) (err error) {
	v.format = formatVersion
	v.options = pebble.IterOptions{UseL6Filters: true}
	if v.it, err = r.NewIter(&v.options); err != nil {
		return fmt.Errorf("pebblestore: %w", err)
	}
	return nil
}

// clone returns a second view of the same moment.
func (v *view) clone() (*view, error) {
	it, err := v.it.Clone(pebble.CloneOptions{IterOptions: &pebble.IterOptions{}})
	if err != nil {
		return nil, fmt.Errorf("pebblestore: %w", err)
	}
	return &view{it: it, format: v.format}, nil
}

func (v *view) close() { _ = v.it.Close() } // its error was seen where it stopped

// seek stands on the last change of s, if there is one.
func (v *view) seek(s store.Subject) bool {
	v.key = appendKey(v.key[:0], s)
	return v.it.SeekPrefixGE(v.key) && bytes.Equal(v.it.Key(), v.key)
}

// last returns the last change of s, nil if there is none.
func (v *view) last(s store.Subject) (*store.Change, error) {
	if !v.seek(s) {
		return nil, v.failure(s.Key)
	}
	return v.change(s)
}

// at returns the last change of s that was known at a time, nil if there is
// none.
func (v *view) at(s store.Subject, at time.Time) (*store.Change, error) {
	c, err := v.last(s)
	if err != nil || c == nil || c.KnownAt(at) {
		return c, err
	}
	return v.before(s, at)
}

// before returns the last change of s not later than at that was followed by
// another, nil if there is none.
func (v *view) before(s store.Subject, at time.Time) (*store.Change, error) {
	if at.Before(fromMillis(minMillis)) {
		return nil, nil
	}
	v.key = appendHistory(v.key[:0], s)
	n := len(v.key)
	v.key = appendMoment(v.key, at)
	if !v.it.SeekGE(v.key) || !isHistory(v.it.Key(), v.key[:n]) {
		return nil, v.failure(s.Key)
	}
	return v.change(s)
}

// isHistory reports whether key is of the history with this beginning.
func isHistory(key, beginning []byte) bool {
	return len(key) == len(beginning)+stampSize && bytes.HasPrefix(key, beginning)
}

// change decodes what the view stands on.
func (v *view) change(s store.Subject) (*store.Change, error) {
	value, err := v.it.ValueAndErr()
	if err != nil {
		return nil, unreadable(s.Key, err)
	}
	if s.Kind == store.KindToken || v.format == format1 {
		return codec.Decode(s, value)
	}
	return codec.DecodeEntryChange(s, value)
}

// entry decodes the entry that the view stands on.
func (v *view) entry(s store.Subject) (*store.Entry, error) {
	value, err := v.it.ValueAndErr()
	if err != nil {
		return nil, unreadable(s.Key, err)
	}
	return codec.DecodeEntry(s, value)
}

// failure returns the error that stopped the view near key, if one did.
func (v *view) failure(key string) error {
	if err := v.it.Error(); err != nil {
		return unreadable(key, err)
	}
	return nil
}
