package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
)

// A Searcher finds records by words. Package search implements a Searcher with an index for any
// kind of store.
type Searcher interface {
	// Search returns one page of the records that match q. Search reads the records from the store,
	// and never returns content that was changed, deleted or redacted after it was indexed. It does
	// not find records that are not indexed yet. Status reports how many changes are not indexed.
	//
	// The cost of a page is bounded. If only a few of many candidates match, a page can have fewer
	// records than the limit, or none, although more records follow.
	//
	// For an invalid query, Search returns [ErrNoWords] or [ErrTooManyWords]. If the index cannot
	// be used at present, its error wraps [ErrNoIndex].
	Search(ctx context.Context, q Query) (QueryPage, error)

	// Status reports how complete the index is.
	Status() IndexStatus
}

// A Query describes the records that a [Searcher] is to find.
type Query struct {
	// Text consists of words that the name, metadata, locations, identifiers or reason of a record
	// must contain, in any order. Case and diacritics are ignored, and the last word may be
	// incomplete.
	Text string

	Spans  []string             // only keys with one of these prefixes, sorted, none a prefix of another; nil for all keys
	Status []nomen.Status       // only records with one of these statuses; nil for any
	After  string               // only keys greater than this key
	Limit  int                  // maximum number of records of the page; [MaxQueryPage] if 0
	May    func(name.Name) bool // only names for which May returns true; nil for all
}

// Limits of a query.
const (
	MaxQueryPage  = 1000 // records of a page
	MaxQueryWords = 32   // words of a text
)

// A QueryPage is a part of the result of a query.
type QueryPage struct {
	Records []*Record // in the order of their keys
	Next    string    // value of [Query].After for the next page; "" for the last page
}

// Errors of a [Searcher].
var (
	ErrNoWords      = errors.New("store: search: the text has no letters or digits")
	ErrTooManyWords = fmt.Errorf("store: search: the text has more than %d words", MaxQueryWords)
	ErrNoIndex      = errors.New("store: search: the index is unavailable")
)

// An IndexStatus reports how complete the index of a [Searcher] is.
type IndexStatus struct {
	Built    bool   // every name has been indexed at least once; otherwise the index is being built
	Names    int64  // while the index is being built: names indexed so far
	Position uint64 // number of the last change of the log that the index has
	Head     uint64 // number of the last change of the log when the index last read it
	Err      error  // why the index cannot follow the log, or nil
}

// Behind returns the number of changes that are not in the index yet.
func (s IndexStatus) Behind() uint64 { return s.Head - min(s.Position, s.Head) }
