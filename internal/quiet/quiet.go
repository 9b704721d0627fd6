// Package quiet limits the number of log lines about a state that can change very often.
package quiet

import "time"

// Limits of [Lines]: at most Burst lines in quick succession, and one more line whenever the time
// Every has passed.
const (
	Burst = 20
	Every = time.Minute
)

// Lines limits the log lines about one state. The zero value is ready for use. It must not be used
// concurrently.
type Lines struct {
	left int
	at   time.Time // when the field left was last increased; zero before the first line
}

// Take reports whether a line may be written now, and counts the line if so.
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
