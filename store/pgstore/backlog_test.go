package pgstore

import (
	"testing"
	"time"
)

// Changes wait as long as no node seals any; a higher fence shows that one did.
func TestBacklog(t *testing.T) {
	var b backlog
	begun := time.Unix(1_000_000, 0)
	at := func(seconds int) time.Time { return begun.Add(time.Duration(seconds) * time.Second) }
	for i, tt := range []struct {
		fence   int64
		waiting bool
		want    int // age afterwards, in seconds, a second after the look
	}{
		{5, false, 0}, {5, true, 1}, {5, true, 2}, {5, true, 3}, {6, true, 1}, {6, true, 2}, {6, false, 0}, {6, true, 1},
	} {
		b.saw(tt.fence, tt.waiting, at(i))
		if got := b.age(at(i + 1)); got != time.Duration(tt.want)*time.Second {
			t.Errorf("look %d: %v, want %d s", i, got, tt.want)
		}
	}
	b.forget()
	if got := b.age(at(100)); got != 0 {
		t.Errorf("forgotten: %v", got)
	}
}
