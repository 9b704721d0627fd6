package pebblestore

import (
	"bytes"
	"context"
	"time"

	"github.com/cockroachdb/pebble/v2"
)

// Names are compacted to the lowest level when at least 1/tidyShare of them, by size, are in higher
// levels and nothing was written for the time tidyAfter. A compaction can rewrite all names. For
// each written name, about tidyShare names are therefore rewritten on average.
const (
	tidyAfter = time.Minute
	tidyShare = 16
)

// tidyRoom is the free space that a compaction needs, in bytes. A compaction writes the new tables
// before it removes the old tables.
const tidyRoom = 1 << 30

func (s *Store) keepTidy(e *engine) {
	size := s.sealed.size()
	for wait(e.ctx, tidyAfter) {
		before := size
		if size = s.sealed.size(); size != before || !s.writable() || !s.hasTidyRoom() {
			continue
		}
		if above, all := sizes(e.names()); above*tidyShare < all {
			continue
		}
		if err := e.tidy(e.ctx, func() bool { return s.sealed.size() == size }); err != nil && e.ctx.Err() == nil {
			s.warn("compacting names failed", err)
		}
	}
}

func wait(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

func (s *Store) hasTidyRoom() bool {
	free, _ := freeSpace(s.fs, s.dir)
	return free > tidyRoom
}

// Tidy compacts all names to the lowest level of the tree, which makes lookups fast. The store also
// does this by itself when nothing is written for a while. After loading many names, a call of Tidy
// makes lookups fast immediately.
func (s *Store) Tidy(ctx context.Context) error {
	e, err := s.enter()
	if err != nil {
		return err
	}
	defer e.gate.Leave()
	if err := s.refusal(e); err != nil {
		return err
	}
	if err := e.flush(ctx); err != nil {
		return err
	}
	return e.tidy(ctx, func() bool { return true })
}

// tidy compacts names in steps until more returns false. A step compacts one table with the
// overlapping tables below it.
func (e *engine) tidy(ctx context.Context, more func() bool) error {
	above, _ := e.names()
	for _, t := range above {
		if !more() {
			return nil
		}
		from, to := t.Smallest.UserKey, t.Largest.UserKey
		if from[0] < spaceName {
			from = []byte{spaceName}
		}
		if to[0] > spaceName {
			to = []byte{spaceName + 1}
		}
		if bytes.Equal(from, to) {
			to = append(bytes.Clone(from), 0)
		}
		if err := e.db.Compact(ctx, from, to, false); err != nil {
			return err
		}
	}
	return nil
}

// names returns the tables of names above the lowest level, and the tables in the lowest level.
func (e *engine) names() (above, lowest []pebble.SSTableInfo) {
	levels, err := e.db.SSTables()
	if err != nil {
		return nil, nil // cannot happen: only an option with a filter can fail
	}
	for level, tables := range levels {
		for _, t := range tables {
			switch {
			case t.Smallest.UserKey[0] > spaceName || t.Largest.UserKey[0] < spaceName:
			case level == len(levels)-1:
				lowest = append(lowest, t)
			default:
				above = append(above, t)
			}
		}
	}
	return above, lowest
}

// sizes returns the total size of the tables above the lowest level, and the total size of all
// tables, which is at least 1.
func sizes(above, lowest []pebble.SSTableInfo) (up, all uint64) {
	for _, t := range above {
		up += t.Size
	}
	for _, t := range lowest {
		all += t.Size
	}
	return up, max(all+up, 1)
}
