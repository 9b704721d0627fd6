package wire

import (
	"runtime"
	"sync/atomic"
)

const (
	// maxUseless is the maximum number of reads without a pause after a useless pause.
	maxUseless = 240
	// maxPauses is the maximum number of pauses of all connections between two looks of the scheduler
	// for connections with input.
	maxPauses = 64
)

// Pauses makes connections that take less processor time for reading and writing; see [Pauses.Quick].
// The connections of a process should share one. The zero value is ready for use.
//
// Its connections make pauses before they read, so that other connections are served first. On one
// processor, Go's scheduler looks for connections with input only when no goroutine can run, or after
// 10 ms. After a pause, a goroutine can run at once. So under load a connection that waits for the
// scheduler could wait 10 ms for input that is already there. Therefore, after maxPauses pauses, each
// connection makes a pause only before every second read, until one of them has waited for the
// scheduler. Without any pauses, a connection whose input is always there would stop all others.
type Pauses struct{ made atomic.Uint32 }

// A yield decides whether a connection makes a pause before it reads.
//
// Under load, the next request of the client then arrives during the pause. Otherwise the read would
// fail, and would have to be repeated when the request has arrived, which needs the scheduler and the
// kernel three times. If a pause was useless, because the request still was not there, twice as many
// reads as before follow without a pause.
type yield struct {
	all        *Pauses
	wrote      atomic.Bool // something was written since the last read
	skip, next uint8       // number of reads without a pause: now, and after the next useless pause
	skipped    bool        // the last read had no pause because all connections have made many
}

// now makes a pause if it may be useful.
func (y *yield) now() (made bool) {
	if !y.wrote.Swap(false) {
		return false
	}
	if y.skip > 0 {
		y.skip--
		return false
	}
	if y.skipped = y.all.made.Add(1) > maxPauses && !y.skipped; y.skipped {
		return false
	}
	runtime.Gosched()
	return true
}

// learn records a read: whether there was a pause before it, and whether it had to wait.
func (y *yield) learn(made, waited bool) {
	if waited {
		y.all.made.Store(0)
	}
	switch {
	case !made:
	case waited:
		y.skip = max(y.next, 1)
		y.next = uint8(min(2*int(y.skip), maxUseless))
	default:
		y.next = 0
	}
}
