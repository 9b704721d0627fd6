package pebblestore

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

// hangAfter is how long a call of the file system may take until the disk counts as
// hanging: on NFS without its server, or behind a controller that does not answer, a
// write or a sync does not fail, but never returns. It is counted in hangSteps, so that
// a process that was itself suspended does not take its own absence for that of the disk.
const (
	hangAfter = 20 * time.Second
	hangSteps = 4
)

// errHung is why a disk is down on which a call does not return.
var errHung = errors.New("the disk does not answer")

// A stopwatch calls a function when it was not stopped for so long.
type stopwatch struct {
	mu    sync.Mutex
	timer *time.Timer
	step  time.Duration
	left  int
	over  func()
}

func startStopwatch(limit time.Duration, over func()) *stopwatch {
	w := &stopwatch{step: limit / hangSteps, left: hangSteps, over: over}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer = time.AfterFunc(w.step, w.tick)
	return w
}

func (w *stopwatch) tick() {
	w.mu.Lock()
	w.left--
	over := w.left == 0
	if w.left > 0 {
		w.timer.Reset(w.step)
	}
	w.mu.Unlock()
	if over {
		w.over()
	}
}

func (w *stopwatch) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.left = 0
	w.timer.Stop()
}

// timed makes a call that can wait for the disk. When it takes too long, the disk hangs,
// and is down.
func (d *engineDisk) timed(call func() error) error {
	d.calls.Add(1)
	defer d.calls.Add(-1)
	w := startStopwatch(d.limit, d.hang)
	defer w.stop()
	return call()
}

// hang has the disk down because a call does not return.
func (d *engineDisk) hang() {
	d.fail(fmt.Errorf("%w: a call of the file system has taken more than %v", errHung, d.limit))
	d.hungOnce.Do(func() { close(d.hung) })
}

// isBusy reports whether a call has not returned yet. No other engine is opened as long
// as one of the last engine could still change a file.
func (d *engineDisk) isBusy() bool { return d.calls.Load() > 0 }
