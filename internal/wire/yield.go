package wire

import (
	"runtime"
	"sync/atomic"
)

const (
	// maxUseless is the most reads without a pause that follow a useless pause.
	maxUseless = 240
	// maxPauses limits the pauses of all connections together. After this many, connections pause
	// less often until one has waited for input, because only then has Go's scheduler looked for
	// connections with input; see [Pauses].
	maxPauses = 64
)

// Pauses makes connections that take less processor time to read and write; see [Pauses.Quick]. All
// connections of a process should share one Pauses. The zero value is ready to use.
//
// These connections pause before they read, so that other connections are served first. There is
// one danger. On one processor, Go's scheduler looks for connections with input only when no
// goroutine can run, or after 10 ms. A goroutine that pauses can run at once. So under load, other
// connections could wait 10 ms for input that has arrived. Therefore, after maxPauses pauses, each
// connection pauses only before every second read, until one of them has waited for the scheduler.
// Pausing cannot stop completely, because a connection with constant input would then stop all
// others.
type Pauses struct{ made atomic.Uint32 }

// A yield decides whether a connection pauses before it reads.
//
// Under load, the client's next request arrives during the pause. Without a pause, the read would
// fail and would be repeated when the request arrives, which involves the scheduler and the kernel
// three times. If the request did not arrive during a pause, the pause was useless. Twice as many
// reads as before then follow without a pause.
type yield struct {
	all        *Pauses
	wrote      atomic.Bool // something was written since the last read
	skip, next uint8       // how many reads have no pause: now, and after the next useless pause
	skipped    bool        // the last read had no pause because there were too many pauses
}

// now pauses if that may be useful.
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
