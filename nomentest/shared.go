package nomentest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nomen-project/nomen"
)

// checkOwnership checks that the caller owns answers: modifying an answer must not affect a later
// answer to the same question.
func checkOwnership(ctx context.Context, r nomen.Resolver, c Capabilities) error {
	for _, tc := range newFixture().cases(c) {
		a, err := r.Resolve(ctx, tc.question)
		var e *nomen.Error
		switch {
		case err == nil && a != nil:
			spoil(a)
		case errors.As(err, &e) && e.Answer != nil:
			spoil(e.Answer)
		default:
			continue
		}
		if err := tc.check(ctx, r, c); err != nil {
			return fmt.Errorf("%s %s, after a change of the answer before: %w", tc.question.Service, tc.name, err)
		}
	}
	return nil
}

func checkCancelled(ctx context.Context, r nomen.Resolver) error {
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	expired, cancel := context.WithDeadline(ctx, time.Unix(0, 0))
	defer cancel()
	for _, ctx := range []context.Context{cancelled, expired} {
		a, err := r.Resolve(ctx, ask(nomen.I2L, single))
		if a != nil || !errors.Is(err, ctx.Err()) {
			return fmt.Errorf("got %v, %v, want no answer and the error %q", a, err, ctx.Err())
		}
	}
	return nil
}

// checkConcurrent asks all questions from several goroutines at the same time.
func checkConcurrent(ctx context.Context, r nomen.Resolver, c Capabilities) error {
	const goroutines = 4
	errs := make([]error, goroutines)
	cases := newFixture().cases(c)
	var all sync.WaitGroup
	for g := range goroutines {
		all.Go(func() {
			for i := range cases {
				tc := cases[(i+g*len(cases)/goroutines)%len(cases)]
				if err := tc.check(ctx, r, c); err != nil && errs[g] == nil {
					errs[g] = fmt.Errorf("%s %s: %w", tc.question.Service, tc.name, err)
				}
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}
