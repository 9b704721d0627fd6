//go:build unix

package pebblestore

import (
	"context"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/storetest"
)

// cpuTime returns the processor time of the process.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkBulk writes batches such as an import does; an operation is one new record. The records
// are made before the measurement. Besides the time, it reports the processor time, including that
// of compactions, because other processes on the machine do not affect processor time.
func BenchmarkBulk(b *testing.B) {
	for _, size := range []int{100, 5000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			changes := make([]store.Change, b.N)
			for i := range changes {
				changes[i] = store.Change{Record: storetest.Typical(i), Expected: store.AnyRevision, Time: time.Unix(0, 0), Who: "archive"}
			}
			s := openBench(b)
			b.ReportAllocs()
			b.ResetTimer()
			before := cpuTime(b)
			for i := 0; i < len(changes); i += size {
				if _, err := s.Apply(context.Background(), changes[i:min(i+size, len(changes))]); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(cpuTime(b)-before)/float64(b.N), "cpu-ns/op")
		})
	}
}
