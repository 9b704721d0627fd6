package links

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/nomen-project/nomen/internal/pacer"
	"github.com/nomen-project/nomen/store"
)

func isMissing(err error) bool { return errors.Is(err, store.ErrNotFound) }

const (
	idle       = 5 * time.Minute  // maximum interval between two reads of the queue
	sharedIdle = 5 * time.Second  // the same, if other servers can add to the queue
	crashTime  = 30 * time.Minute // time after which a host is visited again if the process crashes during a visit
	laterTime  = time.Hour        // time until the next check after a check without a result
	pauseTime  = 10 * time.Minute // pause of all checks if the network fails
	probeTime  = time.Minute      // interval between two requests to the probes
	forgetTime = 10 * time.Minute // failures in this time are discarded if the network fails
	maxUndo    = 4096
	ownVisit   = 10 * time.Second // maximum duration of a visit to a host of the operator
	keepEvents = 90 * 24 * time.Hour
)

// Run finds the locations of the store and checks them until ctx ends. It logs errors and tries
// again.
func (w *Watcher) Run(ctx context.Context) {
	ctx = pacer.With(ctx, w.o.Pacer)
	var running sync.WaitGroup
	running.Go(func() { w.runFollow(ctx) })
	running.Go(func() { w.dispatch(ctx) })
	if w.o.Shared != nil {
		running.Go(func() { w.sweep(ctx) })
	}
	running.Wait()
}

// sweep removes the gates of hosts without recent requests, once an hour.
func (w *Watcher) sweep(ctx context.Context) {
	for ctx.Err() == nil {
		if err := w.o.Shared.Sweep(ctx); err != nil && ctx.Err() == nil {
			w.o.Log.Warn("hosts of links cannot be forgotten", "err", err)
		}
		wait(ctx, time.Hour, nil)
	}
}

func (w *Watcher) runFollow(ctx context.Context) {
	for ctx.Err() == nil {
		more, err := w.follow(ctx)
		w.report(ctx, err)
		if !more || err != nil {
			wait(ctx, w.o.Every, nil)
		}
	}
}

// CatchUp finds all locations that the store has now, without checking them.
func (w *Watcher) CatchUp(ctx context.Context) error {
	for {
		if more, err := w.follow(ctx); err != nil || !more {
			return err
		}
	}
}

// wait waits for the given time, until ctx ends, or until the channel is ready.
func wait(ctx context.Context, d time.Duration, done <-chan struct{}) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-done:
	}
}

// report records the result of a step. It logs the first error, and the first success after errors.
func (w *Watcher) report(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	w.mu.Lock()
	before := w.failure
	w.failure = err
	w.mu.Unlock()
	switch {
	case err != nil && before == nil:
		w.o.Log.Error("the checks of links do not follow the changes of the store", "err", err)
	case err == nil && before != nil:
		w.o.Log.Info("the checks of links follow the changes of the store again")
	}
}

// dispatch visits the hosts in the queue.
func (w *Watcher) dispatch(ctx context.Context) {
	turn := pacer.Begin(ctx)
	var visits sync.WaitGroup
	defer visits.Wait()
	slots := make(chan struct{}, w.o.Visits)
	for turn.Step(ctx) == nil {
		if err := w.watchClock(ctx); err != nil && ctx.Err() == nil {
			w.o.Log.Warn("the clock was set back, and the states of links cannot be corrected", "err", err)
		}
		if until := w.mayWork(ctx); until > 0 {
			wait(ctx, until, nil)
			continue
		}
		hosts, next := w.take(w.o.Visits - len(slots))
		for _, host := range hosts {
			slots <- struct{}{}
			visits.Go(func() {
				w.visit(ctx, host)
				<-slots
				w.poke()
			})
		}
		if len(hosts) == 0 || len(slots) == cap(slots) {
			wait(ctx, next, w.wake)
		}
	}
}

// poke makes dispatch read the queue.
func (w *Watcher) poke() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// mayWork returns 0 if locations can be checked now. Otherwise, it returns the time to wait before
// the next attempt.
func (w *Watcher) mayWork(ctx context.Context) time.Duration {
	w.mu.Lock()
	left := w.paused.Sub(w.o.Now())
	w.mu.Unlock()
	switch {
	case left <= 0:
		return 0
	case len(w.o.Probes) == 0:
		return left
	case w.probesAnswer(ctx):
		w.mu.Lock()
		w.paused, w.doubting = time.Time{}, false
		w.mu.Unlock()
		return 0
	}
	return probeTime
}

// take takes up to n hosts from the queue. It also returns the time until another host may be due.
func (w *Watcher) take(n int) (hosts []string, next time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.o.Now()
	next = w.o.idle
	if w.doubting {
		n = min(n, 1-len(w.visiting))
	}
	if n <= 0 {
		return nil, next
	}
	var due []string
	look := n
	if w.o.Shared != nil {
		look *= 4 // other servers read the queue too, so not all should take the first hosts
	}
	_ = w.table.scan([]byte{spaceQueue}, []byte{spaceQueue + 1}, func(key, _ []byte) bool {
		at := time.Unix(int64(binary.BigEndian.Uint32(key[1:])), 0)
		if at.After(now) {
			next = min(next, at.Sub(now))
			return false
		}
		if host := string(key[5:]); !w.visiting[host] {
			due = append(due, host)
		}
		return len(due) < look
	}) // after an error, there are no hosts
	if w.o.Shared != nil {
		rand.Shuffle(len(due), func(i, j int) { due[i], due[j] = due[j], due[i] })
	}
	for _, host := range due {
		if len(hosts) == n {
			break
		}
		mine := false
		err := w.update(host, func(c *hostChange) error {
			at := time.Unix(int64(c.h.Queued), 0)
			if mine = c.h.Queued != 0 && !at.After(now); mine { // otherwise another server has taken it
				c.h.Taken = now.Add(crashTime)
				c.queue(c.h.Taken)
			}
			return nil
		})
		if err == nil && mine {
			w.visiting[host] = true
			hosts = append(hosts, host)
		}
	}
	if w.o.Shared != nil {
		if next = min(next, sharedIdle); len(hosts) < len(due) { // other servers have taken some hosts, and more may be due
			next = min(next, lookTime)
		}
	}
	return hosts, next
}

// visit checks a location of a host, and puts the host back into the queue. For a host of the
// operator, visit checks several locations, because the times in the queue are in whole seconds.
func (w *Watcher) visit(ctx context.Context, host string) {
	defer func() {
		w.mu.Lock()
		delete(w.visiting, host)
		w.mu.Unlock()
	}()
	_, own := w.o.Own[host]
	end := time.Now().Add(ownVisit)
	var err error
	for again := true; again; {
		var fails bool
		again, fails, err = w.visitNext(ctx, host)
		again = again && own && !fails && err == nil && ctx.Err() == nil && time.Now().Before(end)
	}
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		w.o.Log.Warn("a link cannot be checked", "host", host, "err", err)
	}
	w.requeue(host, err != nil)
}

// visitNext checks the next location of a host. It returns false if no location is due. It also
// returns whether the host failed as a whole before.
func (w *Watcher) visitNext(ctx context.Context, host string) (found, fails bool, err error) {
	t, found, err := w.pick(host)
	if err != nil || !found {
		return false, false, err
	}
	t.names, t.titles, err = w.namesOf(ctx, t.url)
	switch {
	case err != nil:
	case len(t.names) == 0:
		err = w.forget(host, t.url)
	default:
		r := w.checkTwice(ctx, t)
		if ctx.Err() == nil {
			err = w.record(ctx, host, t.url, &r)
		}
	}
	return true, t.host.Failing != None, err
}

// pick returns the next location of a host to check. For a failing host, it prefers a location that
// was good before.
func (w *Watcher) pick(host string) (*target, bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	h, err := readHost(w.table, host)
	if err != nil {
		return nil, false, err
	}
	now := w.o.Now()
	if _, next := w.checker.gates.get(host); next.IsZero() {
		w.checker.gates.set(host, pace{time.Duration(h.Delay) * time.Millisecond, h.Slow, h.Row})
	}
	url := ""
	for i := range byte(classes) {
		class := i
		if h.Failing != None {
			class = classes - 1 - i
		}
		first, due, err := first(w.table, host, class)
		if err != nil {
			return nil, false, err
		}
		if first != "" && (!due.After(now) || h.Failing != None) {
			url = first
			break
		}
	}
	if url == "" {
		return nil, false, nil
	}
	s, _, err := readState(w.table, url)
	return &target{url: url, state: s, host: h}, err == nil, err
}

func first(r reader, host string, class byte) (url string, due time.Time, err error) {
	prefix := keyOf(spaceDue, host, "\x00", string([]byte{class}))
	err = r.scan(prefix, after(prefix), func(key, _ []byte) bool {
		rest := bytes.TrimPrefix(key, prefix)
		url, due = string(rest[4:]), time.Unix(int64(binary.BigEndian.Uint32(rest))*60, 0)
		return false
	})
	return url, due, err
}

// forget removes a location that no name has.
func (w *Watcher) forget(host, url string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.update(host, func(c *hostChange) error {
		s, ok, err := readState(c, url)
		if err == nil && ok {
			c.set(url, &s, nil)
		}
		return err
	})
}

// An undo is the state before a failed check.
type undo struct {
	at        time.Time
	url, host string
	state     State
	h         host
}

func (w *Watcher) record(ctx context.Context, host, url string, r *result) error {
	w.mu.Lock()
	now := w.o.Now()
	if w.doubting && r.Outcome != None {
		if w.doubting = r.failed && r.Outcome.weight() > 0; w.doubting { // not counted as a failure of the host
			r.Outcome, w.paused = None, now.Add(probeTime)
		}
	}
	var before undo
	known, surprised := false, false
	result := *r
	err := w.update(host, func(c *hostChange) error {
		s, ok, err := readState(c, url)
		if known = ok; err != nil || !ok {
			return err
		}
		*r = result
		before = undo{now, url, host, s, c.h}
		surprised = r.failed && r.Outcome.weight() > 0 && c.h.Fails == 0
		c.observed(w, &s, url, r, now)
		return nil
	})
	if err != nil || !known {
		w.mu.Unlock()
		return err
	}
	w.checks++
	if r.Outcome.weight() > 0 {
		w.latest = append(w.latest, before)
		for len(w.latest) > 0 && (len(w.latest) > maxUndo || now.Sub(w.latest[0].at) > forgetTime) {
			w.latest = w.latest[1:]
		}
	}
	alarm := w.network.observe(host, surprised)
	w.mu.Unlock()
	if alarm {
		w.alarm(ctx)
	}
	return nil
}

func (c *hostChange) observed(w *Watcher, s *State, url string, r *result, now time.Time) {
	if r.Outcome == OK && !r.Confirmed && c.h.redirected(hashOf(url), r.end) {
		r.Outcome, r.Detail = Soft, "many locations of the host are redirected to the same URL"
	}
	was := c.h.Failing
	c.event(c.h.observe(r.Outcome, s.Failures > 0, now), c.host, now)
	c.note(was)
	r.Frozen = r.Frozen || c.h.Failing != None
	next, event := *s, NoEvent
	if r.Outcome == None {
		next.Due = minute(now.Add(laterTime))
	} else {
		next, event = s.Observe(r.Observation, now)
		next.Due = minute(now.Add(next.interval(now, spreadOf(url, now))))
	}
	if r.headOdd {
		c.h.HeadOdd = true
	}
	if r.probed {
		c.h.probed(r.honest, now)
	}
	c.set(url, s, &next)
	c.event(event, url, now)
	c.pace(w)
}

// note records the start or the end of a failure of the host as a whole.
func (c *hostChange) note(was Outcome) {
	switch {
	case was == None && c.h.Failing != None:
		c.add(keyOf(spaceFailing, c.host), []byte{})
	case was != None && c.h.Failing == None:
		c.add(keyOf(spaceFailing, c.host), nil)
	}
}

// pace stores the pace of the host. It also records whether the host has more locations than can be
// checked in time.
func (c *hostChange) pace(w *Watcher) {
	p, _ := w.checker.gates.get(c.host)
	c.h.Delay, c.h.Slow, c.h.Row = p.delay.Milliseconds(), p.slow, p.row
	gap := w.checker.gates.gapOf(c.host, &p, 0)
	checked := int64(goodEvery / gap)
	if large := int64(c.h.Links) > checked; large {
		c.writes = append(c.writes, jsonWrite(keyOf(spaceLarge, c.host), Large{Host: c.host, Links: c.h.Links, Checked: checked}))
	} else {
		c.add(keyOf(spaceLarge, c.host), nil)
	}
}

// requeue puts a host back into the queue.
func (w *Watcher) requeue(host string, failed bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.o.Now()
	_ = w.update(host, func(c *hostChange) error { // after an error, the host is still in the queue
		next, err := c.nextDue()
		if err != nil {
			return err
		}
		switch {
		case next.IsZero():
		case failed:
			next = now.Add(laterTime)
		case c.h.Failing != None:
			next = now.Add(probeEvery)
		default:
			next = maxTime(maxTime(next, now), w.nextAllowed(host))
			if at := next.Truncate(time.Second); at.Before(next) {
				next = at.Add(time.Second) // the queue has whole seconds
			}
		}
		c.h.Taken = time.Time{}
		c.queue(next)
		return nil
	})
}

// nextDue returns the time at which the next location of the host is due. If the host has no
// locations, it returns the zero time.
func (c *hostChange) nextDue() (next time.Time, err error) {
	for class := range byte(classes) {
		url, due, err := first(c, c.host, class)
		if err != nil {
			return time.Time{}, err
		}
		if url != "" && (next.IsZero() || due.Before(next)) {
			next = due
		}
	}
	return next, nil
}

// alarm checks whether the network of this machine fails. If so, it discards the latest failures
// and pauses the checks.
func (w *Watcher) alarm(ctx context.Context) {
	if len(w.o.Probes) > 0 && w.probesAnswer(ctx) {
		w.mu.Lock()
		w.network.reset()
		w.mu.Unlock()
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.network.ring) == 0 {
		return // another check has already started the pause
	}
	w.network.reset()
	now := w.o.Now()
	w.paused, w.doubting = now.Add(pauseTime), true
	w.o.Log.Warn("many hosts fail at once: the network of this machine probably fails, so no links are checked for some time", "forgotten", len(w.latest))
	for i := len(w.latest) - 1; i >= 0; i-- { // newest first
		if err := w.undo(&w.latest[i], now); err != nil {
			w.o.Log.Warn("a failure cannot be forgotten", "err", err)
		}
	}
	w.latest = nil
}

// undo restores the state before a check. The caller must hold mu.
func (w *Watcher) undo(u *undo, now time.Time) error {
	if now.Sub(u.at) > forgetTime {
		return nil
	}
	return w.update(u.host, func(c *hostChange) error {
		s, ok, err := readState(c, u.url)
		if err != nil || !ok {
			return err
		}
		was := c.h.Failing
		c.h.Ring, c.h.Fails, c.h.Since, c.h.Failing, c.h.Failed, c.h.Reported = u.h.Ring, u.h.Fails, u.h.Since, u.h.Failing, u.h.Failed, u.h.Reported
		c.note(was)
		if s.Verdict == Dead && u.state.Verdict != Dead {
			c.add(keyOf(spaceEvent, uint32Text(minutesOf(u.at)), string([]byte{byte(Died)}), u.url), nil)
		}
		restored := u.state
		restored.Due = minute(now.Add(pauseTime))
		c.set(u.url, &s, &restored)
		return nil
	})
}

func (w *Watcher) probesAnswer(ctx context.Context) bool {
	for _, p := range w.o.Probes {
		ctx, cancel := context.WithTimeout(ctx, w.o.timeout)
		r, err := http.NewRequestWithContext(ctx, http.MethodHead, p, http.NoBody)
		if err == nil {
			r.Header.Set("User-Agent", w.o.Agent)
			var response *http.Response
			if response, err = w.checker.transport.RoundTrip(r); err == nil {
				response.Body.Close()
			}
		}
		cancel()
		if err == nil {
			return true
		}
	}
	return false
}
