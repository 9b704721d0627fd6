package pebblestore

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

// hangAfter is how long a call of the file system may take before the disk counts as hanging. A
// write or a sync may never return. Causes are an NFS server that is gone, and a disk controller
// that does not respond. The time is counted in hangSteps. So the disk does not seem to hang if the
// process itself was suspended.
const (
	hangAfter = 20 * time.Second
	hangSteps = 4
)

// errHung is the cause of failure if a call of the file system does not return.
var errHung = errors.New("the disk does not answer")

// A stopwatch calls a function when its time is over. If it is stopped before, it does not call the
// function.
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

// touch restarts the stopwatch, unless its time is over.
func (w *stopwatch) touch() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.left > 0 {
		w.left = hangSteps
	}
}

func (w *stopwatch) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.left = 0
	w.timer.Stop()
}

// timed calls a function that may wait for the disk. If the call takes longer than the limit, the
// disk goes down.
func (d *engineDisk) timed(call func() error) error {
	return d.watched(func(*stopwatch) error { return call() })
}

// watched calls a function that takes long and may wait for the disk several times. If the function
// does not touch or stop the stopwatch for longer than the limit, the disk goes down.
func (d *engineDisk) watched(work func(w *stopwatch) error) error {
	d.calls.Add(1)
	defer d.calls.Add(-1)
	w := startStopwatch(d.limit, d.hang)
	defer w.stop()
	return work(w)
}

// hang takes the disk down because a call has not returned.
func (d *engineDisk) hang() {
	d.fail(fmt.Errorf("%w: a call of the file system has taken more than %v", errHung, d.limit))
	d.hungOnce.Do(func() { close(d.hung) })
}

// isBusy reports whether a call is still in progress. As long as a call of one engine could still
// modify a file, no other engine may be opened.
func (d *engineDisk) isBusy() bool { return d.calls.Load() > 0 }
