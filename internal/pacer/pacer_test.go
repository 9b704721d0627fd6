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

func (l fixedLoad) used() time.Duration { return 0 }

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

// A usedLoad is a load of processors that are not busy for long, but of which other goroutines use a
// part.
type usedLoad struct {
	begun time.Time
	part  float64
}

func (usedLoad) busy(time.Duration) bool { return false }

func (l usedLoad) used() time.Duration { return time.Duration(float64(time.Since(l.begun)) * l.part) }

// A slice begins when the processor was idle since the last one, because otherwise requests wait for
// it. It does not wait longer than with processors that are always busy.
func TestPaceIdle(t *testing.T) {
	for _, tt := range []struct {
		part        float64
		least, most float64 // times as long as without rests
	}{{0, 1, 3}, {0.5, 1, 3}, {0.96, 3, 5}, {1, 14, 17}} {
		synctest.Test(t, func(t *testing.T) {
			const work = time.Second
			p := &Pacer{processors: 1, load: usedLoad{time.Now(), tt.part}, share: 1}
			p.Request()
			took, _ := working(t, p, work, p.Request)
			if times := took.Seconds() / work.Seconds(); times < tt.least || times > tt.most {
				t.Errorf("%v of the processor used: the work took %.2f times as long, want %v to %v", tt.part, times, tt.least, tt.most)
			}
		})
	}
}

// A goroutine that wakes up late, because requests had the processor, does not begin its slice while
// or directly after another goroutine has worked.
func TestPaceLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &Pacer{processors: 1, load: fixedLoad(false), share: 1}
		p.Request()
		latest := time.Now().Add(time.Hour)
		p.rest(time.Now(), slice)
		p.rest(time.Now(), slice)
		time.Sleep(10 * slice) // both are late
		if d := p.begin(time.Now(), latest); d != 0 {
			t.Errorf("the first one must still rest %v", d)
		}
		if d := p.begin(time.Now(), latest); d != apart {
			t.Errorf("the second one must still rest %v, want %v", d, apart)
		}
		time.Sleep(2 * apart) // the slice of the first one takes longer
		p.rest(time.Now(), 2*apart)
		if d := p.begin(time.Now(), latest); d != apart-slice {
			t.Errorf("after the end of the first one, the second one must still rest %v, want %v", d, apart-slice)
		}
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
