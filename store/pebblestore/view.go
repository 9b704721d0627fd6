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

// A cursor finds the last changes of many subjects, one after the other. Where their
// keys ascend and follow one another it goes from one to the next, which costs far less
// than a search.
type cursor struct {
	view
	begun  bool
	ahead  bool // it stands at the first key that is not less than view.key, or at the end
	apart  int  // for how many searches the next key is not looked at
	before []byte
}

// farApart is for how many searches a cursor does not look at the next key after one
// that led nowhere.
const farApart = 32

// open makes c, which is closed or new, a cursor of r.
func (c *cursor) open(r pebble.Reader) error {
	c.begun, c.ahead, c.apart = false, false, 0
	return c.view.open(r)
}

// seek stands on the last change of s, if there is one.
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

// step goes to c.key, or to the key after the one where c stands, and reports whether it
// is c.key, and whether that is settled.
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
