package pebblestore

import (
	"bytes"
	"context"
)

// A span is a range of keys, the end not included.
type span struct{ from, to []byte }

// keySpan is that of one key.
func keySpan(key []byte) span { return span{key, append(bytes.Clone(key), 0)} }

// scrub removes what was overwritten or deleted in these spans from the tables on
// disk, in its own time: until a table is written anew, what was redacted is
// still in it, though nothing reads it. A listing that has begun before keeps its
// tables until it ends. Log files keep their bytes until they are used again.
func (s *Store) scrub(spans []span) {
	if len(spans) == 0 {
		return
	}
	s.scrubs.Go(func() {
		for _, p := range spans {
			if err := s.db.Compact(context.Background(), p.from, p.to, false); err != nil {
				s.warn("what was redacted may still be on disk", err)
			}
		}
	})
}
