package pebblestore

import "bytes"

// A span is a range of keys, the end not included.
type span struct{ from, to []byte }

// keySpan is that of one key.
func keySpan(key []byte) span { return span{key, append(bytes.Clone(key), 0)} }

// scrub removes what was overwritten or deleted in these spans from the tables on
// disk, in its own time: until a table is written anew, what was redacted is
// still in it, though nothing reads it. A listing that has begun before keeps its
// tables until it ends. Log files keep their bytes until they are used again.
func (e *engine) scrub(spans []span) {
	if len(spans) == 0 {
		return
	}
	e.scrubs.Go(func() {
		for _, p := range spans {
			err := e.db.Compact(e.ctx, p.from, p.to, false)
			if e.disk.err() != nil {
				e.unscrub(p)
			} else if err != nil {
				e.report("what was redacted may still be on disk", err)
			}
		}
	})
}

// unscrub leaves a span to the next engine, since the disk of this one has failed.
func (e *engine) unscrub(p span) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.unscrubbed = append(e.unscrubbed, p)
}
