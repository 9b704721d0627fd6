package store

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/nomen-project/nomen/name"
)

// A Reader reads records and authorities. The parameter at, or the field At of a [Scan], selects
// the state at an earlier time; the zero time means now. A Reader is safe for concurrent use.
type Reader interface {
	// Get returns the record of the name n. If n has no record, or if the record was deleted, the
	// error is ErrNotFound.
	Get(ctx context.Context, n name.Name, at time.Time) (*Record, error)

	// List yields records in the order of their keys, in the state of one moment. Changes made
	// during the loop do not affect the records. If reading fails, List yields a nil record with
	// the error, and ends. Close waits until all loops over List have ended.
	List(ctx context.Context, s Scan) iter.Seq2[*Record, error]

	// Authority returns the authority whose prefix is exactly p, or ErrNotFound.
	Authority(ctx context.Context, p name.Prefix, at time.Time) (*Authority, error)

	// Authorities yields all authorities in the byte order of their prefixes, in the state of one
	// moment, as List does.
	Authorities(ctx context.Context, at time.Time) iter.Seq2[*Authority, error]
}

// A Scan says which records List yields, and as of which time.
type Scan struct {
	Prefix string    // only keys that begin with these bytes; "" for all keys
	After  string    // only keys greater than this key; "" for all keys
	At     time.Time // time of the state to list; zero for now
}

// A Store is a Reader that also accepts changes.
type Store interface {
	Reader

	// Apply makes a batch of changes in order, and returns the result of each change. Either all
	// changes are made or none. If two changes have the same subject, the second change applies to
	// the result of the first. These errors contain the index of the change that has failed:
	//
	//   - [*ConflictError]: the current revision is not the expected revision;
	//   - [*StateError]: the state of the name does not allow the change;
	//   - [*LimitError]: the change exceeds a limit;
	//   - [*ChangeError]: the change is invalid.
	//
	// After Close, the error is ErrClosed. If ctx is cancelled before Apply begins the batch, Apply
	// returns the error of ctx and writes nothing.
	Apply(ctx context.Context, changes []Change) ([]Result, error)

	// Close waits for the calls in progress, and closes the store. Later calls of Close do nothing.
	// Later calls of other methods return ErrClosed.
	Close() error
}

// Errors that any store can return.
var (
	ErrNotFound = errors.New("store: not found")
	ErrClosed   = errors.New("store: closed")

	// ErrReadOnly is the error of a change in a store that was opened read-only.
	ErrReadOnly = errors.New("store: opened read-only: changes are not accepted")
)

// A VersionError reports that a program does not support the version of a store, and cannot open
// the store. The version is that of the format, or of the rules of names.
type VersionError struct {
	What  string     // such as "format of the store"
	Found uint64     // version of the store
	Known uint64     // version that this program supports
	How   Conversion // how to convert a store of an earlier version
}

// A Conversion is the way to convert a store of an earlier version to the version of this program.
type Conversion uint8

// Values of Conversion.
const (
	ConvertInPlace Conversion = iota // convert the store while no server uses it
	ConvertOnWrite                   // open the store for writing, which converts it
	ConvertByCopy                    // copy the store to a directory, convert it there, and copy it to an empty database
	ConvertNever                     // cannot be converted, because no release had this version
)

// String describes what the operator must do.
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
