package main

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/nomen-project/nomen/internal/codec"
	"github.com/nomen-project/nomen/store"
)

// A retimer corrects the times of changes that are dated after limit, and so in the future. Such a
// change gets the time of the last correctly dated change that precedes it in the log. Later
// changes of the same subject get at least this time, so that the times of a subject never
// decrease.
type retimer struct {
	limit   time.Time
	last    time.Time // time of the last change that is not dated after limit
	moved   map[store.Subject]time.Time
	changed uint64
}

// newRetimer returns a retimer for the log of s. If the log begins with changes that are dated
// after limit, these changes get the time of the first correctly dated change.
func newRetimer(ctx context.Context, s store.Reader, limit time.Time) (*retimer, error) {
	limit = time.UnixMilli(limit.UnixMilli()).UTC()
	t := &retimer{limit: limit, last: limit, moved: map[store.Subject]time.Time{}}
	for e, err := range store.Changes(ctx, s, 0) {
		if err != nil {
			return nil, err
		}
		if !e.Change.Time.After(limit) {
			t.last = e.Change.Time
			break
		}
	}
	return t, nil
}

// entries yields the entries of a log with corrected times. It computes new digests for corrected
// entries. A redacted entry keeps its digest, because the digest cannot be computed without the
// removed content.
func (t *retimer) entries(log iter.Seq2[*store.Entry, error]) iter.Seq2[*store.Entry, error] {
	return func(yield func(*store.Entry, error) bool) {
		for e, err := range log {
			if err == nil {
				e = t.entry(e)
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

func (t *retimer) entry(e *store.Entry) *store.Entry {
	subject, at := e.Change.Subject(), e.Change.Time
	if at.After(t.limit) {
		at = t.last
	} else if at.After(t.last) {
		t.last = at
	}
	before, moved := t.moved[subject]
	if at.Before(before) {
		at = before
	}
	if at.Equal(e.Change.Time) && !moved {
		return e
	}
	t.moved[subject] = at
	if at.Equal(e.Change.Time) {
		return e
	}
	t.changed++
	c := e.Change.Clone()
	c.Time = at
	switch {
	case c.Record != nil:
		c.Record.Modified = at
	case c.Authority != nil:
		c.Authority.Modified = at
	case c.User != nil:
		c.User.Modified = at
	case c.Rights != nil:
		c.Rights.Modified = at
	}
	next := &store.Entry{Seq: e.Seq, Change: c, Salt: e.Salt, Digest: e.Digest}
	if !c.Redacted {
		next.Digest = codec.Digest(e.Salt, codec.Append(nil, c))
	}
	return next
}

func (t *retimer) tokens(changes iter.Seq2[*store.Change, error]) iter.Seq2[*store.Change, error] {
	return func(yield func(*store.Change, error) bool) {
		for c, err := range changes {
			if err == nil && c.Time.After(t.limit) {
				c = c.Clone()
				c.Time = t.limit
			}
			if !yield(c, err) || err != nil {
				return
			}
		}
	}
}

func (t *retimer) summary() string {
	return fmt.Sprintf("%s dated after %s got the time of the change before; the head has changed: write down the new one",
		count(int64(t.changed), "change"), t.limit.Format(time.RFC3339))
}
