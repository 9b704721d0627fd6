package rule

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
)

// A Link is a template for pages about names, usually at another resolver. It is immutable and safe
// for concurrent use. The zero Link expands to "".
type Link struct{ place place }

// Directives are the keywords of the directives in the query of a URN (draft of 2012, section 2.3),
// in the order in which they are written.
var Directives = [...]string{"s", "c", "with", "at"}

// ParseLink parses a template for an http or https URL. It must contain the variable "name" or
// "element". It may also contain "prefix" and the variables in [Directives], as in "{+name}{?s,c}".
// The scheme and the host must be literal, as in the locations of rules. If the template is
// invalid, the error is an [*Error].
func ParseLink(s string) (Link, error) {
	t, err := parseTemplate(s)
	if err != nil {
		return Link{}, err
	}
	fault := func(rule, format string, args ...any) error {
		return &Error{s, 0, rule, fmt.Sprintf(format, args...)}
	}
	named := false
	for label := range t.variables {
		switch {
		case label == "name", label == "element":
			named = true
		case label != "prefix" && !slices.Contains(Directives[:], label):
			return Link{}, fault("varname", "unknown variable %q: must be name, element, prefix, or one of %s", label, strings.Join(Directives[:], ", "))
		}
	}
	p, err := newPlace(nomen.Location{URL: s}, t)
	if err != nil {
		return Link{}, err
	}
	switch scheme, _, _ := strings.Cut(s, ":"); {
	case !strings.EqualFold(scheme, "http") && !strings.EqualFold(scheme, "https"):
		return Link{}, fault("scheme", "unsupported scheme %q: must be http or https", scheme)
	case !named:
		return Link{}, fault("URI-Template", "missing {+name} or {+element}: every name would have the same location")
	}
	return Link{p}, nil
}

// String returns the template.
func (l Link) String() string { return l.place.template.String() }

// Asking returns the link for the name n under the prefix p. The map values contains the values of
// the [Directives] by keyword. Variables without a value are undefined.
func (l Link) Asking(p name.Prefix, n name.Name, values map[string]string) (string, error) {
	parts := map[string]string{"name": n.Key(), "element": p.Element(n), "prefix": p.String()}
	value := func(label string) templateValue {
		if s, ok := parts[label]; ok {
			return stringValue(s)
		}
		if s, ok := values[label]; ok {
			return stringValue(s)
		}
		return templateValue{}
	}
	at, err := l.place.expand(parts, value)
	return at.URL, err
}

// Climbs reports whether a path could lead out of its directory, because a program could read one
// of its segments as "." or "..". Escaped dots count as dots, and backslashes as slashes.
func Climbs(path string) bool { return hasDots(path) }
