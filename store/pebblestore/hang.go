package pebblestore

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

// hangAfter is how long a call of the file system may take until the disk counts as hanging. Such a
// call may never return, for example because an NFS server is gone. The time is counted in
// hangSteps. So a process that was suspended does not take the disk for hanging afterwards.
const (
	hangAfter = 20 * time.Second
	hangSteps = 4
)

// errHung is why a disk is down if a call of the file system does not return.
var errHung = errors.New("the disk does not answer")

// A stopwatch calls a function when its time is over, unless it is stopped before.
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

// touch starts the time again. It has no effect after the time is over.
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

// timed calls a function that may wait for the disk. It takes the disk down if this takes longer
// than the limit.
func (d *engineDisk) timed(call func() error) error {
	return d.watched(func(*stopwatch) error { return call() })
}

// watched is like timed, but the limit applies to the time between two calls of touch, which the
// function work makes.
func (d *engineDisk) watched(work func(w *stopwatch) error) error {
	d.calls.Add(1)
	defer d.calls.Add(-1)
	w := startStopwatch(d.limit, d.hang)
	defer w.stop()
	return work(w)
}

func (d *engineDisk) hang() {
	d.fail(fmt.Errorf("%w: a call of the file system has taken more than %v", errHung, d.limit))
	d.hungOnce.Do(func() { close(d.hung) })
}

// isBusy reports whether a call has not returned yet. That call could still modify a file, so
// another engine must not be opened.
func (d *engineDisk) isBusy() bool { return d.calls.Load() > 0 }
