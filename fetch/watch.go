package fetch

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// A watch cancels a context if the server sends nothing for too long, or if the whole transfer
// takes too long. The timer for silence can be paused.
type watch struct {
	ctx     context.Context
	cancel  context.CancelCauseFunc
	silence *time.Timer
	whole   *time.Timer
	limit   time.Duration
}

func newWatch(parent context.Context, silence, whole time.Duration) (context.Context, *watch) {
	ctx, cancel := context.WithCancelCause(parent)
	w := &watch{ctx: ctx, cancel: cancel, limit: silence}
	w.silence = time.AfterFunc(silence, func() {
		cancel(fmt.Errorf("no data for %v: %w", silence, context.DeadlineExceeded))
	})
	w.silence.Stop()
	w.whole = time.AfterFunc(whole, func() {
		cancel(fmt.Errorf("not complete after %v: %w", whole, context.DeadlineExceeded))
	})
	return ctx, w
}

func (w *watch) resume() { w.silence.Reset(w.limit) }

func (w *watch) pause() { w.silence.Stop() }

func (w *watch) end() {
	w.silence.Stop()
	w.whole.Stop()
	w.cancel(context.Canceled)
}

// explain returns the reason for which the context ended, or err if the context has not ended. It
// adds the URL unless the error already has it.
func (w *watch) explain(url string, err error) error {
	if cause := context.Cause(w.ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		err = cause
	}
	if isOurs(err) {
		return err
	}
	return fmt.Errorf("fetch: %s: %w", url, err)
}

// isOurs reports whether an error is from this package, and thus already has the URL.
func isOurs(err error) bool { return strings.HasPrefix(err.Error(), "fetch: ") }
