package urn

import (
	"cmp"
	"strings"
)

// Equivalent reports whether a and b are the same name by the rules of their dialect. URNs that are
// not equivalent may still identify the same resource. URNs of different dialects are never
// equivalent. Equivalent does not allocate.
func Equivalent(a, b URN) bool {
	if !a.IsValid() || a.dialect != b.dialect {
		return false
	}
	if a.dialect != Draft1995 && (len(a.NSS()) != len(b.NSS()) || a.NSS() == b.NSS()) {
		return a.NSS() == b.NSS() && strings.EqualFold(a.NID(), b.NID())
	}
	return compareCanonical(a, b) == 0
}

// Compare orders URNs by their canonical spellings, and then by dialect. The zero URN comes first.
// For valid URNs the result is 0 exactly if they are [Equivalent]. Compare does not allocate.
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

// A Comparer compares URNs for a purpose, and by the rules of their namespaces. The zero Comparer
// uses only the general rules of the dialect.
type Comparer struct {
	Purpose Purpose

	// Fold returns a text that is the same for all names that a namespace (in the draft of 1995, an
	// authority) considers equivalent. Its argument is the canonical spelling of an assigned name.
	//
	// Namespaces can only add equivalences to the general rules (draft of 2012, section 5; RFC
	// 8141, section 3.1). If names are equivalent by the general rules, Fold cannot make them
	// different. Names of different namespaces are never equivalent. If Fold is nil, only the
	// general rules apply.
	Fold func(canonical string) string
}

// Equivalent reports whether a and b are equivalent for the purpose. The result depends only on the
// arguments and does not need the network.
func (c Comparer) Equivalent(a, b URN) bool {
	if !a.IsValid() || a.dialect != b.dialect {
		return false
	}
	if !Equivalent(a, b) && !c.folds(a, b) {
		return false
	}
	return c.Purpose != PurposeCache || a.directiveKey() == b.directiveKey()
}

func (c Comparer) folds(a, b URN) bool {
	return c.Fold != nil && strings.EqualFold(a.NID(), b.NID()) && c.Fold(a.Canonical()) == c.Fold(b.Canonical())
}

func (u URN) directiveKey() string { return u.Key(PurposeCache)[len(u.Canonical()):] }
