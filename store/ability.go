package store

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/nomen-project/nomen/name"
)

// Optional capabilities of a store are separate interfaces. For each capability a function
// works with any store. If the store lacks the capability, the function uses a slower method,
// or, if there is no such method, returns an error that wraps [errors.ErrUnsupported].

// A Counter is a Reader that counts its records faster than by listing them.
type Counter interface {
	// Count returns the number of records, including reserved ones. The number is
	// exact when the second result is true, and an estimate otherwise.
	Count(ctx context.Context) (int64, bool, error)
}

// Count returns the number of records of r. It lists them if r is not a [Counter].
func Count(ctx context.Context, r Reader) (int64, bool, error) {
	if c, ok := r.(Counter); ok {
		return c.Count(ctx)
	}
	n := int64(0)
	for _, err := range r.List(ctx, Scan{}) {
		if err != nil {
			return n, false, err
		}
		n++
	}
	return n, true, nil
}

// A BatchReader is a Reader that reads many records in one call.
type BatchReader interface {
	// Records returns the record of each name as Get would, in the order of names; nil for a
	// name without a record. Records is fastest when names are in the order of their keys. Set
	// change if the caller will change the records: the store may then keep the returned
	// records until that change, so do not modify them.
	Records(ctx context.Context, names []name.Name, change bool) ([]*Record, error)
}

// Records returns records as [BatchReader] does. If r is not a BatchReader, it calls Get for
// each name.
func Records(ctx context.Context, r Reader, names []name.Name, change bool) ([]*Record, error) {
	if b, ok := r.(BatchReader); ok {
		return b.Records(ctx, names, change)
	}
	all := make([]*Record, len(names))
	for i, n := range names {
		rec, err := r.Get(ctx, n, time.Time{})
		if err != nil && !errors.Is(err, ErrNotFound) {
			return nil, err
		}
		all[i] = rec
	}
	return all, ctx.Err()
}

// A Historian is a Reader that returns every revision of a name.
type Historian interface {
	// History yields the changes of n, newest first, including deletions, in the form
	// that [Change] describes for stored changes. It yields nothing for a name that
	// never had a record.
	History(ctx context.Context, n name.Name) iter.Seq2[*Change, error]
}

// History yields the changes of n as [Historian] does.
func History(ctx context.Context, r Reader, n name.Name) iter.Seq2[*Change, error] {
	if h, ok := r.(Historian); ok {
		return h.History(ctx, n)
	}
	return failing[*Change](unable(r, "show the history of a name"))
}

// An AuthorityHistorian is a Reader that returns every revision of an authority.
type AuthorityHistorian interface {
	// AuthorityHistory yields the changes of the authority with exactly this prefix,
	// newest first, as History does for a name.
	AuthorityHistory(ctx context.Context, p name.Prefix) iter.Seq2[*Change, error]
}

// AuthorityHistory yields the changes of an authority as [AuthorityHistorian] does.
func AuthorityHistory(ctx context.Context, r Reader, p name.Prefix) iter.Seq2[*Change, error] {
	if h, ok := r.(AuthorityHistorian); ok {
		return h.AuthorityHistory(ctx, p)
	}
	return failing[*Change](unable(r, "show the history of an authority"))
}

// Changes yields the log of changes of r as [Feed] does.
func Changes(ctx context.Context, r Reader, after uint64) iter.Seq2[*Entry, error] {
	if f, ok := r.(Feed); ok {
		return f.Changes(ctx, after)
	}
	return failing[*Entry](unable(r, "list its changes in order"))
}

// HeadOf returns the head of the log of r as [Feed] does.
func HeadOf(ctx context.Context, r Reader) (Head, error) {
	if f, ok := r.(Feed); ok {
		return f.Head(ctx)
	}
	return Head{}, unable(r, "list its changes in order")
}

// A Settler is a Feed in which changes may appear after Apply has returned.
type Settler interface {
	// Settle waits until every change acknowledged before the call is in the feed. If no other
	// process adds these changes to the feed, Settle adds them. It does not wait for later
	// changes.
	Settle(ctx context.Context) error
}

// Settle waits as [Settler] does. It returns at once for other stores.
func Settle(ctx context.Context, r Reader) error {
	if s, ok := r.(Settler); ok {
		return s.Settle(ctx)
	}
	return nil
}

// Load fills s with entries as [Loader] does.
func Load(ctx context.Context, s Store, entries iter.Seq2[*Entry, error]) error {
	if l, ok := s.(Loader); ok {
		return l.Load(ctx, entries)
	}
	return unable(s, "load the changes of another store")
}

// Find yields locations as [Finder] does, without what else its index has. If r is not a Finder, it first
// lists all records and holds every match in memory.
func Find(ctx context.Context, r Reader, prefix string, after Place) iter.Seq2[Place, error] {
	if f, ok := r.(Finder); ok {
		return locationsOnly(ctx, f, prefix, after)
	}
	return func(yield func(Place, error) bool) {
		places, err := search(ctx, r, prefix, after)
		if err != nil {
			yield(Place{}, err)
			return
		}
		for _, p := range places {
			if err := ctx.Err(); err != nil {
				yield(Place{}, err)
				return
			}
			if !yield(p, nil) {
				return
			}
		}
	}
}

// search lists all records and returns the matching places in order, without duplicates.
func search(ctx context.Context, r Reader, prefix string, after Place) ([]Place, error) {
	var places []Place
	for rec, err := range r.List(ctx, Scan{}) {
		if err != nil {
			return nil, err
		}
		for i := range rec.Locations {
			p := Place{rec.Locations[i].URL, rec.Name}
			if strings.HasPrefix(p.URL, prefix) && (after == (Place{}) || p.Compare(after) > 0) {
				places = append(places, p)
			}
		}
	}
	slices.SortFunc(places, Place.Compare)
	return slices.Compact(places), nil
}

// Compare returns -1, 0 or +1 if p is before, equal to or after o in the order of
// [Finder].
func (p Place) Compare(o Place) int {
	if c := strings.Compare(p.URL, o.URL); c != 0 {
		return c
	}
	return strings.Compare(p.Name.Key(), o.Name.Key())
}

// Verify checks s as [Verifier] does.
func Verify(ctx context.Context, s Reader, fault func(Fault), progress func(done, total uint64)) (Head, error) {
	if v, ok := s.(Verifier); ok {
		return v.Verify(ctx, fault, progress)
	}
	return Head{}, unable(s, "verify itself")
}

// Backup copies s to dir as [Backuper] does.
func Backup(ctx context.Context, s Reader, dir string, progress func(done, total uint64)) error {
	if b, ok := s.(Backuper); ok {
		return b.Backup(ctx, dir, progress)
	}
	return unable(s, "back itself up")
}

// AllTokens yields the tokens of r as [TokenLister] does.
func AllTokens(ctx context.Context, r Reader) iter.Seq2[*Token, error] {
	if l, ok := r.(TokenLister); ok {
		return l.AllTokens(ctx)
	}
	return failing[*Token](unable(r, "list its tokens"))
}

// TokenChanges yields the last change of each token of r as [TokenHistorian] does. If r is not
// a TokenHistorian, only the field Token of each change is set.
func TokenChanges(ctx context.Context, r Reader) iter.Seq2[*Change, error] {
	if h, ok := r.(TokenHistorian); ok {
		return h.TokenChanges(ctx)
	}
	return each(AllTokens(ctx, r), func(t *Token) *Change { return &Change{Token: t} })
}

// TokensOf yields the tokens of changes, all of which must be changes of tokens.
func TokensOf(changes iter.Seq2[*Change, error]) iter.Seq2[*Token, error] {
	return each(changes, func(c *Change) *Token { return c.Token })
}

// each yields f of each element of seq, up to an error.
func each[T, U any](seq iter.Seq2[T, error], f func(T) U) iter.Seq2[U, error] {
	return func(yield func(U, error) bool) {
		for v, err := range seq {
			var u U
			if err == nil {
				u = f(v)
			}
			if !yield(u, err) || err != nil {
				return
			}
		}
	}
}

func unable(r Reader, what string) error {
	return fmt.Errorf("store: %T cannot %s: %w", r, what, errors.ErrUnsupported)
}

// failing yields an error and nothing else.
func failing[T any](err error) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		yield(none, err)
	}
}
