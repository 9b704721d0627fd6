package store

import (
	"context"
	"time"
)

type freshKey struct{}

// Fresh returns a context whose reads see every change acknowledged before they began. With
// this context a store with replicas or a cache reads from the primary server, and returns an
// [*AwayError] if the primary cannot be reached. Use it for reads on which a change is based;
// other reads are cheaper without it. For a moment after a failover a [Confirmer] may still
// read from the former primary server.
func Fresh(ctx context.Context) context.Context {
	if IsFresh(ctx) {
		return ctx
	}
	return context.WithValue(ctx, freshKey{}, true)
}

// IsFresh reports whether ctx comes from [Fresh].
func IsFresh(ctx context.Context) bool { return ctx.Value(freshKey{}) != nil }

// A Confirmer is a store whose primary server may be replaced by another one. The store does
// not always notice the replacement at once, so a read with [Fresh] may miss changes that the
// new primary acknowledged. Apply is not affected.
type Confirmer interface {
	// Confirm reports whether every read with [Fresh] that began after since saw all changes
	// acknowledged before that read. If not, the caller must repeat these reads. Call it before
	// a decision that is not checked by Apply, such as to reject a request.
	Confirm(ctx context.Context, since time.Time) (bool, error)
}

// Confirm confirms reads as [Confirmer] does. It returns true for other stores.
func Confirm(ctx context.Context, r Reader, since time.Time) (bool, error) {
	if c, ok := r.(Confirmer); ok {
		return c.Confirm(ctx, since)
	}
	return true, nil
}
