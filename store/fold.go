package store

import (
	"strings"

	"github.com/nomen-project/nomen/name"
)

// If the authority a folds case, Fold returns the name n with its element in lower case. If a does
// not fold case or is nil, Fold returns n. If a is not nil, it must be the authority of n.
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
