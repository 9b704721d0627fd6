// Package quiet limits the number of log lines about a state that can change very often.
package quiet

import "time"

// The limits of [Lines]. At most Burst lines can be written in quick succession, and after that one
// line per interval of length Every.
const (
	Burst = 20
	Every = time.Minute
)

// Lines limits the log lines about a state. The zero value is ready to use. It is not safe for
// concurrent use.
type Lines struct {
	left int
	at   time.Time // when left was last increased; zero before the first line
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
