package pebblestore

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

// If a call of the file system takes longer than hangAfter, the disk is considered to hang. Such a
// call may never return, for example if an NFS server is gone. The time is measured in hangSteps
// separate steps, so that a suspended process does not exceed the limit when it continues.
const (
	hangAfter = 20 * time.Second
	hangSteps = 4
)

// errHung is the reason why a disk is down after a call of the file system has not returned.
var errHung = errors.New("the disk does not answer")

// A stopwatch calls a function after a time limit, unless the stopwatch is stopped before.
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

// touch restarts the time limit. After the limit is over, touch has no effect.
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

// timed calls a function that may wait for the disk. If the call takes longer than the limit, timed
// takes the disk down.
func (d *engineDisk) timed(call func() error) error {
	return d.watched(func(*stopwatch) error { return call() })
}

// watched is like timed, but the function work can restart the time limit by calling touch.
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

// isBusy reports whether a call of the file system has not returned yet. Such a call could still
// modify a file, so another engine must not be opened.
func (d *engineDisk) isBusy() bool { return d.calls.Load() > 0 }
