package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
)

// A Searcher finds records by words. Package search implements it with an index beside a store of
// any kind.
type Searcher interface {
	// Search returns a page of the records that a query describes. The records are the current ones
	// of the store. So content that was changed, deleted or redacted is not found any more. Names
	// that the index does not have yet are missing; Status says whether there are any.
	//
	// The cost of a page is bounded. A page can have fewer records than the limit, or none,
	// although more records follow. This happens if few of many candidates match.
	//
	// For an invalid query, the error is [ErrNoWords] or [ErrTooManyWords]. If the index cannot be
	// used at present, the error wraps [ErrNoIndex].
	Search(ctx context.Context, q Query) (QueryPage, error)

	// Status returns how complete the index is.
	Status() IndexStatus
}

// A Query says which records a [Searcher] finds.
type Query struct {
	// Text has the words that a record must have, in any order, in its name, metadata, locations,
	// identifiers or reason. Case and diacritics are ignored. The last word may be incomplete.
	Text string

	Spans  []string             // only keys that begin with one of these texts; sorted, and no text begins with another; nil for all keys
	Status []nomen.Status       // only records with one of these statuses; nil for any
	After  string               // only keys greater than this one
	Limit  int                  // maximum number of records of the page; [MaxQueryPage] if 0
	May    func(name.Name) bool // only names for which it returns true; nil for all
}

// Limits of a query.
const (
	MaxQueryPage  = 1000 // records of a page
	MaxQueryWords = 32   // words of a text
)

// A QueryPage is a part of the result of a query.
type QueryPage struct {
	Records []*Record // in the order of their keys
	Next    string    // value of [Query].After for the next page; "" if this is the last
}

// Errors of a [Searcher].
var (
	ErrNoWords      = errors.New("store: search: the text has no letters or digits")
	ErrTooManyWords = fmt.Errorf("store: search: the text has more than %d words", MaxQueryWords)
	ErrNoIndex      = errors.New("store: search: the index is unavailable")
)

// An IndexStatus says how complete the index of a [Searcher] is.
type IndexStatus struct {
	Built    bool   // all names have been indexed once; otherwise the index is being built
	Names    int64  // while the index is being built: names indexed so far
	Position uint64 // number of the last change of the log that the index has
	Head     uint64 // number of the last change of the log when the index last read it
	Err      error  // why the index cannot follow the log, or nil
}

// Behind returns the number of changes that the index does not have yet.
func (s IndexStatus) Behind() uint64 { return s.Head - min(s.Position, s.Head) }
