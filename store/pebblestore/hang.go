package pebblestore

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

// hangAfter is the time after which a call of the file system counts as hanging. A write or a
// sync never returns if, for example, an NFS server is gone or a disk controller does not
// respond. The time is counted in hangSteps, so that a suspension of the process itself does
// not look like a hanging disk.
const (
	hangAfter = 20 * time.Second
	hangSteps = 4
)

// errHung is why a disk is down when a call does not return.
var errHung = errors.New("the disk does not answer")

// A stopwatch calls a function unless it is stopped within a time.
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

// timed performs a call that may wait for the disk. If it exceeds the limit, the disk goes
// down.
func (d *engineDisk) timed(call func() error) error {
	return d.watched(func(*stopwatch) error { return call() })
}

// watched performs something long that may wait for the disk several times. If work neither
// touches nor stops the stopwatch for longer than the limit, the disk goes down.
func (d *engineDisk) watched(work func(w *stopwatch) error) error {
	d.calls.Add(1)
	defer d.calls.Add(-1)
	w := startStopwatch(d.limit, d.hang)
	defer w.stop()
	return work(w)
}

// hang takes the disk down because a call does not return.
func (d *engineDisk) hang() {
	d.fail(fmt.Errorf("%w: a call of the file system has taken more than %v", errHung, d.limit))
	d.hungOnce.Do(func() { close(d.hung) })
}

// isBusy reports whether a call is still in progress. No other engine may be opened while
// a call of the previous one could still modify a file.
func (d *engineDisk) isBusy() bool { return d.calls.Load() > 0 }
