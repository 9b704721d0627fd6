package pacer

import (
	"os/exec"
	"runtime"
	"testing"
	"time"
)

// Waits of threads for processors that other processes use are measured.
func TestProcessorDelay(t *testing.T) {
	for range 4 * runtime.NumCPU() {
		busy := exec.CommandContext(t.Context(), "sh", "-c", "while :; do :; done")
		if err := busy.Start(); err != nil {
			t.Fatal(err)
		}
		defer busy.Wait()
		defer busy.Process.Kill()
	}
	m := newMeter()
	for begun := time.Now(); !m.delayed; {
		if m.busy(delayEvery); time.Since(begun) > time.Minute {
			t.Fatal("no delay was measured")
		}
		for from := time.Now(); time.Since(from) < delayEvery; {
		}
	}
}
