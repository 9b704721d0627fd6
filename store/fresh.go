package store

import (
	"context"
	"time"
)

type freshKey struct{}

// Fresh returns a context for reads that must see every change that was acknowledged before the
// read began. With this context, a store with replicas or a cache reads from the primary server. If
// the primary cannot be reached, the store returns an [*AwayError]. Use it for a read if a change
// depends on the result. Other reads are cheaper without it. For a moment after a failover, a
// [Confirmer] may still read from the previous primary.
func Fresh(ctx context.Context) context.Context {
	if IsFresh(ctx) {
		return ctx
	}
	return context.WithValue(ctx, freshKey{}, true)
}

// IsFresh reports whether ctx was made with [Fresh].
func IsFresh(ctx context.Context) bool { return ctx.Value(freshKey{}) != nil }

// A Confirmer is a store in which another server can become the primary server. The store does not
// always notice this at once. So a read with [Fresh] may miss changes that the new primary server
// has acknowledged. Apply is not affected.
type Confirmer interface {
	// Confirm checks the reads with [Fresh] that began later than the parameter since. For each of
	// these reads, all changes that were acknowledged before the read began must be visible.
	// Confirm reports whether this was so. If not, the caller must repeat the reads. A caller needs
	// Confirm before a decision that Apply does not check, for example before it rejects a request.
	Confirm(ctx context.Context, since time.Time) (bool, error)
}

// Confirm confirms reads as [Confirmer] does. If r is not a Confirmer, it returns true.
func Confirm(ctx context.Context, r Reader, since time.Time) (bool, error) {
	if c, ok := r.(Confirmer); ok {
		return c.Confirm(ctx, since)
	}
	return true, nil
}
