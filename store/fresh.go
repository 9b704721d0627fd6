package store

import "context"

type freshKey struct{}

// Fresh returns a context whose reads see every change acknowledged before they began.
// A store with replicas or a cache reads from the primary server, and returns an
// [*AwayError] if that cannot be reached. Use it to read what a change is planned from;
// other reads are cheaper without it.
func Fresh(ctx context.Context) context.Context {
	if IsFresh(ctx) {
		return ctx
	}
	return context.WithValue(ctx, freshKey{}, true)
}

// IsFresh reports whether ctx comes from [Fresh].
func IsFresh(ctx context.Context) bool { return ctx.Value(freshKey{}) != nil }
