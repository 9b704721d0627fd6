package scheme

import (
	"cmp"
	_ "embed" // the registry
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/internal/tsv"
	"github.com/nomen-project/nomen/scheme/internal/layout"
	"github.com/nomen-project/nomen/uri"
)

// A Catalogue is an immutable set of schemes, safe for concurrent use. The zero
// Catalogue is empty.
type Catalogue struct {
	list  []Scheme // sorted by name
	index []uint16 // hash table of the schemes: each element is a position in list plus one, or 0; the length is a power of two
	rules []uri.SchemeRules
}

// registered has a line for each scheme of the IANA registry: its name, status,
// title, reference and template.
//
//go:embed schemes.tsv
var registered string

// standard builds the catalogue once.
var standard = sync.OnceValue(func() Catalogue {
	c := Catalogue{list: unregistered()}
	for row := range tsv.Rows(registered) {
		status, _ := ParseStatus(row[1])
		c.list = append(c.list, Scheme{Name: row[0], Status: status, Title: row[2], Reference: row[3], Template: row[4]})
	}
	return catalogueOf(c.merge(ruled()))
})

// Standard returns the schemes registered at IANA and unregistered schemes in
// wide use. It has the rules of the schemes that the drafts name. Package
// scheme/extra has the rules of the other schemes.
func Standard() Catalogue { return standard() }

// Lookup returns the scheme with the given name, ignoring case. It does not
// allocate.
func (c Catalogue) Lookup(name string) (Scheme, bool) {
	if s := c.find(name); s != nil {
		return *s, true
	}
	return Scheme{}, false
}

// Known reports whether a scheme with the given name exists, ignoring case. It
// is cheap enough to call for every word of a text.
func (c Catalogue) Known(name string) bool { return c.find(name) != nil }

// All returns the schemes sorted by name.
func (c Catalogue) All() iter.Seq[Scheme] { return slices.Values(c.list) }

// Len returns the number of schemes.
func (c Catalogue) Len() int { return len(c.list) }

// of returns the scheme of u, or nil if it is unknown.
func (c Catalogue) of(u uri.URI) *Scheme {
	name, ok := u.Scheme()
	if !ok {
		return nil
	}
	return c.find(name)
}

// Parts returns the named parts of u according to its scheme, or nil if the
// scheme is unknown or defines none.
func (c Catalogue) Parts(u uri.URI) []Part { return c.AppendParts(nil, u) }

// AppendParts is like [Catalogue.Parts] and appends to dst.
func (c Catalogue) AppendParts(dst []Part, u uri.URI) []Part {
	s := c.of(u)
	switch {
	case s != nil && s.Rules.Parts != nil:
		return s.appendParts(dst, u)
	case u.Dialect() == uri.Draft1993 && !u.IsReference():
		return layout.Generic(dst, u)
	}
	return dst
}

// maxNested is the greatest depth of URIs inside URIs that Check inspects.
const maxNested = 4

// Check returns the findings about u according to its scheme, sorted by offset;
// see [Scheme.Check]. For an unknown scheme it applies only the checks that all
// schemes share.
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
			break // the Check of the outer scheme reports this finding
		}
		u, shift = inner, shift+from
	}
	return found
}

// appendShifted appends the findings about a substring. It adds the offset of the substring in the
// whole text to their offsets.
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

// Canonical returns the canonical form of u: the one spelling that stands for all spellings that
// the scheme considers equivalent; see [Scheme.Canonical].
func (c Catalogue) Canonical(u uri.URI) uri.URI {
	if s := c.of(u); s != nil {
		return s.Canonical(u)
	}
	return u.Normalize(uri.LevelScheme)
}

// KindOf reports whether u is a name, a locator or something else, if the scheme of u defines that.
// Names, locators and all others are URIs (1993, Registration of naming schemes).
func (c Catalogue) KindOf(u uri.URI) Kind {
	if s := c.of(u); s != nil {
		return s.Kind
	}
	return KindUnstated
}

// Rules returns the normalisation rules of all schemes that have any, for use
// with [uri.URI.Normalize]. The slice is shared and must not be modified.
func (c Catalogue) Rules() []uri.SchemeRules { return c.rules }

// collectRules returns the normalisation rules, ordered so that the most frequently used come
// first, because they are searched in this order.
func (c Catalogue) collectRules() []uri.SchemeRules {
	often := []string{"http", "https", "ftp"}
	var rules []uri.SchemeRules
	for _, name := range often {
		if s := c.find(name); s != nil {
			rules = append(rules, s.schemeRules())
		}
	}
	for i := range c.list {
		s := &c.list[i]
		if (s.DefaultPort != "" || s.RootPath) && !slices.Contains(often, s.Name) {
			rules = append(rules, s.schemeRules())
		}
	}
	return slices.Clip(rules)
}

// maxName is the maximum length of a scheme name, in bytes.
const maxName = 64

// find returns the scheme with the given name, ignoring case, or nil.
func (c Catalogue) find(name string) *Scheme {
	if len(c.index) == 0 || len(name) > maxName {
		return nil
	}
	mask := uint32(len(c.index) - 1)
	for slot := hashFold(name) & mask; c.index[slot] != 0; slot = (slot + 1) & mask {
		if s := &c.list[c.index[slot]-1]; ascii.EqualFold(s.Name, name) {
			return s
		}
	}
	return nil
}

// hashFold returns the FNV-1a hash of s in lower case.
func hashFold(s string) uint32 {
	h := uint32(2166136261)
	for i := range len(s) {
		h = (h ^ uint32(ascii.Lower(s[i]))) * 16777619
	}
	return h ^ h>>15
}

// maxSchemes is the maximum size of a catalogue; positions have 16 bits.
const maxSchemes = 1<<16 - 2

// catalogueOf returns a catalogue of the schemes, whose names must be distinct.
func catalogueOf(list []Scheme) Catalogue {
	slices.SortFunc(list, func(a, b Scheme) int { return strings.Compare(a.Name, b.Name) })
	size := 64
	for size < 4*len(list) {
		size *= 2
	}
	c := Catalogue{list: list, index: make([]uint16, size)}
	for i := range list {
		slot := hashFold(list[i].Name) & uint32(size-1)
		for c.index[slot] != 0 {
			slot = (slot + 1) & uint32(size-1)
		}
		c.index[slot] = uint16(i + 1)
	}
	c.rules = c.collectRules()
	return c
}

// ErrReserved means that a registration uses "urn", which is reserved for names
// (1993, Registration of naming schemes).
var ErrReserved = errors.New("scheme name is reserved")

// ErrIncomplete means that a registration lacks a required field.
var ErrIncomplete = errors.New("incomplete registration")

// ErrName means that a string is not a valid scheme name.
var ErrName = errors.New("invalid scheme name")

// Missing returns the names of the required fields that s leaves empty. A name
// is always required. A scheme that is not experimental also requires a title
// and a reference; a locator requires the retrieval algorithm, and any other
// kind the properties (1993, Registration of naming schemes).
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

// IsExperimental reports whether name is reserved for experiments, which means
// that it begins with "x-".
func IsExperimental(name string) bool { return len(name) > 2 && ascii.EqualFold("x-", name[:2]) }

// IsName reports whether s is a valid scheme name: a letter followed by letters, digits, "+", "-"
// and "." (RFC 3986, 3.1). The grammar of the draft of 1993 allows further names. IsName rejects
// them, because they would be misread.
func IsName(s string) bool {
	if s == "" || len(s) > maxName || !ascii.IsLetter(s[0]) {
		return false
	}
	for i := range len(s) {
		if !ascii.IsAlnum(s[i]) && s[i] != '+' && s[i] != '-' && s[i] != '.' {
			return false
		}
	}
	return true
}

// With returns a copy of the catalogue with the schemes of list added. A scheme in list replaces the
// scheme of the same name. If the title, reference, template or status of the new scheme is empty,
// it is copied from the replaced scheme. With returns one of these errors:
//
//   - [ErrName] for an invalid name;
//   - [ErrReserved] for "urn";
//   - [ErrIncomplete] if a required field is empty; an experimental scheme needs only a name;
//   - another error if the example belongs to another scheme, or violates the rules of the new one.
func (c Catalogue) With(list ...Scheme) (Catalogue, error) {
	all := c.merge(list)
	for i := range all {
		if s := &all[i]; slices.ContainsFunc(list, func(new Scheme) bool { return ascii.EqualFold(new.Name, s.Name) }) {
			if err := admit(s); err != nil {
				return c, fmt.Errorf("scheme: %q: %w", s.Name, err)
			}
		}
	}
	if len(all) > maxSchemes {
		return c, fmt.Errorf("scheme: too many schemes (limit %d)", maxSchemes)
	}
	return catalogueOf(all), nil
}

// merge returns the schemes of the catalogue and of list. A scheme in list replaces a scheme of the
// same name in the catalogue.
func (c Catalogue) merge(list []Scheme) []Scheme {
	all := slices.Clone(c.list)
	for _, s := range list {
		s.Name = strings.ToLower(s.Name)
		at := slices.IndexFunc(all, func(old Scheme) bool { return old.Name == s.Name })
		if at < 0 {
			all = append(all, s)
			continue
		}
		s.inherit(&all[at])
		all[at] = s
	}
	return all
}

// inherit sets each empty field of s to the value of that field in old.
func (s *Scheme) inherit(old *Scheme) {
	s.Title = cmp.Or(s.Title, old.Title)
	s.Reference = cmp.Or(s.Reference, old.Reference)
	s.Template = cmp.Or(s.Template, old.Template)
	s.Status = cmp.Or(s.Status, old.Status)
}

// admit returns an error if a registration is invalid. If the scheme is experimental, admit sets
// its status.
func admit(s *Scheme) error {
	if IsExperimental(s.Name) {
		s.Status = StatusExperimental
	}
	switch missing := s.Missing(); {
	case s.Name == "urn":
		return ErrReserved
	case !IsName(s.Name):
		return ErrName
	case len(missing) > 0:
		return fmt.Errorf("%w: missing %s", ErrIncomplete, strings.Join(missing, ", "))
	case s.Example == "":
		return nil
	}
	u, err := uri.Parse(s.Example)
	if err != nil {
		return fmt.Errorf("example: %w", err)
	}
	if name, _ := u.Scheme(); !ascii.EqualFold(s.Name, name) {
		return fmt.Errorf("example: unexpected scheme %q", name)
	}
	if err := FirstError(s.Check(u)); err != nil {
		return fmt.Errorf("example: %w", err)
	}
	return nil
}
