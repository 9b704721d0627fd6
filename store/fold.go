package store

import (
	"strings"

	"github.com/nomen-project/nomen/name"
)

// Fold returns n with its element in lower case if the authority a folds case, and otherwise n
// itself. The authority a must be nil or the authority of n. A nil authority does not fold case.
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
