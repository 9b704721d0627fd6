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

// Directives are the keywords of what can be asked about a name beside its location
// (2012, 2.3), in the order in which they are written.
var Directives = [...]string{"s", "c", "with", "at"}

// ParseLink reads the template of a link to http or https, which knows the
// variables "name", "element" and "prefix" and needs at least one of the first
// two; those of [Directives] say what is asked, as in "{+name}{?s,c}". As with
// locations of rules, its scheme and host are its own. The error is an [*Error].
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
		switch {
		case label == "name", label == "element":
			named = true
		case label != "prefix" && !slices.Contains(Directives[:], label):
			return Link{}, fault("varname", "nothing is called %q; there are name, element, prefix, and what is asked: %s", label, strings.Join(Directives[:], ", "))
		}
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
func (l Link) For(p name.Prefix, n name.Name) (string, error) { return l.Asking(p, n, nil) }

// Asking returns the link for n, a name under p, with what is asked about it by the
// keywords of [Directives]; those that are not there are undefined.
func (l Link) Asking(p name.Prefix, n name.Name, asked map[string]string) (string, error) {
	parts := map[string]string{"name": n.Key(), "element": p.Element(n), "prefix": p.String()}
	value := func(label string) Value {
		if s, ok := parts[label]; ok {
			return String(s)
		}
		if s, ok := asked[label]; ok {
			return String(s)
		}
		return Value{}
	}
	at, err := l.place.expand(parts, value)
	return at.URL, err
}

// Climbs reports whether a path has a segment that a reader of it takes for "."
// or "..", also one with escaped dots or between backslashes, so that it leads
// to another place than where it stands.
func Climbs(path string) bool { return hasDots(path) }
