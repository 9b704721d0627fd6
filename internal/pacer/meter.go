package pacer

import (
	"runtime"
	"runtime/metrics"
	"time"
)

const (
	fullyUsed = 0.9                    // share of the time of processors above which they are busy
	longWait  = 500 * time.Microsecond // a wait for a processor of this time or more is long
	manyWaits = 0.1                    // share of long waits above which processors are busy

	muchDelay  = 0.35                   // the processors are busy if threads wait for them for this share of their time
	delayEvery = 100 * time.Millisecond // how often this is measured
)

// A meter measures the load of this process. It considers the processors busy if the process uses
// almost all of their time, or if goroutines wait for a processor, for example because other
// processes run.
type meter struct {
	was        time.Duration // processor time at the last call of busy
	waits      [1]metrics.Sample
	long, some uint64 // goroutines that have waited long, and that have waited at all

	delay   time.Duration // for which threads have waited for a processor of the machine, when it was last measured
	since   time.Duration // time since then
	delayed bool          // whether that was much
}

func newMeter() *meter {
	return &meter{waits: [1]metrics.Sample{{Name: "/sched/latencies:seconds"}}}
}

func (m *meter) busy(passed time.Duration) bool {
	used, known := processTime()
	part := float64(used-m.was) / float64(passed) / float64(runtime.GOMAXPROCS(0))
	long, some := m.waited()
	waits := float64(long-m.long) >= manyWaits*float64(max(some-m.some, 1))
	m.was, m.long, m.some = used, long, some
	if m.since += passed; m.since >= delayEvery {
		m.measureDelay()
	}
	return waits || m.delayed || known && part >= fullyUsed
}

// measureDelay measures how long threads had to wait for a processor because other processes were
// running. The metrics of the Go runtime do not include this time.
func (m *meter) measureDelay() {
	delay, known := processorDelay()
	m.delayed = known && float64(delay-m.delay) >= muchDelay*float64(m.since)*float64(runtime.GOMAXPROCS(0))
	m.delay, m.since = delay, 0
}

func (m *meter) used() time.Duration {
	used, _ := processTime()
	return used
}

// waited returns how often a goroutine has waited for a processor, in two classes by the length of
// the wait.
func (m *meter) waited() (long, some uint64) {
	metrics.Read(m.waits[:])
	h := m.waits[0].Value.Float64Histogram()
	for i, n := range h.Counts {
		if some += n; h.Buckets[i] >= longWait.Seconds() {
			long += n
		}
	}
	return long, some
}
