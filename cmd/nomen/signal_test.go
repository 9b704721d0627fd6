package main

import (
	"context"
	"errors"
	"testing"
)

// TestNameSignal: a command that a signal has ended says so, and not that a context was
// canceled.
func TestNameSignal(t *testing.T) {
	const text = "context canceled; the same command goes on after it"
	ctx, end := context.WithCancelCause(t.Context())
	if got := nameSignal(ctx, text); got != text {
		t.Errorf("before a signal: %q", got)
	}
	end(errors.New("terminated signal received"))
	if got, want := nameSignal(ctx, text), "terminated signal received; the same command goes on after it"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
