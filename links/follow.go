package links

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/pacer"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// chunk is the number of records or changes that are read in one step.
const chunk = 1024

// MaxURL is the maximum length of a URL that is checked, in bytes.
const MaxURL = 2048

// follow adds the locations of further records, or of new changes after all records were read. It
// reports whether there may be more to read.
func (w *Watcher) follow(ctx context.Context) (more bool, err error) {
	if w.o.Shared != nil {
		if err := w.refresh(); err != nil {
			return false, err
		}
	}
	mine := w.o.Lease == nil || w.o.Lease(ctx)
	w.mu.Lock()
	w.stopped = !mine
	w.mu.Unlock()
	if !mine {
		return false, nil
	}
	head, err := w.o.Store.Head(ctx)
	if err != nil {
		return false, err
	}
	at := w.position()
	same := at.Version == metaVersion && head.Size >= at.Seq
	if same {
		digest, err := digestAt(ctx, w.o.Store, at.Seq)
		if err != nil {
			return false, err
		}
		same = digest == at.Digest
	}
	if same {
		if err := w.endRound(&at); err != nil {
			return false, err
		}
	}
	switch {
	case !same:
		return true, w.restart(ctx, head.Size)
	case at.Building:
		return true, w.build(ctx, at)
	case head.Size == at.Seq:
		return false, nil
	}
	return w.read(ctx, at)
}

// endRound records the begin and the end of the first round of checks. The round ends when each
// location has been checked once. If hosts have too many locations for this, the round ends after
// the interval between two checks of a good location.
func (w *Watcher) endRound(at *meta) error {
	if at.Building || !at.Round.IsZero() {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	counts, err := w.counts()
	if err != nil {
		return err
	}
	all, now := int64(0), minute(w.o.Now())
	for _, n := range counts {
		all += n
	}
	switch {
	case all > 0 && (counts[Unknown] == 0 || !at.Began.IsZero() && now.Sub(at.Began) >= goodEvery):
		at.Round = now
	case at.Began.IsZero() && all > 0:
		at.Began = now
	default:
		return nil
	}
	w.meta = *at
	return w.apply(jsonWrite(keyOf(spaceMeta), w.meta))
}

// refresh reads the changes that other servers have made.
func (w *Watcher) refresh() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	var m meta
	if err := w.readJSON(keyOf(spaceMeta), &m); err != nil {
		return err
	}
	w.meta = m
	return w.learn()
}

func (w *Watcher) position() meta {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.meta
}

func digestAt(ctx context.Context, f store.Feed, seq uint64) (digest [32]byte, err error) {
	if seq == 0 {
		return digest, nil
	}
	for e, err := range f.Changes(ctx, seq-1) {
		if err != nil {
			return digest, err
		}
		return e.Digest, nil
	}
	return digest, fmt.Errorf("links: change %d of the log is missing", seq)
}

// restart starts reading all records. It deletes the states, which belong to another log.
func (w *Watcher) restart(ctx context.Context, size uint64) error {
	digest, err := digestAt(ctx, w.o.Store, size)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.meta.Version != 0 {
		w.o.Log.Warn("the states of links belong to another log of changes and are deleted", "dir", w.o.Dir)
		if err := w.renew(); err != nil {
			return err
		}
	}
	w.meta = meta{Version: metaVersion, Seq: size, Digest: digest, Building: true}
	return w.apply(jsonWrite(keyOf(spaceMeta), w.meta))
}

// build adds the locations of the next records.
func (w *Watcher) build(ctx context.Context, at meta) error {
	turn := pacer.Begin(ctx)
	var urls []string
	n, last := 0, at.After
	for rec, err := range w.o.Store.List(store.Fresh(ctx), store.Scan{After: at.After}) {
		if err == nil {
			err = turn.Step(ctx)
		}
		if err != nil {
			return err
		}
		urls = appendURLs(urls, rec)
		last = rec.Name.Key()
		if n++; n == chunk {
			break
		}
	}
	at.After = last
	if n < chunk {
		at.Building, at.After = false, ""
	}
	return w.addAll(ctx, urls, at)
}

// read adds the locations in the next changes of the log.
func (w *Watcher) read(ctx context.Context, at meta) (more bool, err error) {
	turn := pacer.Begin(ctx)
	var urls []string
	n := 0
	for e, err := range w.o.Store.Changes(ctx, at.Seq) {
		if err == nil {
			err = turn.Step(ctx)
		}
		if err != nil {
			return false, err
		}
		if e.Change.Record != nil {
			urls = appendURLs(urls, e.Change.Record)
		}
		at.Seq, at.Digest = e.Seq, e.Digest
		if n++; n == chunk {
			break
		}
	}
	return n == chunk, w.addAll(ctx, urls, at)
}

func appendURLs(urls []string, rec *store.Record) []string {
	if rec.Status != nomen.Active {
		return urls
	}
	for i := range rec.Locations {
		if isChecked(&rec.Locations[i]) {
			urls = append(urls, rec.Locations[i].URL)
		}
	}
	return urls
}

func isChecked(l *nomen.Location) bool {
	return len(l.URL) <= MaxURL && webHost(l.URL) != ""
}

func webHost(text string) string {
	u, err := url.Parse(text)
	if err != nil || !isWeb(u) {
		return ""
	}
	return hostOf(u)
}

// addAll adds the locations that are new, and then records the position in the log.
func (w *Watcher) addAll(ctx context.Context, urls []string, at meta) error {
	turn := pacer.Begin(ctx)
	var byShard [shards]map[string][]string // by shard and host
	for _, u := range urls {
		h := webHost(u)
		part := &byShard[shardOf(h)]
		if *part == nil {
			*part = map[string][]string{}
		}
		(*part)[h] = append((*part)[h], u)
	}
	for i, hosts := range byShard {
		if len(hosts) == 0 {
			continue
		}
		if err := turn.Step(ctx); err != nil {
			return err
		}
		if err := w.add(byte(i), hosts); err != nil {
			return err
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.meta = at
	return w.apply(jsonWrite(keyOf(spaceMeta), w.meta))
}

func (w *Watcher) add(shard byte, hosts map[string][]string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.updateShard(shard, func(c *change) error {
		for name, urls := range hosts {
			h, err := c.of(name)
			if err != nil {
				return err
			}
			if err := h.addAll(urls); err != nil {
				return err
			}
		}
		return nil
	})
}

// addAll adds the locations that are new.
func (c *hostChange) addAll(urls []string) error {
	slices.Sort(urls)
	urls = slices.Compact(urls)
	keys := make([][]byte, len(urls))
	for i, u := range urls {
		keys[i] = keyOf(spaceLink, u)
	}
	known, err := c.get(keys...)
	if err != nil {
		return err
	}
	now, added := c.w.o.Now(), false
	for i, u := range urls {
		if _, err := decodeState(known[i]); err != nil { // missing or damaged
			c.set(u, nil, &State{Due: minute(now)})
			added = true
		}
	}
	if !added {
		return nil
	}
	if c.h.Queued == 0 || !c.isTaken(now) && time.Unix(int64(c.h.Queued), 0).After(now) && c.h.Failing == None {
		c.queue(maxTime(now, c.w.nextAllowed(c.host)))
	}
	c.w.poke()
	return nil
}

// nextAllowed returns the time at which the next request to a host is permitted.
func (w *Watcher) nextAllowed(host string) time.Time {
	_, next := w.checker.gates.get(host)
	if next.IsZero() {
		return next
	}
	return w.o.Now().Add(time.Until(next))
}

func (w *Watcher) namesOf(ctx context.Context, url string) (names, titles []string, err error) {
	found, err := Names(ctx, w.o.Store, url, maxNames)
	if err != nil {
		return nil, nil, err
	}
	for _, rec := range found {
		names = append(names, rec.Name.Key())
		if rec.Spelling != "" && rec.Spelling != rec.Name.Key() {
			names = append(names, rec.Spelling)
		}
		titles = append(titles, rec.Metadata["title"]...)
	}
	return names, titles, nil
}

const maxNames = 5

// Names returns records of active names with a location. It returns at most as many records as the
// parameter most.
func Names(ctx context.Context, s store.Reader, url string, most int) (all []*store.Record, err error) {
	for p, err := range store.Find(ctx, s, url, store.Place{}) {
		if err != nil {
			return nil, err
		}
		if p.URL != url || len(all) == most {
			break
		}
		rec, err := activeRecord(ctx, s, p.Name)
		if err != nil {
			return nil, err
		}
		if rec != nil {
			all = append(all, rec)
		}
	}
	return all, nil
}

func activeRecord(ctx context.Context, s store.Reader, n name.Name) (*store.Record, error) {
	rec, err := s.Get(ctx, n, time.Time{})
	switch {
	case err != nil && !isMissing(err):
		return nil, err
	case err != nil || rec.Status != nomen.Active:
		return nil, nil
	}
	return rec, nil
}
