package pebblestore

import "bytes"

// A span is a half-open range of keys.
type span struct{ from, to []byte }

func keySpan(key []byte) span { return span{key, append(bytes.Clone(key), 0)} }

// scrub starts compactions that remove overwritten and deleted data in the spans from the disk.
// Until then, tables still have redacted content, although no read returns it. A listing keeps its
// tables on disk until it ends. Files of the write-ahead log keep their content until they are
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

// unscrub leaves a span to the next engine because the disk of this one has failed.
func (e *engine) unscrub(p span) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.unscrubbed = append(e.unscrubbed, p)
}
