package store

import (
	"strings"

	"github.com/nomen-project/nomen/name"
)

// Fold returns n with its element in lower case if a, which must cover n, folds case.
// Otherwise, and if a is nil, it returns n.
func (a *Authority) Fold(n name.Name) name.Name {
	if a == nil || !a.FoldCase {
		return n
	}
	folded, err := a.Prefix.Join(strings.ToLower(a.Prefix.Element(n)))
	if err != nil {
		return n
	}
	return folded
}
