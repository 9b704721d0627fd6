package store

import (
	"context"
	"time"
)

type freshKey struct{}

// Fresh returns a context whose reads see every change acknowledged before they began.
// A store with replicas or a cache reads from the primary server, and returns an
// [*AwayError] if that cannot be reached. Use it to read what a change is planned from;
// other reads are cheaper without it. For a moment after a failover a [Confirmer] may
// still read from the former primary server.
func Fresh(ctx context.Context) context.Context {
	if IsFresh(ctx) {
		return ctx
	}
	return context.WithValue(ctx, freshKey{}, true)
}

// IsFresh reports whether ctx comes from [Fresh].
func IsFresh(ctx context.Context) bool { return ctx.Value(freshKey{}) != nil }

// A Confirmer is a store whose primary server may be replaced by another one. It does not
// always know this at once, so a read of [Fresh] may miss changes that were acknowledged by
// the new primary. Apply is not affected.
type Confirmer interface {
	// Confirm reports whether all reads of Fresh that began after since saw every change
	// acknowledged before them. If not, they must be repeated. Call it before a decision
	// that is not checked by Apply, such as to reject a request.
	Confirm(ctx context.Context, since time.Time) (bool, error)
}

// Confirm does what [Confirmer] says. It returns true for other stores.
func Confirm(ctx context.Context, r Reader, since time.Time) (bool, error) {
	if c, ok := r.(Confirmer); ok {
		return c.Confirm(ctx, since)
	}
	return true, nil
}
