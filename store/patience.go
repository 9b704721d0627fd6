package store

import (
	"context"
	"time"
)

// LongPatience is for work on many names, which is not to be given up half-way when a
// database fails over.
const LongPatience = 30 * time.Second

type patienceKey struct{}

// WithPatience returns the context of calls that can wait: a store that goes away, and
// may come back, is tried again for d before they fail with an [*AwayError].
func WithPatience(ctx context.Context, d time.Duration) context.Context {
	return context.WithValue(ctx, patienceKey{}, d)
}

// PatienceOf returns the patience of ctx, 0 if it has none.
func PatienceOf(ctx context.Context) time.Duration {
	d, _ := ctx.Value(patienceKey{}).(time.Duration)
	return d
}
