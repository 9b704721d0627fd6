package store

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/nomen-project/nomen/name"
)

// A Reader reads records and authorities as they were at a time: the parameter at, or the
// field At of a Scan. The zero time means now. A Reader is safe for concurrent use.
type Reader interface {
	// Get returns the record of n. It returns ErrNotFound if n has no record, or if a
	// reserved name was deleted.
	Get(ctx context.Context, n name.Name, at time.Time) (*Record, error)

	// List yields records in key order as of one moment, without changes made while it runs. If
	// it fails, it yields a nil record with the error, and ends. Close waits until loops over
	// List have ended.
	List(ctx context.Context, s Scan) iter.Seq2[*Record, error]

	// Authority returns the authority of exactly this prefix, or ErrNotFound.
	Authority(ctx context.Context, p name.Prefix, at time.Time) (*Authority, error)

	// Authorities yields all authorities in the byte order of their prefixes, as List does
	// for records.
	Authorities(ctx context.Context, at time.Time) iter.Seq2[*Authority, error]
}

// A Scan says which records List yields.
type Scan struct {
	Prefix string    // bytes with which keys begin; "" for all
	After  string    // keys greater than this one; "" for all
	At     time.Time // the state at this time; zero for now
}

// A Store is a Reader that can be written.
type Store interface {
	Reader

	// Apply writes changes in order as one batch: all or none. It returns the result of
	// each change, in the same order. A later change of the same name builds on the earlier
	// one.
	//
	// These errors have the index of a change:
	//
	//   - [*ConflictError]: the current revision is not the expected revision;
	//   - [*StateError]: the state of the name does not allow the change;
	//   - [*LimitError]: something is too large;
	//   - [*ChangeError]: the change is invalid.
	//
	// After Close the error is ErrClosed. If ctx was cancelled before Apply began the batch,
	// the error is the error of ctx, and nothing was written.
	Apply(ctx context.Context, changes []Change) ([]Result, error)

	// Close waits for the calls in progress and releases the store. All other calls return
	// ErrClosed from then on. Closing again does nothing.
	Close() error
}

// The errors common to all stores.
var (
	ErrNotFound = errors.New("store: not found")
	ErrClosed   = errors.New("store: closed")

	// ErrReadOnly is returned for a change of a store that was opened read-only.
	ErrReadOnly = errors.New("store: opened read-only: changes are not accepted")
)

// A VersionError is returned when a program opens a store whose format or rules have a version
// other than the program's.
type VersionError struct {
	What  string     // "format of the store", "rules of names"
	Found uint64     // in the store
	Known uint64     // to this program
	How   Conversion // of an earlier version
}

// A Conversion says how to convert a store of an earlier version to this program's version.
type Conversion uint8

// The conversions.
const (
	ConvertInPlace Conversion = iota // while no server uses it
	ConvertOnWrite                   // by opening it for writing
	ConvertByCopy                    // by copying it to a directory, converting it there, and copying it to an empty database
	ConvertNever                     // no release had this version
)

// String says what must be done.
func (c Conversion) String() string {
	switch c {
	case ConvertOnWrite:
		return "it is converted when it is opened for writing"
	case ConvertByCopy:
		return "it must be copied to a directory, converted there, and copied to an empty database"
	case ConvertNever:
		return "no release had this version"
	}
	return "it must be converted"
}

func (e *VersionError) Error() string {
	hint := "a newer version of the program is needed"
	if e.Found < e.Known {
		hint = e.How.String()
	}
	return fmt.Sprintf("store: %s: version %d, expected %d: %s", e.What, e.Found, e.Known, hint)
}
