package client

import (
	"context"
	"time"
)

// A runner is one of several attempts at the same thing.
type runner[T any] func(ctx context.Context) (T, error)

// race starts the runners one after the other: the first at once, each of the
// others when stagger has passed since the one before started, or as soon as one
// has failed (RFC 8305, 5). It returns what the first to succeed came
// back with, and gives that of others to discard. If none succeeds it returns
// their errors in order; an error that is final ends the race for all. A
// negative stagger has no two under way.
func race[T any](ctx context.Context, stagger time.Duration, runners []runner[T], final func(error) bool, discard func(T)) (T, []error) {
	ctx, cancel := context.WithCancel(ctx)
	type finish struct {
		lane int
		came T
		err  error
	}
	var (
		none     T
		errs     = make([]error, len(runners))
		finished = make(chan finish)
		started  int
		running  int
		next     <-chan time.Time
	)
	start := func() {
		lane, run := started, runners[started]
		started, running, next = started+1, running+1, nil
		if stagger >= 0 && started < len(runners) {
			next = time.After(stagger)
		}
		go func() {
			came, err := run(ctx)
			finished <- finish{lane, came, err}
		}()
	}
	// The others give up soon; nobody waits for them.
	abandon := func() {
		cancel()
		go func() {
			for range running {
				if f := <-finished; f.err == nil {
					discard(f.came)
				}
			}
		}()
	}
	for start(); running > 0; {
		select {
		case <-next:
			start()
		case f := <-finished:
			running--
			if f.err == nil {
				abandon()
				return f.came, nil
			}
			errs[f.lane] = f.err
			if final(f.err) {
				abandon()
				return none, []error{f.err}
			}
			if started < len(runners) && ctx.Err() == nil {
				start()
			}
		}
	}
	cancel()
	return none, errs[:started]
}
