package pacer

import (
	"runtime"
	"runtime/metrics"
	"time"
)

const (
	fullyUsed = 0.9                    // the processors are busy if at least this part of their time is used
	longWait  = 500 * time.Microsecond // a wait for a processor is long if it takes at least this time
	manyWaits = 0.1                    // the processors are busy if at least this part of the waits is long
)

// A meter is the load of this process. The processors are busy if the process uses almost all of
// their time, or if goroutines must wait for them, for example because other processes use them.
type meter struct {
	used       time.Duration // processor time
	waits      [1]metrics.Sample
	long, some uint64 // goroutines that have waited long, and that have waited at all
}

func newMeter() *meter {
	return &meter{waits: [1]metrics.Sample{{Name: "/sched/latencies:seconds"}}}
}

func (m *meter) busy(passed time.Duration) bool {
	used, known := processTime()
	part := float64(used-m.used) / float64(passed) / float64(runtime.GOMAXPROCS(0))
	long, some := m.waited()
	waits := float64(long-m.long) >= manyWaits*float64(max(some-m.some, 1))
	m.used, m.long, m.some = used, long, some
	return waits || known && part >= fullyUsed
}

// waited counts the goroutines that have waited for a processor.
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
