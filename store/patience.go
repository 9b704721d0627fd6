package store

import (
	"context"
	"time"
)

// LongPatience is for operations on many names, because such an operation should not be aborted
// when a database fails over. See [WithPatience].
const LongPatience = 30 * time.Second

type patienceKey struct{}

// WithPatience returns a context for calls that should wait while the store is unavailable. Such a
// call retries for the time d before it fails with an [*AwayError].
func WithPatience(ctx context.Context, d time.Duration) context.Context {
	return context.WithValue(ctx, patienceKey{}, d)
}

// PatienceOf returns how long calls with ctx retry, or 0 if WithPatience did not set this.
func PatienceOf(ctx context.Context) time.Duration {
	d, _ := ctx.Value(patienceKey{}).(time.Duration)
	return d
}
