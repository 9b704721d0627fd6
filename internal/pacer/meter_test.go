package pacer

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// The processors are busy while there are more working goroutines than processors, and not busy
// afterwards.
func TestMeter(t *testing.T) {
	m := newMeter()
	var done atomic.Bool
	var working sync.WaitGroup
	for range 4 * runtime.GOMAXPROCS(0) {
		working.Go(func() {
			for !done.Load() {
			}
		})
	}
	become := func(want bool) {
		t.Helper()
		m.busy(time.Second)
		for begun := time.Now(); ; {
			from := time.Now()
			<-time.After(window)
			if m.busy(time.Since(from)) == want {
				return
			}
			if time.Since(begun) > time.Minute {
				t.Fatalf("busy is not %v", want)
			}
		}
	}
	become(true)
	done.Store(true)
	working.Wait()
	become(false)
}

// Goroutines that wait for a processor are counted.
func TestMeterWaits(t *testing.T) {
	m := newMeter()
	var group sync.WaitGroup
	for range 100 * runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for begun := time.Now(); time.Since(begun) < longWait; {
			}
		})
	}
	group.Wait()
	if long, some := m.waited(); long == 0 || some == 0 {
		t.Errorf("%d of %d goroutines have waited long", long, some)
	}
}

func BenchmarkMeter(b *testing.B) {
	m := newMeter()
	for b.Loop() {
		m.busy(time.Second)
	}
}

func BenchmarkStep(b *testing.B) {
	turn := New().Begin()
	for b.Loop() {
		turn.Rest(nil)
	}
}
