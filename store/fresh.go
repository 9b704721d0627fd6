package store

import (
	"context"
	"time"
)

type freshKey struct{}

// Fresh returns a context for reads on which a change depends. A read with this context sees every
// change that was acknowledged before the read began. A store with replicas or a cache reads from
// the primary server, and fails with an [*AwayError] if the primary cannot be reached. Reads with
// Fresh are therefore more expensive. Just after a failover, a [Confirmer] may still read from the
// previous primary.
func Fresh(ctx context.Context) context.Context {
	if IsFresh(ctx) {
		return ctx
	}
	return context.WithValue(ctx, freshKey{}, true)
}

// IsFresh reports whether ctx is from [Fresh].
func IsFresh(ctx context.Context) bool { return ctx.Value(freshKey{}) != nil }

// A Confirmer is a store in which another server can become the primary. The store does not always
// notice a new primary at once. A read with [Fresh] may then miss changes that the new primary has
// already acknowledged. Apply is not affected.
type Confirmer interface {
	// Confirm checks the reads with [Fresh] that began later than the time since. It returns true
	// if each of them saw every change that was acknowledged before the read began. Otherwise the
	// caller must repeat these reads. A caller should use Confirm before a decision that Apply does
	// not check, for example before it rejects a request.
	Confirm(ctx context.Context, since time.Time) (bool, error)
}

// Confirm calls the Confirm method of r. If r is not a [Confirmer], it returns true.
func Confirm(ctx context.Context, r Reader, since time.Time) (bool, error) {
	if c, ok := r.(Confirmer); ok {
		return c.Confirm(ctx, since)
	}
	return true, nil
}
