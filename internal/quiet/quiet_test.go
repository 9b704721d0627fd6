package quiet

import (
	"testing"
	"time"
)

// A state that changes each second for an hour has some lines at first, then one a minute.
func TestLines(t *testing.T) {
	var lines Lines
	now := time.Unix(1e9, 0)
	n := 0
	for range 3600 {
		if now = now.Add(time.Second); lines.Take(now) {
			n++
		}
	}
	if want := Burst + 59; n != want {
		t.Errorf("%d lines in an hour, want %d", n, want)
	}
	now = now.Add(time.Hour)
	for n = 0; lines.Take(now); n++ {
	}
	if n != Burst {
		t.Errorf("%d lines at once after a quiet hour, want %d", n, Burst)
	}
}
