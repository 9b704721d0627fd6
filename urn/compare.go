package urn

import (
	"cmp"
	"strings"
)

// Equivalent reports whether a and b are the same name by the rules of their
// common dialect. False does not prove that they identify different resources.
// URNs of different dialects are never equivalent. Equivalent does not allocate.
func Equivalent(a, b URN) bool {
	if !a.IsValid() || a.dialect != b.dialect {
		return false
	}
	if a.dialect != Draft1995 && (len(a.NSS()) != len(b.NSS()) || a.NSS() == b.NSS()) {
		return a.NSS() == b.NSS() && strings.EqualFold(a.NID(), b.NID())
	}
	return compareCanonical(a, b) == 0
}

// Compare orders URNs by the bytes of their canonical spellings, and URNs with the same
// canonical spelling by dialect. Zero URNs come first. The result for valid URNs is 0 if and
// only if they are [Equivalent]. Compare does not allocate.
func Compare(a, b URN) int {
	switch {
	case !a.IsValid() || !b.IsValid():
		return cmp.Compare(a.dialect, b.dialect)
	case a.s == b.s && a.dialect == b.dialect:
		return 0
	}
	return cmp.Or(compareCanonical(a, b), cmp.Compare(a.dialect, b.dialect))
}

func compareCanonical(a, b URN) int {
	x, y := a.canonicalFrom(0), b.canonicalFrom(0)
	for x.more() && y.more() {
		if c := cmp.Compare(x.next(), y.next()); c != 0 {
			return c
		}
	}
	return cmp.Compare(btoi(x.more()), btoi(y.more()))
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// A Comparer compares URNs for a purpose, with the additional rules of a
// namespace. The zero Comparer compares names by the general rules only.
type Comparer struct {
	Purpose Purpose

	// Fold maps the canonical spelling of an assigned name to a text. Names that their namespace
	// (in the draft of 1995, their authority) considers equivalent have the same text. The rules of
	// a namespace only add equivalences (2012, 5; RFC 8141, 3.1): names that are equivalent by the
	// general rules remain equivalent, even if Fold returns different texts; names of different
	// namespaces are never equivalent. If Fold is nil, no rules are added.
	Fold func(canonical string) string
}

// Equivalent reports whether a and b are equivalent for the purpose. It does not
// use the network and depends only on its arguments.
func (c Comparer) Equivalent(a, b URN) bool {
	if !a.IsValid() || a.dialect != b.dialect {
		return false
	}
	if !Equivalent(a, b) && !c.folds(a, b) {
		return false
	}
	return c.Purpose != PurposeCache || a.directiveKey() == b.directiveKey()
}

// folds reports whether the namespace of a and b considers them equivalent.
func (c Comparer) folds(a, b URN) bool {
	return c.Fold != nil && strings.EqualFold(a.NID(), b.NID()) && c.Fold(a.Canonical()) == c.Fold(b.Canonical())
}

// directiveKey returns the part of the key for [PurposeCache] that represents the directives.
func (u URN) directiveKey() string { return u.Key(PurposeCache)[len(u.Canonical()):] }
