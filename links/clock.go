package links

import (
	"context"
	"encoding/binary"
	"errors"
	"time"

	"github.com/nomen-project/nomen/internal/pacer"
)

// clockEvery is the interval at which the time is recorded. From the recorded time, a later process
// can detect that the clock was set back.
const clockEvery = time.Hour

// watchClock detects that the clock was set back by more than a day. Times that were recorded
// before are then in the future. The locations would not be checked before these times, and
// failures of hosts would be counted wrongly, so watchClock corrects the states.
func (w *Watcher) watchClock(ctx context.Context) error {
	w.mu.Lock()
	now, last := w.o.Now().Round(0), w.clock
	if last.IsZero() {
		last = w.recordedTime()
	}
	back := last.Sub(now) > maxSkew
	if w.clock = now; w.o.Shared == nil && (back || now.Sub(w.recorded) >= clockEvery) {
		w.recorded = now
		_ = w.apply(write{keyOf(spaceMeta, "clock"), binary.BigEndian.AppendUint64(nil, uint64(now.Unix()))}) // if this fails, a later process cannot detect the change
	}
	if back {
		w.paused = earlier(w.paused, now.Add(pauseTime))
		w.latest = nil
	}
	w.mu.Unlock()
	if !back {
		return nil
	}
	w.o.Log.Warn("the clock was set back: links that were checked in the future are checked again", "before", last, "now", now)
	err := w.mendLinks(ctx, now)
	return errors.Join(err, w.mendHosts(ctx, now))
}

// recordedTime returns the time that an earlier process recorded. The caller must hold mu.
func (w *Watcher) recordedTime() time.Time {
	b, err := w.table.get(keyOf(spaceMeta, "clock"))
	if err != nil || len(b[0]) != 8 {
		return time.Time{}
	}
	return time.Unix(int64(binary.BigEndian.Uint64(b[0])), 0)
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// mendLinks corrects the states of locations that were recorded in the future.
func (w *Watcher) mendLinks(ctx context.Context, now time.Time) error {
	return w.eachPage(ctx, spaceLink, func(url string, value []byte) bool {
		s, err := decodeState(value)
		return err == nil && s.isFuture(now)
	}, func(url string) error {
		return w.update(webHost(url), func(c *hostChange) error {
			s, ok, err := readState(c, url)
			if err != nil || !ok || !s.isFuture(now) {
				return err
			}
			next := s.mended(now)
			c.set(url, &s, &next)
			return nil
		})
	})
}

// mendHosts corrects the states of hosts, and puts all hosts into the queue again.
func (w *Watcher) mendHosts(ctx context.Context, now time.Time) error {
	return w.eachPage(ctx, spaceHost, func(string, []byte) bool { return true }, func(name string) error {
		return w.update(name, func(c *hostChange) error {
			was := c.h.Failing
			mended := c.h.mend(now)
			c.note(was)
			if c.isTaken(now) {
				return nil
			}
			next, err := c.nextDue()
			if err != nil || next.IsZero() || !mended && !time.Unix(int64(c.h.Queued), 0).After(next) {
				return err
			}
			c.queue(maxTime(next, now))
			return nil
		})
	})
}

// eachPage calls do for each key of a space that choose selects. It processes the keys in pages,
// and releases mu between two pages.
func (w *Watcher) eachPage(ctx context.Context, space byte, choose func(key string, value []byte) bool, do func(key string) error) error {
	turn := pacer.Begin(ctx)
	for from := []byte{space}; from != nil; {
		if err := turn.Step(ctx); err != nil {
			return err
		}
		w.mu.Lock()
		var keys []string
		n, next := 0, []byte(nil)
		err := w.table.scan(from, []byte{space + 1}, func(key, value []byte) bool {
			if n++; n > chunk {
				next = append([]byte{}, key...)
				return false
			}
			if choose(string(key[1:]), value) {
				keys = append(keys, string(key[1:]))
			}
			return true
		})
		for _, k := range keys {
			err = errors.Join(err, do(k))
		}
		w.mu.Unlock()
		if err != nil {
			return err
		}
		from = next
	}
	return nil
}
