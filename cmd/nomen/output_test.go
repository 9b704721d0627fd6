package main

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// TestTerminalLog checks that control sequences in the values of a log line are escaped.
func TestTerminalLog(t *testing.T) {
	const bad = "a b\x1b[2Jc\u202ed\r\n\u009be"
	var b bytes.Buffer
	log := slog.New(terminalLog(&b, slog.LevelInfo, plainError)).With("with", bad)
	log.Warn(bad, "text", bad, "err", errors.New(bad), "list", []string{bad}, slog.Group("g", "in", bad), "took", time.Second, "n", 3)
	for _, c := range []string{"\x1b[2J", "\u202e", "\u009b", "\r"} {
		if strings.Contains(b.String(), c) {
			t.Errorf("%q lets %q through", b.String(), c)
		}
	}
	if n := strings.Count(b.String(), "\n"); n != 1 {
		t.Errorf("got %d lines, want 1", n)
	}
	for _, want := range []string{"WRN", "[U+001B][2Jc[U+202E]d", "1s", "3"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("got %q, want %q in it", b.String(), want)
		}
	}
}

func TestShowText(t *testing.T) {
	var b bytes.Buffer
	if err := showText(&b, strings.NewReader("one\r\ntwo\x1b[2J\u202e\xc3")); err != nil {
		t.Fatal(err)
	}
	if got, want := b.String(), "one\ntwo[U+001B][2J[U+202E]\uFFFD"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
