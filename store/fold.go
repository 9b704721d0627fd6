package store

import (
	"strings"

	"github.com/nomen-project/nomen/name"
)

// Fold returns n with its element in lower case if the authority a folds case. Otherwise, or if a
// is nil, it returns n unchanged. If a is not nil, it must be the authority of n.
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
