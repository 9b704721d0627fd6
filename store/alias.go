package store

import (
	"context"
	"iter"
	"slices"
	"strings"

	"github.com/nomen-project/nomen/name"
)

// An index of locations ([Finder]) also contains the aliases of records, that is, the names in
// same_as. The index has each alias as a Place whose URL is aliasMark followed by the alias's
// key in lower case. So an alias is found whether or not an authority folds case. No location
// begins with aliasMark.
const aliasMark = "\x00same_as\x00"

// AliasSpan returns the range of the URLs that an index has for aliases. It includes the first
// result and excludes the second.
func AliasSpan() (from, to string) { return aliasMark, markEnd(aliasMark) }

// locationsOnly yields the locations that f finds. It skips the aliases of records and the
// subjects of users, which an index has too, without reading them.
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

// markEnd returns the end of the range of an index to which url belongs, "" if url is a location.
func markEnd(url string) string {
	for _, mark := range [...]string{aliasMark, subjectMark} {
		if strings.HasPrefix(url, mark) {
			return mark[:len(mark)-1] + "\x01"
		}
	}
	return ""
}

// AliasURL returns the URL of the place that alias has in an index.
func AliasURL(alias name.Name) string { return aliasMark + strings.ToLower(alias.Key()) }

// AppendAliases appends the URL of each alias of r in an index to list.
func (r *Record) AppendAliases(list []string) []string {
	for _, s := range r.SameAs {
		if n, err := name.Parse(s); err == nil && n != r.Name {
			list = append(list, AliasURL(n))
		}
	}
	return list
}

// AppendIndexed appends the URLs under which an index of locations contains what exists after
// c, each once: the locations and aliases of a record, or the subjects of a user. It sorts list.
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

// An Aliaser is a Reader that finds aliases by a means other than its index.
type Aliaser interface {
	// Aliased returns the names of the first records, at most [MaxAliased], whose
	// current same_as contains n in upper or lower case, in the order of their keys.
	Aliased(ctx context.Context, n name.Name) ([]name.Name, error)
}

// Aliased returns names as [Aliaser] does. It returns none if r has no index.
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

// HasAlias reports whether r has n in its same_as. Before comparing, it folds each name in
// same_as if the authority of that name in set folds case.
func (r *Record) HasAlias(set *AuthoritySet, n name.Name) bool {
	return slices.ContainsFunc(r.SameAs, func(s string) bool {
		alias, err := name.Parse(s)
		return err == nil && set.Of(alias).Fold(alias) == n
	})
}
