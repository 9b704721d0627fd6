package wire

import (
	"runtime"
	"sync/atomic"
)

const (
	// maxUseless is the maximum number of reads without a pause after a useless pause.
	maxUseless = 240
	// maxPauses limits the pauses of all connections together. After maxPauses pauses, connections
	// pause less often until a connection has waited for input. At that time, Go's scheduler has
	// looked for connections with input; see [Pauses].
	maxPauses = 64
)

// Pauses makes connections that take less processor time to read and write; see [Pauses.Quick]. All
// connections of a process should share one Pauses. The zero value is ready to use.
//
// These connections pause before they read, so that other connections are served first. On one
// processor, however, Go's scheduler looks for connections with input only when no goroutine is
// runnable, or after 10 ms. A goroutine that pauses remains runnable. So under load, other
// connections could wait 10 ms for input that has already arrived. Therefore, after maxPauses
// pauses, each connection pauses only before every second read, until a connection has waited for
// input. The pauses cannot stop completely, because a connection with constant input would then
// stop all other connections.
type Pauses struct{ made atomic.Uint32 }

// A yield decides whether a connection pauses before it reads.
//
// Under load, the client's next request arrives during the pause. Without a pause, the read would
// fail and would be repeated when the request arrives, which costs more calls of the scheduler and
// the kernel. If the request did not arrive during a pause, the pause was useless. Twice as many
// reads as before then follow without a pause.
type yield struct {
	all        *Pauses
	wrote      atomic.Bool // something was written since the last read
	skip, next uint8       // how many reads have no pause: now, and after the next useless pause
	skipped    bool        // the last read had no pause because there were too many pauses
}

// now pauses the goroutine if a pause may be useful, and reports whether it did.
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

// learn records whether a read came after a pause, and whether it had to wait.
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
