package store

import (
	"context"
	"iter"
	"slices"
	"strings"

	"github.com/nomen-project/nomen/name"
)

// An index of locations ([Finder]) also contains the aliases of records, which are the names in
// same_as. For each alias the index has a Place. Its URL is aliasMark followed by the key of the
// alias in lower case. So a search finds an alias whether or not its authority folds case. No
// location begins with aliasMark.
const aliasMark = "\x00same_as\x00"

// AliasSpan returns the range of URLs that an index uses for aliases. The range includes the first
// result, but not the second.
func AliasSpan() (from, to string) { return aliasMark, markEnd(aliasMark) }

// locationsOnly yields the locations that f finds. An index also has the aliases of records and the
// subjects of users; locationsOnly skips these without reading them.
func locationsOnly(ctx context.Context, f Finder, prefix string, after Place) iter.Seq2[Place, error] {
	return func(yield func(Place, error) bool) {
		for more := true; more; {
			more = false
			f.Find(ctx, prefix, after)(func(p Place, err error) bool {
				if end := markEnd(p.URL); end != "" && err == nil {
					after, more = Place{URL: end}, true
					return false
				}
				return yield(p, err)
			})
		}
	}
}

// If the URL stands for an alias or a subject, markEnd returns the end of the range of URLs that an
// index uses for aliases or for subjects. If the URL is a location, markEnd returns "".
func markEnd(url string) string {
	for _, mark := range [...]string{aliasMark, subjectMark} {
		if strings.HasPrefix(url, mark) {
			return mark[:len(mark)-1] + "\x01"
		}
	}
	return ""
}

// AliasURL returns the URL that an index uses for an alias.
func AliasURL(alias name.Name) string { return aliasMark + strings.ToLower(alias.Key()) }

// AppendAliases appends to list the URL that an index uses for each alias of r.
func (r *Record) AppendAliases(list []string) []string {
	for _, s := range r.SameAs {
		if n, err := name.Parse(s); err == nil && n != r.Name {
			list = append(list, AliasURL(n))
		}
	}
	return list
}

// AppendIndexed appends to list the URLs under which an index finds the record or user as it is
// after the change c. For a record, these are its locations and aliases, and for a user, the
// identities with which the user signs in. Each URL is appended once. AppendIndexed sorts list.
func (c *Change) AppendIndexed(list []string) []string {
	switch {
	case c != nil && c.Record != nil:
		for i := range c.Record.Locations {
			list = append(list, c.Record.Locations[i].URL)
		}
		list = c.Record.AppendAliases(list)
	case c != nil && c.User != nil:
		list = c.User.appendSubjects(list)
	default:
		return list
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// MaxAliased is the maximum number of names that [Aliased] returns.
const MaxAliased = 16

// An Aliaser is a Reader that finds aliases without an index of locations.
type Aliaser interface {
	// Aliased returns the names of the records whose current same_as contains n in upper or lower
	// case. The names are in the order of their keys. If there are more than [MaxAliased], it
	// returns only the first [MaxAliased].
	Aliased(ctx context.Context, n name.Name) ([]name.Name, error)
}

// Aliased returns names as [Aliaser] does. If r is neither an Aliaser nor a Finder, it returns
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
	DependenciesOf(ctx).On(url)
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

// HasAlias reports whether the same_as of r contains n. A name in same_as is folded before the
// comparison if its authority in the set folds case.
func (r *Record) HasAlias(set *AuthoritySet, n name.Name) bool {
	return slices.ContainsFunc(r.SameAs, func(s string) bool {
		alias, err := name.Parse(s)
		return err == nil && set.Of(alias).Fold(alias) == n
	})
}
