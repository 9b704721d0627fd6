package namespace

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/urn"
)

// A Catalogue is a set of namespaces. It is immutable and safe for concurrent use. The zero
// Catalogue is empty.
type Catalogue struct{ list []Namespace } // sorted by NID

// standard has the namespaces that were registered at IANA on 2026-07-28, and unregistered
// namespaces in use.
var standard = Catalogue{stated(slices.SortedFunc(slices.Values(slices.Concat(
	[]Namespace{
		cts, dev, dns, doi, eic, eidr, epc, gs1, gsma, ietf, isan, isbn, ismn, isni, iso,
		issn, lei, lex, mrn, nan, nbn, nir, oasis, oid, pp2, uuid,
	},
	smallNamespaces(), structuredNamespaces(), hashNamespaces(), opaqueNamespaces(),
)), byNID))}

// stated adds the [statement] about each namespace to the namespace.
func stated(list []Namespace) []Namespace {
	all := statements()
	for i, n := range list {
		list[i] = all[n.NID].with(n)
	}
	return list
}

func byNID(a, b Namespace) int { return strings.Compare(a.NID, b.NID) }

// Standard returns the catalogue of the namespaces in use, which the functions of this package use.
func Standard() Catalogue { return standard }

// Lookup returns the namespace with the given identifier, ignoring case, and reports whether there
// is one.
func Lookup(nid string) (Namespace, bool) { return standard.Lookup(nid) }

// All returns an iterator over the namespaces, sorted by identifier.
func All() iter.Seq[Namespace] { return standard.All() }

// Check checks u by the rules of its namespace and returns the findings, with errors first. It
// returns nil if the catalogue does not have the namespace. Offsets refer to [urn.URN.String]. For
// findings about the general syntax and the registries, use a [urn.Inspector].
func Check(u urn.URN) []Finding { return standard.Check(u) }

// Canonical returns the canonical spelling of u, without components. Names that are equivalent to
// u, by the general syntax or by the rules of the namespace, have the same canonical spelling.
func Canonical(u urn.URN) string { return standard.Canonical(u) }

// Fold is [Canonical] for a name that already has the canonical spelling of the general syntax. Use
// it as the Fold of a [urn.Comparer].
func Fold(canonical string) string { return standard.Fold(canonical) }

// Equivalent reports whether a and b are the same name by the general syntax or by the rules of
// their namespace. A false result does not prove that they identify different resources.
func Equivalent(a, b urn.URN) bool { return standard.Equivalent(a, b) }

// Suggest returns names that the user who typed s probably meant, with the likeliest first. For
// example, it corrects a wrong namespace or an ISBN with two digits swapped. It returns at most
// [MaxSuggestions] valid names other than s. The result is empty if s is a valid name in its
// preferred form, or if s is not similar to a valid name.
//
// A resolver can call Suggest for every name that it does not find, because its work is limited. It
// handles texts of up to 2,048 bytes, tries transpositions in strings of up to 64 bytes, and
// corrects up to 20 mistakes. It takes microseconds for typical texts, and less than a millisecond
// for the worst known texts (BenchmarkSuggest).
func Suggest(s string) []Suggestion { return standard.Suggest(s) }

// Lookup is the function [Lookup] for c.
func (c Catalogue) Lookup(nid string) (Namespace, bool) {
	if i, ok := c.find(nid); ok {
		return c.list[i], true
	}
	return Namespace{}, false
}

// find returns the index of a namespace and true. If the catalogue does not have the namespace, it
// returns the index at which to insert the namespace, and false.
func (c Catalogue) find(nid string) (int, bool) {
	low, high := 0, len(c.list)
	for low < high {
		middle := (low + high) / 2
		switch d := ascii.Compare(c.list[middle].NID, nid); {
		case d == 0:
			return middle, true
		case d < 0:
			low = middle + 1
		default:
			high = middle
		}
	}
	return low, false
}

// All is the function [All] for c.
func (c Catalogue) All() iter.Seq[Namespace] { return slices.Values(c.list) }

// With returns a copy of c with n added. If c has a namespace with the same identifier, n replaces
// it. With returns an error if n lacks a name, a reference or security considerations, if its
// identifier is invalid, or if its example is not a valid name of the namespace.
func (c Catalogue) With(n Namespace) (Catalogue, error) {
	n.NID = strings.ToLower(n.NID)
	if missing := n.Missing(); len(missing) > 0 {
		return c, fmt.Errorf("namespace: %q: incomplete registration: no %s", n.NID, strings.Join(missing, ", no "))
	}
	if _, err := (urn.Namespaces{}).With(n.record(urn.Namespaces{})); err != nil {
		return c, fmt.Errorf("namespace: %w", err)
	}
	if n.Example != "" {
		u, err := urn.Parse(n.Example)
		if err != nil {
			return c, fmt.Errorf("namespace: %q: example: %w", n.NID, err)
		}
		if !strings.EqualFold(u.NID(), n.NID) {
			return c, fmt.Errorf("namespace: %q: example: belongs to another namespace", n.NID)
		}
		if f := n.Check(u.NSS()); f != nil {
			return c, fmt.Errorf("namespace: %q: example: %w", n.NID, f)
		}
	}
	list := slices.Clone(c.list)
	i, ok := c.find(n.NID)
	if !ok {
		return Catalogue{slices.Insert(list, i, n)}, nil
	}
	list[i] = n
	return Catalogue{list}, nil
}

// Check is the function [Check] for c.
func (c Catalogue) Check(u urn.URN) []Finding {
	if !u.IsValid() {
		return nil
	}
	i, ok := c.find(u.NID())
	start := len("urn:") + len(u.NID()) + 1
	if !ok {
		return nil
	}
	n := &c.list[i]
	var found []Finding
	if f := n.Check(u.NSS()); f != nil {
		found = append(found, shifted(*f, start))
	} else if n.Rules.Lint != nil {
		for _, f := range n.Rules.Lint(u.NSS()) {
			found = append(found, shifted(f, start))
		}
	}
	if f, has := u.FComponent(); has && n.Fragment == UseNone {
		at := len(u.String()) - len(f) - 1
		found = append(found, remark(CodeComponent, at, len(u.String()), "f-component", "has no use in the namespace "+n.NID))
	}
	return found
}

func shifted(f Finding, delta int) Finding {
	f.Offset += delta
	f.End += delta
	return f
}

// Canonical is the function [Canonical] for c.
func (c Catalogue) Canonical(u urn.URN) string { return c.Fold(u.Canonical()) }

// Fold is the function [Fold] for c.
func (c Catalogue) Fold(canonical string) string {
	nid, nss, _ := strings.Cut(strings.TrimPrefix(canonical, "urn:"), ":")
	i, ok := c.find(nid)
	if !ok || c.list[i].Rules.Canonical == nil {
		return canonical
	}
	if folded := c.list[i].Canonical(nss); folded != nss {
		return "urn:" + nid + ":" + folded
	}
	return canonical
}

// Equivalent is the function [Equivalent] for c.
func (c Catalogue) Equivalent(a, b urn.URN) bool { return urn.Comparer{Fold: c.Fold}.Equivalent(a, b) }

// Registry returns the namespaces as a [urn.Namespaces].
func (c Catalogue) Registry() (urn.Namespaces, error) {
	iana := urn.IANANamespaces()
	records := make([]urn.Namespace, 0, len(c.list))
	for _, n := range c.list {
		records = append(records, n.record(iana))
	}
	return urn.Namespaces{}.With(records...)
}
