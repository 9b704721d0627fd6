package pebblestore

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// An error of the engine that comes again and again is logged once a minute, with how
// often it was not told.
func TestEngineLogIsLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		l := &logger{log: slog.New(slog.NewTextHandler(&log, nil))}
		for n := range 10_000 {
			l.Errorf("background error: %06d.sst: no space left on device", n)
			if n%100 == 99 {
				time.Sleep(time.Second)
			}
		}
		l.Errorf("another error")
		lines := strings.Split(strings.TrimSpace(log.String()), "\n")
		if len(lines) != 3 || !strings.Contains(lines[1], "suppressed=5999") || !strings.Contains(lines[2], "another error") {
			t.Errorf("in 100 seconds:\n%s", &log)
		}
		for n := range 10 * maxTold {
			l.Errorf("an error of its own: %s", strings.Repeat("x", n))
		}
		if len(l.told) > maxTold {
			t.Errorf("%d errors are remembered, more than %d", len(l.told), maxTold)
		}
	})
}

// When the engine cannot go on, the function Fatal gets the cause, and ends the process.
func TestFatal(t *testing.T) {
	var told error
	l := &logger{fatal: func(err error) { told = err }}
	func() {
		defer func() {
			if got, ok := recover().(error); !ok || !errors.Is(got, told) {
				t.Errorf("panic with %v, want %v", got, told)
			}
		}()
		l.Fatalf("level %d is out of order", 3)
	}()
	if want := "pebblestore: the engine cannot go on: level 3 is out of order"; fmt.Sprint(told) != want {
		t.Errorf("got %v, want %s", told, want)
	}
}
