package store

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/nomen-project/nomen/name"
)

// A Reader reads records and authorities as of a time. The time is the parameter at, or the field
// At of a Scan. The zero time means now. A Reader is safe for concurrent use.
type Reader interface {
	// Get returns the record of the name n. If the name has no record, or had a reserved record
	// that was deleted, Get returns ErrNotFound.
	Get(ctx context.Context, n name.Name, at time.Time) (*Record, error)

	// List yields records as of one moment, in the order of their keys. Changes made while it runs
	// have no effect on it. If reading fails, List yields a nil record with the error, and ends.
	// Close waits until all loops over List have ended.
	List(ctx context.Context, s Scan) iter.Seq2[*Record, error]

	// Authority returns the authority that has exactly this prefix, or ErrNotFound.
	Authority(ctx context.Context, p name.Prefix, at time.Time) (*Authority, error)

	// Authorities yields all authorities in the byte order of their prefixes. Like List, it yields
	// them as of one moment.
	Authorities(ctx context.Context, at time.Time) iter.Seq2[*Authority, error]
}

// A Scan says which records List yields, and as of which time.
type Scan struct {
	Prefix string    // only keys that begin with these bytes; "" for all keys
	After  string    // only keys greater than this one; "" for all keys
	At     time.Time // time of the state to list; zero for now
}

// A Store is a Reader that can be written.
type Store interface {
	Reader

	// Apply writes changes in order, as one batch: all or none. It returns the result of each
	// change, in the same order. If two changes have the same name, the later one is applied to the
	// result of the earlier one.
	//
	// These errors have the index of a change:
	//
	//   - [*ConflictError]: the current revision is not the expected revision;
	//   - [*StateError]: the state of the name does not allow the change;
	//   - [*LimitError]: something is too large;
	//   - [*ChangeError]: the change is invalid.
	//
	// After Close the error is ErrClosed. If ctx was cancelled before Apply began the batch, the
	// error is the error of ctx, and nothing was written.
	Apply(ctx context.Context, changes []Change) ([]Result, error)

	// Close waits for the calls in progress and closes the store. All later calls of other methods
	// return ErrClosed. Later calls of Close do nothing.
	Close() error
}

// Errors that any store can return.
var (
	ErrNotFound = errors.New("store: not found")
	ErrClosed   = errors.New("store: closed")

	// ErrReadOnly is returned for a change if the store was opened read-only.
	ErrReadOnly = errors.New("store: opened read-only: changes are not accepted")
)

// A VersionError is returned when a program opens a store and does not support the version of its
// format or rules.
type VersionError struct {
	What  string     // "format of the store", "rules of names"
	Found uint64     // version of the store
	Known uint64     // version that this program supports
	How   Conversion // how to convert a store of an earlier version
}

// A Conversion says how to convert a store of an earlier version to the version of this program.
type Conversion uint8

// Values of Conversion.
const (
	ConvertInPlace Conversion = iota // convert the store while no server uses it
	ConvertOnWrite                   // open the store for writing, which converts it
	ConvertByCopy                    // copy the store to a directory, convert it there, and copy it to an empty database
	ConvertNever                     // cannot be converted, because no release had this version
)

// String says what the operator must do.
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
