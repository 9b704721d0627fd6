package store

import (
	"context"
	"iter"
	"slices"
	"strings"

	"github.com/nomen-project/nomen/name"
)

// The index of locations ([Finder]) also contains the aliases of records, which are the names in
// same_as. The URL of a [Place] for an alias is aliasMark followed by the key of the alias in lower
// case. A search can therefore find the alias whether or not the authority of the alias folds case.
// No location begins with aliasMark.
const aliasMark = "\x00same_as\x00"

// AliasSpan returns the range of URLs that an index uses for aliases. The range includes its first
// URL but not its last.
func AliasSpan() (from, to string) { return aliasMark, markEnd(aliasMark) }

// locationsOnly yields the locations that f finds. It seeks past the aliases and subjects in the
// index.
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

// AppendIndexed appends the URLs under which an index must contain the subject of c after the
// change, sorted and without duplicates. For a record, these are the locations and aliases. For a
// user, these are the identities with which the user signs in.
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
	// Aliased returns the names of the records that currently have n in same_as, ignoring case. It
	// returns at most [MaxAliased] names, sorted by their keys.
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

// HasAlias reports whether r has n in same_as. It ignores case if the authority of the name folds
// case.
func (r *Record) HasAlias(set *AuthoritySet, n name.Name) bool {
	return slices.ContainsFunc(r.SameAs, func(s string) bool {
		alias, err := name.Parse(s)
		return err == nil && set.Of(alias).Fold(alias) == n
	})
}
