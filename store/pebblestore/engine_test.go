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

// An error of the engine that occurs repeatedly is logged once a minute, with the number of lines
// that were suppressed.
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

// When the engine cannot continue, it passes the cause to the function Fatal, which ends the
// process.
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

// TestTablesOfOneSpace checks that each table has keys of only one key space, after flushes and
// after a compaction.
func TestTablesOfOneSpace(t *testing.T) {
	s, err := Open(Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	e := s.engine.Load()
	for n := range 3 {
		write(t, s, 10*n+1, 10*n+2, 10*n+3)
		if err := e.flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		checkTables(t, e)
	}
	if err := settled(t, s); err != nil {
		t.Fatal(err)
	}
	checkTables(t, e)
}

func checkTables(t *testing.T, e *engine) {
	t.Helper()
	levels, err := e.db.SSTables()
	if err != nil {
		t.Fatal(err)
	}
	spaces := map[byte]bool{}
	for level, tables := range levels {
		for _, table := range tables {
			first, last := table.Smallest.UserKey, table.Largest.UserKey
			if spaces[first[0]] = true; first[0] != last[0] {
				t.Errorf("a table of level %d has keys from %q to %q, want one key space", level, first, last)
			}
		}
	}
	for _, space := range []byte{spaceLocation, spaceLog, spaceMeta, spaceName} {
		if !spaces[space] {
			t.Errorf("no table has keys of the space %q", space)
		}
	}
}
