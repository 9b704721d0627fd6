package store

import (
	"context"
	"iter"
	"slices"
	"strings"

	"github.com/nomen-project/nomen/name"
)

// A Place in the index of locations ([Finder]) usually has the URL of a location. The index also
// has places for the aliases of records, which are the names in same_as, so that a record can be
// found by an alias. The URL of such a place is aliasMark, followed by the key of the alias in
// lower case. Lower case lets a search find the alias whether or not its authority folds case. No
// location begins with aliasMark.
const aliasMark = "\x00same_as\x00"

// AliasSpan returns the range of URLs that an index uses for aliases. The range includes its first
// URL but not its last.
func AliasSpan() (from, to string) { return aliasMark, markEnd(aliasMark) }

// locationsOnly yields the locations that f finds. It skips aliases and subjects, which are in the
// same index, without reading them.
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

// markEnd returns the end of the range of aliases or of subjects to which url belongs. For a
// location it returns "".
func markEnd(url string) string {
	for _, mark := range [...]string{aliasMark, subjectMark} {
		if strings.HasPrefix(url, mark) {
			return mark[:len(mark)-1] + "\x01"
		}
	}
	return ""
}

// AliasURL returns the URL under which an index contains an alias.
func AliasURL(alias name.Name) string { return aliasMark + strings.ToLower(alias.Key()) }

// AppendAliases appends the index URL of each alias of r to urls.
func (r *Record) AppendAliases(urls []string) []string {
	for _, s := range r.SameAs {
		if n, err := name.Parse(s); err == nil && n != r.Name {
			urls = append(urls, AliasURL(n))
		}
	}
	return urls
}

// AppendIndexed appends the URLs that an index needs for the state after the change c, then sorts
// the result and removes duplicates. These URLs are the locations and aliases of a record, or the
// identities with which a user signs in. Other changes need none.
func (c *Change) AppendIndexed(urls []string) []string {
	switch {
	case c != nil && c.Record != nil:
		for i := range c.Record.Locations {
			urls = append(urls, c.Record.Locations[i].URL)
		}
		urls = c.Record.AppendAliases(urls)
	case c != nil && c.User != nil:
		urls = c.User.appendSubjects(urls)
	default:
		return urls
	}
	slices.Sort(urls)
	return slices.Compact(urls)
}

// MaxAliased is the maximum number of names that Aliased returns.
const MaxAliased = 16

// An Aliaser is a Reader that can find aliases without an index of locations.
type Aliaser interface {
	// Aliased returns the names of the records that currently have n in same_as. The comparison
	// ignores case. The names are in the order of their keys. If there are more than [MaxAliased],
	// Aliased returns only the first MaxAliased.
	Aliased(ctx context.Context, n name.Name) ([]name.Name, error)
}

// Aliased returns the names of the records that have n as an alias. If r is neither an [Aliaser]
// nor a [Finder], Aliased returns no names.
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

// HasAlias reports whether n is in the same_as of r. The comparison ignores case in the names of an
// authority that folds case.
func (r *Record) HasAlias(set *AuthoritySet, n name.Name) bool {
	return slices.ContainsFunc(r.SameAs, func(s string) bool {
		alias, err := name.Parse(s)
		return err == nil && set.Of(alias).Fold(alias) == n
	})
}
