package wire

import (
	"runtime"
	"sync/atomic"
)

// maxUseless is the maximum number of reads without a pause after a useless pause.
const maxUseless = 240

// A yield decides whether a connection makes a pause before it reads, so that other connections are
// served first.
//
// Under load, the next request of the client then arrives during the pause. Otherwise the read would
// fail, and would have to be repeated when the request has arrived, which needs the scheduler and the
// kernel three times. If a pause was useless, because the request still was not there, twice as many
// reads as before follow without a pause.
type yield struct {
	wrote      atomic.Bool // something was written since the last read
	skip, next uint8       // number of reads without a pause: now, and after the next useless pause
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
	runtime.Gosched()
	return true
}

// learn records a read: whether there was a pause before it, and whether it had to wait.
func (y *yield) learn(made, waited bool) {
	switch {
	case !made:
	case waited:
		y.skip = max(y.next, 1)
		y.next = uint8(min(2*int(y.skip), maxUseless))
	default:
		y.next = 0
	}
}
