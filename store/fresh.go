package store

import "context"

type freshKey struct{}

// Fresh returns a context whose reads see every change that was acknowledged before
// they began: a store with replicas or a cache asks the server that takes changes, and
// returns an [*AwayError] when that cannot be reached. A change that is planned from
// what was read needs it; other reads are cheaper without.
func Fresh(ctx context.Context) context.Context {
	if IsFresh(ctx) {
		return ctx
	}
	return context.WithValue(ctx, freshKey{}, true)
}

// IsFresh reports whether ctx comes from [Fresh].
func IsFresh(ctx context.Context) bool { return ctx.Value(freshKey{}) != nil }
