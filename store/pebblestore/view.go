package pebblestore

import (
	"bytes"
	"fmt"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/nomen-project/nomen/internal/codec"
	"github.com/nomen-project/nomen/internal/pacer"
	"github.com/nomen-project/nomen/store"
)

// A view reads the state of the database at one moment. It must be closed, and must not be used
// concurrently.
type view struct {
	it      *pebble.Iterator
	key     []byte // buffer for a key
	options pebble.IterOptions
	turn    *pacer.Turn // of a long reading; nil if it does not rest
}

func newView(r pebble.Reader) (*view, error) {
	v := &view{}
	return v, v.open(r)
}

func (v *view) open(r pebble.Reader) (err error) {
	v.options = pebble.IterOptions{UseL6Filters: true}
	if v.it, err = r.NewIter(&v.options); err != nil {
		return fmt.Errorf("pebblestore: %w", err)
	}
	return nil
}

func viewing(r pebble.Reader, f func(*view) error) error {
	v, err := newView(r)
	if err != nil {
		return err
	}
	defer v.close()
	return f(v)
}

func (v *view) clone() (*view, error) {
	it, err := v.it.Clone(pebble.CloneOptions{IterOptions: &pebble.IterOptions{}})
	if err != nil {
		return nil, fmt.Errorf("pebblestore: %w", err)
	}
	return &view{it: it}, nil
}

func (v *view) close() { _ = v.it.Close() } // failure has already returned any error

func (v *view) seek(s store.Subject) bool {
	v.key = appendKey(v.key[:0], s)
	return v.it.SeekPrefixGE(v.key) && bytes.Equal(v.it.Key(), v.key)
}

func (v *view) last(s store.Subject) (*store.Change, error) {
	if !v.seek(s) {
		return nil, v.failure(s.Key)
	}
	return v.change(s)
}

func (v *view) at(s store.Subject, at time.Time) (*store.Change, error) {
	c, err := v.last(s)
	if err != nil || c == nil || c.KnownAt(at) {
		return c, err
	}
	return v.before(s, at)
}

// before is like [view.at], but ignores the current change of the subject.
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

func isHistory(key, beginning []byte) bool {
	return len(key) == len(beginning)+stampSize && bytes.HasPrefix(key, beginning)
}

func (v *view) change(s store.Subject) (*store.Change, error) {
	value, err := v.it.ValueAndErr()
	if err != nil {
		return nil, unreadable(s.Key, err)
	}
	if s.Kind == store.KindToken {
		return codec.Decode(s, value)
	}
	return codec.DecodeEntryChange(s, value)
}

func (v *view) entry(s store.Subject) (*store.Entry, error) {
	value, err := v.it.ValueAndErr()
	if err != nil {
		return nil, unreadable(s.Key, err)
	}
	return codec.DecodeEntry(s, value)
}

func (v *view) failure(key string) error {
	if err := v.it.Error(); err != nil {
		return unreadable(key, err)
	}
	return nil
}

// A cursor looks up the last changes of many subjects. If the keys of the subjects ascend and are
// close together, the cursor steps from key to key, which is much faster than seeking.
type cursor struct {
	view
	begun  bool
	ahead  bool // the cursor is at the first key that is not less than view.key, or at the end
	apart  int  // number of coming lookups that seek without trying to step
	before []byte
}

// farApart is the number of lookups after an unsuccessful step for which a cursor only seeks.
const farApart = 32

func (c *cursor) open(r pebble.Reader) error {
	c.begun, c.ahead, c.apart = false, false, 0
	return c.view.open(r)
}

func (c *cursor) seek(s store.Subject) bool {
	c.before, c.key = c.key, appendKey(c.before[:0], s)
	follows := c.begun && bytes.Compare(c.before, c.key) < 0
	c.begun = true
	switch {
	case c.ahead && follows:
		found, near := c.step()
		if near {
			return found
		}
		c.ahead, c.apart = false, farApart
	case follows && c.apart == 0:
		c.ahead = true
		return c.it.SeekGE(c.key) && bytes.Equal(c.it.Key(), c.key)
	}
	c.ahead, c.apart = false, max(c.apart-1, 0)
	return c.it.SeekPrefixGE(c.key) && bytes.Equal(c.it.Key(), c.key)
}

func (c *cursor) lastOf(s store.Subject) (*store.Change, error) {
	if !c.seek(s) {
		return nil, c.failure(s.Key)
	}
	return c.change(s)
}

// step moves the cursor forward by at most one key. The result found reports whether the cursor is
// at c.key. The result settled reports whether found is certain; otherwise a seek is necessary.
func (c *cursor) step() (found, settled bool) {
	if !c.it.Valid() {
		return false, c.it.Error() == nil
	}
	order := bytes.Compare(c.it.Key(), c.key)
	if order < 0 {
		if !c.it.Next() {
			return false, c.it.Error() == nil
		}
		order = bytes.Compare(c.it.Key(), c.key)
	}
	return order == 0, order >= 0
}
