package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/nomen-project/nomen/name"
)

// A Reader reads records and authorities, as they are now or, when the time at
// is not zero, as they were then: after the last change not later than at. It is
// safe for concurrent use.
type Reader interface {
	// Get returns the record of n. It returns ErrNotFound when there is none,
	// also for a reserved name that was deleted.
	Get(ctx context.Context, n name.Name, at time.Time) (*Record, error)

	// List yields records in key order as of one moment: changes made while it
	// runs are not seen. After an error, which comes with a nil record, it ends.
	// It counts as a call under way, for Close, until it ends or is left.
	List(ctx context.Context, s Scan) iter.Seq2[*Record, error]

	// Authority returns the authority of exactly this prefix, or ErrNotFound.
	Authority(ctx context.Context, p name.Prefix, at time.Time) (*Authority, error)

	// Authorities yields all authorities in the byte order of their prefixes, as
	// List does records.
	Authorities(ctx context.Context, at time.Time) iter.Seq2[*Authority, error]
}

// A Scan says which records List yields.
type Scan struct {
	Prefix string    // of keys, in bytes; "" for all
	After  string    // keys greater than this one; "" for all
	At     time.Time // as of then; zero for now
}

// A Store reads and writes.
type Store interface {
	Reader

	// Apply writes changes in their order as one batch: all or none. It returns
	// what each change led to, in the same order. Two changes of one name in a
	// batch build on each other.
	//
	// It returns a [*ConflictError] when an expected revision is not the
	// current one, a [*StateError] when a name may not change so, a
	// [*LimitError] when something is too large, a [*ChangeError] for what is no
	// change at all, each with the index of the change, and ErrClosed after
	// Close. With the error of a context that was cancelled before the batch was
	// begun, nothing was written.
	Apply(ctx context.Context, changes []Change) ([]Result, error)

	// Close releases the store after the calls under way have ended. Every other
	// call returns ErrClosed from then on. Close again does nothing.
	Close() error
}

// The errors of every store.
var (
	ErrNotFound = errors.New("store: not found")
	ErrClosed   = errors.New("store: closed")

	// ErrReadOnly is returned for a change of a store that was opened for reading.
	ErrReadOnly = errors.New("store: opened read-only: changes are not accepted")
)

// A VersionError is returned by the opening of a store that was made by other
// rules than those of this program.
type VersionError struct {
	What  string // "format of the store", "rules of names"
	Found uint64 // in the store
	Known uint64 // to this program
	Way   string // how an earlier version becomes this one, in words; "'nomen rekey' converts it" if empty
}

func (e *VersionError) Error() string {
	hint := "a newer program is needed"
	if e.Found < e.Known {
		hint = cmp.Or(e.Way, "'nomen rekey' converts it")
	}
	return fmt.Sprintf("store: %s: version %d, not %d: %s", e.What, e.Found, e.Known, hint)
}
