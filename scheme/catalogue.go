package scheme

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/nomen-project/nomen/uri"
)

// A Catalogue is a set of schemes. Its methods do not change it, so that it may
// be shared. The zero Catalogue is empty.
type Catalogue struct {
	list  []Scheme // in the order of names
	index []uint16 // hash table of positions in the list, plus one; its size is a power of two
}

// standard holds the schemes of IANA and those that are in use without
// registration. Nothing writes to it.
var standard = catalogueOf(merge(registered[:], slices.Concat(schemes1993(), schemesToday(), unregistered())))

// standardRules is what [Rules] returns.
var standardRules = slices.Clip(slices.Collect(standard.rules()))

// Standard returns the catalogue that the functions of this package use.
func Standard() Catalogue { return standard }

// Lookup returns the scheme with a name in any case. It does not allocate, and
// takes some tens of nanoseconds.
func Lookup(name string) (Scheme, bool) { return standard.Lookup(name) }

// Known reports whether there is a scheme with a name in any case: [Lookup] for
// those who ask for every word of a text.
func Known(name string) bool { return standard.Known(name) }

// All returns the schemes in the order of their names.
func All() iter.Seq[Scheme] { return standard.All() }

// Parts returns the named parts of u by the rules of its scheme; nil if that is
// not known or has none.
func Parts(u uri.URI) []Part { return standard.Parts(u) }

// AppendParts is [Parts] for those who have a slice already.
func AppendParts(dst []Part, u uri.URI) []Part { return standard.AppendParts(dst, u) }

// Check returns what is to be said about u by the rules of its scheme, in the
// order of offsets; see [Scheme.Check]. Of one that is not in the catalogue only
// what holds for all is said.
func Check(u uri.URI) []Finding { return standard.Check(u) }

// Canonical returns the one spelling of all that the scheme of u holds
// equivalent to it; see [Scheme.Canonical].
func Canonical(u uri.URI) uri.URI { return standard.Canonical(u) }

// Rules returns the normalisation rules of all schemes that have any, to be
// handed to [uri.URI.Normalize]. The slice is shared: it is to be read only.
func Rules() []uri.SchemeRules { return standardRules }

// Lookup is like the function [Lookup].
func (c Catalogue) Lookup(name string) (Scheme, bool) {
	if s := c.find(name); s != nil {
		return *s, true
	}
	return Scheme{}, false
}

// Known is like the function [Known].
func (c Catalogue) Known(name string) bool { return c.find(name) != nil }

// All is like the function [All].
func (c Catalogue) All() iter.Seq[Scheme] { return slices.Values(c.list) }

// Len returns the number of schemes.
func (c Catalogue) Len() int { return len(c.list) }

// of returns the scheme of u, or nil.
func (c Catalogue) of(u uri.URI) *Scheme {
	name, ok := u.Scheme()
	if !ok {
		return nil
	}
	return c.find(name)
}

// Parts is like the function [Parts].
func (c Catalogue) Parts(u uri.URI) []Part { return c.AppendParts(nil, u) }

// AppendParts is like the function [AppendParts].
func (c Catalogue) AppendParts(dst []Part, u uri.URI) []Part {
	s := c.of(u)
	switch {
	case s != nil && s.Rules.Parts != nil:
		return s.AppendParts(dst, u)
	case u.Dialect() == uri.Draft1993 && !u.IsReference():
		return partsGeneric(dst, u)
	}
	return dst
}

// maxNested bounds how many URIs inside of others are looked at.
const maxNested = 4

// Check is like the function [Check].
func (c Catalogue) Check(u uri.URI) []Finding {
	var found []Finding
	shift := 0
	for range maxNested {
		s := c.of(u)
		if s == nil {
			s = &Scheme{}
		}
		found = appendShifted(found, s.Check(u), shift)
		if s.Rules.Inner == nil {
			break
		}
		from, to, ok := s.Rules.Inner(u)
		if !ok {
			break
		}
		inner, err := u.Dialect().Parse(u.String()[from:to])
		if err != nil {
			break // for the scheme's own Check to tell
		}
		u, shift = inner, shift+from
	}
	return found
}

// appendShifted appends findings about a piece of a longer text.
func appendShifted(dst, found []Finding, by int) []Finding {
	if by == 0 && dst == nil {
		return found
	}
	for _, f := range found {
		f.Offset += by
		f.End += by
		dst = append(dst, f)
	}
	return dst
}

// Canonical is like the function [Canonical].
func (c Catalogue) Canonical(u uri.URI) uri.URI {
	if s := c.of(u); s != nil {
		return s.Canonical(u)
	}
	return u.Normalize(uri.LevelScheme)
}

// rules yields the normalisation rules, those that are asked for most often
// first, as they are looked through in order.
func (c Catalogue) rules() iter.Seq[uri.SchemeRules] {
	often := []string{"http", "https", "ftp"}
	return func(yield func(uri.SchemeRules) bool) {
		for _, name := range often {
			if s := c.find(name); s != nil && !yield(s.SchemeRules()) {
				return
			}
		}
		for i := range c.list {
			s := &c.list[i]
			if (s.DefaultPort != "" || s.RootPath) && !slices.Contains(often, s.Name) && !yield(s.SchemeRules()) {
				return
			}
		}
	}
}

// Rules returns the normalisation rules of all schemes of the catalogue.
func (c Catalogue) Rules() []uri.SchemeRules { return slices.Collect(c.rules()) }

// MaxName is the greatest length of the name of a scheme.
const MaxName = 64

// find returns the scheme with a name in any case, or nil.
func (c Catalogue) find(name string) *Scheme {
	if len(c.index) == 0 || len(name) > MaxName {
		return nil
	}
	mask := uint32(len(c.index) - 1)
	for slot := hashFold(name) & mask; c.index[slot] != 0; slot = (slot + 1) & mask {
		if s := &c.list[c.index[slot]-1]; equalFold(s.Name, name) {
			return s
		}
	}
	return nil
}

// hashFold is FNV-1a of the lower case of s.
func hashFold(s string) uint32 {
	h := uint32(2166136261)
	for i := range len(s) {
		h = (h ^ uint32(lower(s[i]))) * 16777619
	}
	return h ^ h>>15
}

// maxSchemes bounds a catalogue, whose positions are of 16 bits.
const maxSchemes = 1<<16 - 2

// catalogueOf makes a catalogue of schemes with different names.
func catalogueOf(list []Scheme) Catalogue {
	slices.SortFunc(list, func(a, b Scheme) int { return strings.Compare(a.Name, b.Name) })
	size := 64
	for size < 4*len(list) {
		size *= 2
	}
	c := Catalogue{list, make([]uint16, size)}
	for i := range list {
		slot := hashFold(list[i].Name) & uint32(size-1)
		for c.index[slot] != 0 {
			slot = (slot + 1) & uint32(size-1)
		}
		c.index[slot] = uint16(i + 1)
	}
	return c
}

// merge puts what the registry says of schemes beside what their files say. A
// file has the last word on title and reference.
func merge(records []record, ruled []Scheme) []Scheme {
	list := append(make([]Scheme, 0, len(records)+len(ruled)), ruled...)
	place := make(map[string]int, cap(list))
	for i := range list {
		if _, twice := place[list[i].Name]; twice {
			panic("scheme: internal error: two schemes are called " + list[i].Name)
		}
		place[list[i].Name] = i
	}
	for _, r := range records {
		i, ok := place[r.name]
		if !ok {
			i = len(list)
			list = append(list, Scheme{Name: r.name})
		}
		s := &list[i]
		s.Status, s.Template = r.status, r.template
		if s.Title == "" {
			s.Title = r.title
		}
		if s.Reference == "" {
			s.Reference = r.reference
		}
	}
	return list
}

// ErrReserved is the error of a registration of "urn", which is kept for names
// (1993, Registration of naming schemes).
var ErrReserved = errors.New("the scheme is reserved")

// ErrIncomplete is the error of a registration that lacks what it must have.
var ErrIncomplete = errors.New("incomplete registration")

// ErrName is the error of a name that no scheme can have.
var ErrName = errors.New("not the name of a scheme")

// Missing names the fields that a registration must fill and s does not: all
// need a name; those that are not experimental a title, a reference, and for
// locators the retrieval algorithm, for others the properties (1993,
// Registration of naming schemes).
func (s *Scheme) Missing() []string {
	var missing []string
	want := func(value, field string) {
		if value == "" {
			missing = append(missing, field)
		}
	}
	want(s.Name, "name")
	if IsExperimental(s.Name) {
		return missing
	}
	want(s.Title, "title")
	want(s.Reference, "reference")
	if s.Kind == KindName || s.Kind == KindOther {
		want(s.Properties, "properties")
	} else {
		want(s.Retrieval, "retrieval algorithm")
	}
	return missing
}

// IsExperimental reports whether a name is for experiments, by agreement between
// parties: whether it begins with "x-".
func IsExperimental(name string) bool { return len(name) > 2 && equalFold("x-", name[:2]) }

// IsName reports whether s may be the name of a scheme: a letter, then letters,
// digits, "+", "-" and "." (RFC 3986, 3.1; what the rule of 1993 derives beyond
// that would be read as something else).
func IsName(s string) bool {
	if s == "" || len(s) > MaxName || !isAlpha(s[0]) {
		return false
	}
	for i := range len(s) {
		if !isAlnum(s[i]) && s[i] != '+' && s[i] != '-' && s[i] != '.' {
			return false
		}
	}
	return true
}

// With returns a catalogue with s added, or in place of the scheme of the same
// name. It refuses what a registry would refuse: with [ErrName] a name that is
// none, with [ErrReserved] "urn", with [ErrIncomplete] what lacks a part of a
// registration, and an example of another scheme or one that breaks the rules.
// An experimental scheme needs its name only.
func (c Catalogue) With(s Scheme) (Catalogue, error) {
	s.Name = strings.ToLower(s.Name)
	if err := admit(&s); err != nil {
		return c, fmt.Errorf("scheme: %q: %w", s.Name, err)
	}
	if IsExperimental(s.Name) {
		s.Status = StatusExperimental
	}
	list := slices.DeleteFunc(slices.Clone(c.list), func(old Scheme) bool { return old.Name == s.Name })
	if len(list) >= maxSchemes {
		return c, fmt.Errorf("scheme: more than %d schemes", maxSchemes)
	}
	return catalogueOf(append(list, s)), nil
}

// admit says why a registration is refused.
func admit(s *Scheme) error {
	switch missing := s.Missing(); {
	case s.Name == "urn":
		return ErrReserved
	case !IsName(s.Name):
		return ErrName
	case len(missing) > 0:
		return fmt.Errorf("%w: no %s", ErrIncomplete, strings.Join(missing, ", no "))
	case s.Example == "":
		return nil
	}
	u, err := uri.Parse(s.Example)
	if err != nil {
		return fmt.Errorf("example: %w", err)
	}
	if name, _ := u.Scheme(); !equalFold(s.Name, name) {
		return fmt.Errorf("example: is of the scheme %q", name)
	}
	if err := FirstError(s.Check(u)); err != nil {
		return fmt.Errorf("example: %w", err)
	}
	return nil
}
