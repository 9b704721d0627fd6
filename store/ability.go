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

// Stores implement some features optionally. Each optional feature is an interface in this package,
// with a function of the same purpose that accepts any store. If the store does not implement the
// interface, the function uses a slower method, or returns an error that wraps
// [errors.ErrUnsupported].

// A Counter is a Reader that can count its records without listing them.
type Counter interface {
	// Count returns the number of records, including reserved ones. The second result reports
	// whether the number is exact or only an estimate.
	Count(ctx context.Context) (int64, bool, error)
}

// Count returns the number of records of r. If r is not a [Counter], Count lists all records.
func Count(ctx context.Context, r Reader) (int64, bool, error) {
	DependenciesOf(ctx).Unknown()
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

// A BatchReader is a Reader that can read many records in one call.
type BatchReader interface {
	// Records returns a slice with the record of each name, or nil for a name without a record.
	// Records is fastest if the names are sorted by their keys.
	//
	// If the caller is about to store new versions of the records, it should pass true as the
	// parameter change. The store may then keep the returned records until it has the new versions.
	// The caller must not modify these records.
	Records(ctx context.Context, names []name.Name, change bool) ([]*Record, error)
}

// Records returns the records of names as [BatchReader] does. If r is not a BatchReader, Records
// calls Get for each name.
func Records(ctx context.Context, r Reader, names []name.Name, change bool) ([]*Record, error) {
	if b, ok := r.(BatchReader); ok {
		DependenciesOf(ctx).Unknown()
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

// A Historian is a Reader that can return every revision of a name.
type Historian interface {
	// History yields the changes of the name n, newest first, including deletions. If n never had a
	// record, History yields nothing.
	History(ctx context.Context, n name.Name) iter.Seq2[*Change, error]
}

// History yields the changes of the name n if r is a [Historian].
func History(ctx context.Context, r Reader, n name.Name) iter.Seq2[*Change, error] {
	if h, ok := r.(Historian); ok {
		return h.History(ctx, n)
	}
	return failing[*Change](unable(r, "show the history of a name"))
}

// An AuthorityHistorian is a Reader that can return every revision of an authority.
type AuthorityHistorian interface {
	// AuthorityHistory yields the changes of the authority whose prefix is exactly p, newest first.
	AuthorityHistory(ctx context.Context, p name.Prefix) iter.Seq2[*Change, error]
}

// AuthorityHistory yields the changes of an authority if r is an [AuthorityHistorian].
func AuthorityHistory(ctx context.Context, r Reader, p name.Prefix) iter.Seq2[*Change, error] {
	if h, ok := r.(AuthorityHistorian); ok {
		return h.AuthorityHistory(ctx, p)
	}
	return failing[*Change](unable(r, "show the history of an authority"))
}

// Changes yields the log of changes of r if r is a [Feed].
func Changes(ctx context.Context, r Reader, after uint64) iter.Seq2[*Entry, error] {
	DependenciesOf(ctx).Unknown()
	if f, ok := r.(Feed); ok {
		return f.Changes(ctx, after)
	}
	return failing[*Entry](unable(r, "list its changes in order"))
}

// HeadOf returns the head of the log of r if r is a [Feed].
func HeadOf(ctx context.Context, r Reader) (Head, error) {
	DependenciesOf(ctx).Unknown()
	if f, ok := r.(Feed); ok {
		return f.Head(ctx)
	}
	return Head{}, unable(r, "list its changes in order")
}

// A Settler is a Feed that shows some changes only a while after Apply has returned.
type Settler interface {
	// Settle waits until the feed shows every change that was acknowledged before the call. If no
	// other process is adding these changes to the feed, Settle adds them.
	Settle(ctx context.Context) error
}

// Settle calls the Settle method of r. If r is not a [Settler], it does nothing.
func Settle(ctx context.Context, r Reader) error {
	if s, ok := r.(Settler); ok {
		return s.Settle(ctx)
	}
	return nil
}

// Load fills the store s with entries if s is a [Loader].
func Load(ctx context.Context, s Store, entries iter.Seq2[*Entry, error]) error {
	if l, ok := s.(Loader); ok {
		return l.Load(ctx, entries)
	}
	return unable(s, "load the changes of another store")
}

// Find yields locations as [Finder] does. It omits the aliases of records and the subjects of
// users, which the same index contains. If r is not a Finder, Find lists all records and collects
// the matches in memory.
func Find(ctx context.Context, r Reader, prefix string, after Place) iter.Seq2[Place, error] {
	DependenciesOf(ctx).Unknown()
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

// Compare compares p and o in the order in which a [Finder] yields places. It returns -1, 0 or +1.
func (p Place) Compare(o Place) int {
	if c := strings.Compare(p.URL, o.URL); c != 0 {
		return c
	}
	return strings.Compare(p.Name.Key(), o.Name.Key())
}

// Verify checks the integrity of s if s is a [Verifier].
func Verify(ctx context.Context, s Reader, fault func(Fault), progress func(done, total uint64)) (Head, error) {
	if v, ok := s.(Verifier); ok {
		return v.Verify(ctx, fault, progress)
	}
	return Head{}, unable(s, "verify itself")
}

// Backup copies s to the directory dir if s is a [Backuper].
func Backup(ctx context.Context, s Reader, dir string, progress func(done, total uint64)) error {
	if b, ok := s.(Backuper); ok {
		return b.Backup(ctx, dir, progress)
	}
	return unable(s, "back itself up")
}

// AllTokens yields the tokens of r if r is a [TokenLister].
func AllTokens(ctx context.Context, r Reader) iter.Seq2[*Token, error] {
	if l, ok := r.(TokenLister); ok {
		return l.AllTokens(ctx)
	}
	return failing[*Token](unable(r, "list its tokens"))
}

// TokenChanges yields the last change of each token of r. If r is not a [TokenHistorian], only the
// field Token of these changes is set.
func TokenChanges(ctx context.Context, r Reader) iter.Seq2[*Change, error] {
	if h, ok := r.(TokenHistorian); ok {
		return h.TokenChanges(ctx)
	}
	return each(AllTokens(ctx, r), func(t *Token) *Change { return &Change{Token: t} })
}

// TokensOf yields the tokens of the changes, which must all be changes of tokens.
func TokensOf(changes iter.Seq2[*Change, error]) iter.Seq2[*Token, error] {
	return each(changes, func(c *Change) *Token { return c.Token })
}

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

func failing[T any](err error) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		yield(none, err)
	}
}
