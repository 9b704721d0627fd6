package store

import (
	"context"
	"time"
)

// LongPatience is the patience of operations on many names, which should not be aborted
// when a database fails over.
const LongPatience = 30 * time.Second

type patienceKey struct{}

// WithPatience returns a context whose calls retry for d before they fail with an
// [*AwayError] while the store is unavailable.
func WithPatience(ctx context.Context, d time.Duration) context.Context {
	return context.WithValue(ctx, patienceKey{}, d)
}

// PatienceOf returns the patience of ctx, 0 if it has none.
func PatienceOf(ctx context.Context) time.Duration {
	d, _ := ctx.Value(patienceKey{}).(time.Duration)
	return d
}
