package pebblestore

import (
	"bytes"
	"context"
	"time"

	"github.com/cockroachdb/pebble/v2"
)

// Names are brought into one level when nothing was written for so long, and what
// stands above it is at least one part in so many of them: then each name is
// written anew once for every so many that have come.
const (
	tidyAfter = time.Minute
	tidyShare = 16
)

// tidyRoom is how much room must be on the disk, in bytes: tables are written before
// those that they replace go.
const tidyRoom = 1 << 30

// keepTidy tidies when there is a quiet time for it, until ctx ends.
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
			s.warn("names cannot be brought together", err)
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
	usage, err := s.fs.GetDiskUsage(s.dir)
	return err != nil || usage.AvailBytes > tidyRoom
}

// Tidy brings all names into one level of the tree, so that a look-up finds its name
// in the first place where it looks. The store does so by itself in quiet times;
// who has loaded very many names need not wait for that.
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

// tidy goes on step by step while more says so. A step is a table and what is below
// it.
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

// names returns the tables that have names: those above the lowest level, and in it.
func (e *engine) names() (above, lowest []pebble.SSTableInfo) {
	levels, err := e.db.SSTables()
	if err != nil {
		return nil, nil // of a filter, which there is not
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

// sizes returns how many bytes are above the lowest level, and in all. Nothing above
// is told as nothing in all of one.
func sizes(above, lowest []pebble.SSTableInfo) (up, all uint64) {
	for _, t := range above {
		up += t.Size
	}
	for _, t := range lowest {
		all += t.Size
	}
	return up, max(all+up, 1)
}
