package pebblestore

import "bytes"

// A span is a half-open range of keys.
type span struct{ from, to []byte }

func keySpan(key []byte) span { return span{key, append(bytes.Clone(key), 0)} }

// scrub starts compactions of the spans in the background, to remove redacted content from the
// disk. No read returns such content, but files still contain it: tables until the compactions end,
// tables that a listing reads until the listing ends, and the write-ahead log until its files are
// reused.
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
				e.report("redacted content may still be on disk", err)
			}
		}
	})
}

// unscrub leaves the compaction of a span to the next engine, because the disk of this engine has
// failed.
func (e *engine) unscrub(p span) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.unscrubbed = append(e.unscrubbed, p)
}
