package store

import (
	"context"
	"time"
)

// LongPatience is the time for [WithPatience] in long operations, such as imports. It is long
// enough for a failover of the database, so that the operation need not be restarted.
const LongPatience = 30 * time.Second

type patienceKey struct{}

// WithPatience returns a context for calls that should wait while the store is unavailable. Such a
// call retries for the time d before it fails with an [*AwayError].
func WithPatience(ctx context.Context, d time.Duration) context.Context {
	return context.WithValue(ctx, patienceKey{}, d)
}

// PatienceOf returns the time that WithPatience has set in ctx, or 0.
func PatienceOf(ctx context.Context) time.Duration {
	d, _ := ctx.Value(patienceKey{}).(time.Duration)
	return d
}
