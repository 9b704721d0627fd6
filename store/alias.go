package store

import (
	"context"
	"iter"
	"slices"
	"strings"

	"github.com/nomen-project/nomen/name"
)

// An index of locations ([Finder]) also has the aliases of records: the names that
// same_as has, each as a Place whose URL is aliasMark and the key in lower case, so
// that it is found whether or not an authority folds case. No location begins so.
const aliasMark = "\x00same_as\x00"

// aliasEnd is behind all aliases in the order of the index.
const aliasEnd = "\x00same_as\x01"

// AliasSpan returns the URLs between which the places of aliases lie in an index,
// the second not included.
func AliasSpan() (from, to string) { return aliasMark, aliasEnd }

// withoutAliases yields the locations that f finds. It does not read the aliases
// that lie between them.
func withoutAliases(ctx context.Context, f Finder, prefix string, after Place) iter.Seq2[Place, error] {
	if !strings.HasPrefix(aliasMark, prefix) {
		return f.Find(ctx, prefix, after)
	}
	return func(yield func(Place, error) bool) {
		met := false
		for p, err := range f.Find(ctx, prefix, after) {
			if met = strings.HasPrefix(p.URL, aliasMark); met {
				break
			}
			if !yield(p, err) {
				return
			}
		}
		if !met {
			return
		}
		for p, err := range f.Find(ctx, prefix, Place{URL: aliasEnd}) {
			if !yield(p, err) {
				return
			}
		}
	}
}

// AliasURL returns the URL that the place of an alias has in an index.
func AliasURL(alias name.Name) string { return aliasMark + strings.ToLower(alias.Key()) }

// AppendAliases appends what an index of locations has of the aliases of r.
func (r *Record) AppendAliases(list []string) []string {
	for _, s := range r.SameAs {
		if n, err := name.Parse(s); err == nil && n != r.Name {
			list = append(list, AliasURL(n))
		}
	}
	return list
}

// MaxAliased bounds the answer of [Aliased].
const MaxAliased = 16

// An Aliaser is a Reader that knows aliases by another way than by its index.
type Aliaser interface {
	// Aliased returns the names of the first records, at most [MaxAliased], that have
	// n among their same_as now, in any case, in the order of their keys.
	Aliased(ctx context.Context, n name.Name) ([]name.Name, error)
}

// Aliased returns names as [Aliaser] does. A store without an index of its own has
// none.
func Aliased(ctx context.Context, r Reader, n name.Name) ([]name.Name, error) {
	if a, ok := r.(Aliaser); ok {
		return a.Aliased(ctx, n)
	}
	f, ok := r.(Finder)
	if !ok {
		return nil, nil
	}
	url := AliasURL(n)
	var all []name.Name
	for p, err := range f.Find(ctx, url, Place{}) {
		switch {
		case err != nil:
			return nil, err
		case p.URL != url || len(all) == MaxAliased:
			return all, nil
		}
		all = append(all, p.Name)
	}
	return all, nil
}

// HasAlias reports whether one of the same_as of r is n, as the authorities keep
// their names.
func (r *Record) HasAlias(set *AuthoritySet, n name.Name) bool {
	return slices.ContainsFunc(r.SameAs, func(s string) bool {
		alias, err := name.Parse(s)
		return err == nil && set.Of(alias).Fold(alias) == n
	})
}
