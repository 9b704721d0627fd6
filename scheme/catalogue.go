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

// A Catalogue is a set of schemes. It is immutable and safe for concurrent use. The zero Catalogue
// is empty.
type Catalogue struct {
	list  []Scheme // sorted by name
	index []uint16 // hash table with a power of two elements: each is a position in list plus 1, or 0 if it is empty
	rules []uri.SchemeRules
}

// registered is the IANA registry. Each line has the name, status, title, reference and template of
// a scheme.
//
//go:embed schemes.tsv
var registered string

var standard = sync.OnceValue(func() Catalogue {
	c := Catalogue{list: unregistered()}
	for row := range tsv.Rows(registered) {
		status, _ := ParseStatus(row[1])
		c.list = append(c.list, Scheme{Name: row[0], Status: status, Title: row[2], Reference: row[3], Template: row[4]})
	}
	return catalogueOf(c.merge(ruled()))
})

// Standard returns the catalogue of schemes that are registered at IANA or in wide use. Only the
// schemes listed in the package comment have rules in this catalogue. Package scheme/extra has the
// rules of other schemes.
func Standard() Catalogue { return standard() }

// Lookup returns the scheme with the given name, ignoring case, and reports whether the catalogue
// has such a scheme. It does not allocate.
func (c Catalogue) Lookup(name string) (Scheme, bool) {
	if s := c.find(name); s != nil {
		return *s, true
	}
	return Scheme{}, false
}

// Known reports whether the catalogue has a scheme with the given name, ignoring case. It is fast
// enough to call for every word of a text.
func (c Catalogue) Known(name string) bool { return c.find(name) != nil }

// All returns an iterator over the schemes, sorted by name.
func (c Catalogue) All() iter.Seq[Scheme] { return slices.Values(c.list) }

// Len returns the number of schemes.
func (c Catalogue) Len() int { return len(c.list) }

func (c Catalogue) of(u uri.URI) *Scheme {
	name, ok := u.Scheme()
	if !ok {
		return nil
	}
	return c.find(name)
}

// Parts splits u into the parts that its scheme names, such as the directory of an FTP URL. It
// returns nil if the scheme is unknown or names no parts.
func (c Catalogue) Parts(u uri.URI) []Part { return c.AppendParts(nil, u) }

// AppendParts is like [Catalogue.Parts], but appends the parts to dst.
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

// maxNested is the maximum number of nested URIs that Check inspects, including the outer URI.
const maxNested = 4

// Check checks u by the rules of its scheme, and returns the findings as [Scheme.Check] does. If
// the scheme is unknown, Check only applies the rules that all schemes share.
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
			break // the outer scheme reports this
		}
		u, shift = inner, shift+from
	}
	return found
}

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

// Canonical returns the canonical form of u, which is the same for all URIs that the scheme
// considers equivalent; see [Scheme.Canonical].
func (c Catalogue) Canonical(u uri.URI) uri.URI {
	if s := c.of(u); s != nil {
		return s.Canonical(u)
	}
	return u.Normalize(uri.LevelScheme)
}

// KindOf reports whether u is a name, a locator or something else, according to the scheme of u.
// KindOf returns [KindUnstated] if the catalogue does not have the scheme or does not state its
// kind (draft of 1993, section "Registration of naming schemes").
func (c Catalogue) KindOf(u uri.URI) Kind {
	if s := c.of(u); s != nil {
		return s.Kind
	}
	return KindUnstated
}

// Rules returns the normalisation rules of all schemes, for [uri.URI.Normalize]. The slice is
// shared and must not be modified.
func (c Catalogue) Rules() []uri.SchemeRules { return c.rules }

// collectRules returns the rules for [uri.URI.Normalize], which searches them in order. Therefore
// the most common schemes come first.
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

const maxName = 64

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

func hashFold(s string) uint32 {
	h := uint32(2166136261)
	for i := range len(s) {
		h = (h ^ uint32(ascii.Lower(s[i]))) * 16777619
	}
	return h ^ h>>15
}

// maxSchemes is the maximum number of schemes, whose positions must fit into 16 bits.
const maxSchemes = 1<<16 - 2

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

// ErrReserved means that the name of a new scheme is "urn", which is reserved for names (draft of
// 1993, section "Registration of naming schemes").
var ErrReserved = errors.New("scheme name is reserved")

// ErrIncomplete means that a required field of a new scheme is empty.
var ErrIncomplete = errors.New("incomplete registration")

// ErrName means that the name of a new scheme is not valid.
var ErrName = errors.New("invalid scheme name")

// Missing returns the names of the fields that a registration requires and s leaves empty (draft of
// 1993, section "Registration of naming schemes"). An experimental scheme only requires a name. All
// other schemes also require a title, a reference, and one of the fields Retrieval and Properties.
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

// IsExperimental reports whether name begins with "x-" and is thus reserved for experiments.
func IsExperimental(name string) bool { return len(name) > 2 && ascii.EqualFold("x-", name[:2]) }

// IsName reports whether s is a valid scheme name, which is a letter followed by letters, digits,
// "+", "-" and "." (RFC 3986, section 3.1). The grammar of the draft of 1993 also allows other
// names, which IsName rejects because they could be mistaken for other text.
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

// With returns a copy of the catalogue with the schemes of list added. A scheme in list replaces a
// scheme with the same name. If its title, reference, template or status is empty, the value of the
// replaced scheme is kept. The error is
//
//   - [ErrName] for an invalid name;
//   - [ErrReserved] for "urn";
//   - [ErrIncomplete] if a required field is empty; see [Scheme.Missing];
//   - another error if the example is not a valid URI of the scheme.
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

// inherit sets the title, reference, template and status of s to those of old if they are empty.
func (s *Scheme) inherit(old *Scheme) {
	s.Title = cmp.Or(s.Title, old.Title)
	s.Reference = cmp.Or(s.Reference, old.Reference)
	s.Template = cmp.Or(s.Template, old.Template)
	s.Status = cmp.Or(s.Status, old.Status)
}

// admit returns an error if s is not a valid registration. It sets the status of an experimental
// scheme.
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
