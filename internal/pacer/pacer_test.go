package pacer

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A fixedLoad is a load that does not change.
type fixedLoad bool

func (l fixedLoad) busy(time.Duration) bool { return bool(l) }

// working works for a time in steps of a tenth of a millisecond, and returns how long that took. It
// also returns the longest time without a rest.
func working(t *testing.T, p *Pacer, work time.Duration, each func()) (took, longest time.Duration) {
	t.Helper()
	const step = 100 * time.Microsecond
	begun, turn, run := time.Now(), p.Begin(), time.Duration(0)
	for done := time.Duration(0); done < work; done += step {
		time.Sleep(step)
		run += step
		before := time.Now()
		if err := turn.Step(t.Context()); err != nil {
			t.Fatal(err)
		}
		if longest = max(longest, run); time.Since(before) > 0 {
			run = 0
		}
		each()
	}
	return time.Since(begun), longest
}

// Background work rests while there are requests: the longer, the busier the processors are. Without
// requests, it works at full speed.
func TestPace(t *testing.T) {
	for _, tt := range []struct {
		name     string
		pacer    *Pacer
		requests bool
		least    float64 // times as long as without rests
		most     float64
	}{
		{"no pacer", nil, true, 1, 1},
		{"no requests", &Pacer{processors: 1, load: fixedLoad(true), share: 0.5}, false, 1, 1},
		{"idle processors", &Pacer{processors: 1, load: fixedLoad(false), share: 0.5}, true, 1.9, 2.1},
		{"busy processors", &Pacer{processors: 1, load: fixedLoad(true), share: 0.5}, true, 14, 16},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const work = 2 * time.Second
				time.Sleep(time.Minute) // requests of long ago do not count
				took, longest := working(t, tt.pacer, work, func() {
					if tt.requests {
						tt.pacer.Request()
					}
				})
				if times := took.Seconds() / work.Seconds(); times < tt.least || times > tt.most {
					t.Errorf("the work took %.2f times as long, want %v to %v", times, tt.least, tt.most)
				}
				if tt.most > 1 && longest > slice {
					t.Errorf("it worked for %v without a rest, want at most %v", longest, slice)
				}
				if tt.pacer != nil && tt.pacer.Rested() != took-work {
					t.Errorf("rested %v, want %v", tt.pacer.Rested(), took-work)
				}
			})
		})
	}
}

// On one processor, at most one goroutine works at a time, and there is a gap after each slice.
func TestPaceApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const step, goroutines = 100 * time.Microsecond, 5
		p := &Pacer{processors: 1, load: fixedLoad(false), share: 1}
		p.Request()
		begun, ends := time.Now(), time.Time{} // of the slice of any goroutine
		var all sync.WaitGroup
		var mu sync.Mutex
		for range goroutines {
			all.Go(func() {
				turn := p.Begin()
				for time.Since(begun) < time.Second {
					time.Sleep(step)
					p.Request()
					rested := p.rested.Load()
					if err := turn.Step(t.Context()); err != nil {
						t.Error(err)
					}
					if p.rested.Load() == rested || time.Since(begun) < 100*time.Millisecond {
						continue // the first slices begin together
					}
					mu.Lock()
					if gap := time.Since(ends); gap < apart-slice {
						t.Errorf("after %v, a slice begins %v after the end of another", time.Since(begun), gap)
					}
					ends = time.Now().Add(slice)
					mu.Unlock()
				}
			})
		}
		all.Wait()
	})
}

// When the requests end, the work continues at full speed after a second. When the processors become
// idle, it rests less.
func TestPaceChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &Pacer{processors: 1, load: fixedLoad(true), share: 0.5}
		working(t, p, time.Second, p.Request)
		working(t, p, time.Second, func() {})
		if took, _ := working(t, p, time.Second, func() {}); took > time.Second {
			t.Errorf("without requests, a second of work took %v", took)
		}
		p.load = fixedLoad(false)
		working(t, p, time.Second, p.Request)
		if took, _ := working(t, p, time.Second, p.Request); took > 2100*time.Millisecond {
			t.Errorf("with idle processors, a second of work took %v", took)
		}
	})
}

// A rest ends when the context ends.
func TestPaceEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &Pacer{processors: 1, load: fixedLoad(true), share: leastShare}
		p.Request()
		ctx, cancel := context.WithTimeout(With(t.Context(), p), 2*longest)
		defer cancel()
		turn, begun := Begin(ctx), time.Now()
		time.Sleep(longest)
		if err := turn.Step(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) != 2*longest {
			t.Errorf("%v after %v", err, time.Since(begun))
		}
	})
}

// A context that is not for background work has no pacer, and then nothing rests.
func TestNoPacer(t *testing.T) {
	ctx, cancel := context.WithCancel(With(t.Context(), nil))
	turn := Begin(ctx)
	if err := turn.Step(ctx); turn != nil || err != nil {
		t.Errorf("%v, %v", turn, err)
	}
	if cancel(); turn.Step(ctx) == nil {
		t.Error("no error after the context has ended")
	}
}
