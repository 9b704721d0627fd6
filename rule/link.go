package rule

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
)

// A Link is a template of pages about names: of another resolver, mostly. It is
// immutable and safe for concurrent use; the zero Link expands to nothing.
type Link struct{ place place }

// ParseLink reads the template of a link to http or https, which knows the
// variables "name", "element" and "prefix" and needs at least one of the first
// two. As with locations of rules, its scheme and host are its own. The error is
// an [*Error].
func ParseLink(s string) (Link, error) {
	t, err := ParseTemplate(s)
	if err != nil {
		return Link{}, err
	}
	fault := func(rule, format string, args ...any) error {
		return &Error{s, 0, rule, fmt.Sprintf(format, args...)}
	}
	named := false
	for label := range t.Variables {
		if !slices.Contains([]string{"name", "element", "prefix"}, label) {
			return Link{}, fault("varname", "nothing is called %q; there are name, element, prefix", label)
		}
		named = named || label != "prefix"
	}
	p, err := newPlace(nomen.Location{URL: s}, t)
	if err != nil {
		return Link{}, err
	}
	switch scheme, _, _ := strings.Cut(s, ":"); {
	case !strings.EqualFold(scheme, "http") && !strings.EqualFold(scheme, "https"):
		return Link{}, fault("scheme", "%q: a link is http or https", scheme)
	case !named:
		return Link{}, fault("URI-Template", "every name would lead to the same place: {+name} or {+element} is missing")
	}
	return Link{p}, nil
}

// String returns the template.
func (l Link) String() string { return l.place.template.String() }

// For returns the link for n, a name under p.
func (l Link) For(p name.Prefix, n name.Name) (string, error) {
	parts := map[string]string{"name": n.Key(), "element": p.Element(n), "prefix": p.String()}
	at, err := l.place.expand(parts, func(label string) Value { return String(parts[label]) })
	return at.URL, err
}

// Climbs reports whether a path has a segment that a reader of it takes for "."
// or "..", also one with escaped dots or between backslashes, so that it leads
// to another place than where it stands.
func Climbs(path string) bool { return hasDots(path) }
