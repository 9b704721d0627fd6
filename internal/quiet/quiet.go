// Package quiet bounds the log lines about a state that changes all the time.
package quiet

import "time"

// Burst and Every are the limits of [Lines]: Burst lines at once, and one more for each
// Every that passes.
const (
	Burst = 20
	Every = time.Minute
)

// Lines bounds the lines about one state. The zero value is ready for use. It must not be
// used concurrently.
type Lines struct {
	left int
	at   time.Time // when left was last increased; zero before the first line
}

// Take reports whether there may be a line now, and counts it.
func (l *Lines) Take(now time.Time) bool {
	if l.at.IsZero() {
		l.left, l.at = Burst, now
	}
	if n := now.Sub(l.at) / Every; n > 0 {
		l.left, l.at = int(min(time.Duration(l.left)+n, Burst)), l.at.Add(n*Every)
	}
	if l.left == 0 {
		return false
	}
	l.left--
	return true
}
