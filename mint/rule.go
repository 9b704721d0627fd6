package mint

import (
	"errors"

	"github.com/nomen-project/nomen/namespace"
	"github.com/nomen-project/nomen/urn"
)

// rules judge names as their URN namespaces do; names of other schemes, and of
// namespaces without rules, are good.
type rules struct{ catalogue namespace.Catalogue }

// errNoCheck refuses {check} in a namespace whose rule wants none.
var errNoCheck = errors.New("the namespace has no check characters; there are {check:noid}, {check:luhn} and {check:mod97}")

// judge returns why a spelling is refused, nil if it is good.
func (r rules) judge(spelling string) *namespace.Finding {
	u, err := urn.Parse(spelling)
	if err != nil {
		return nil // not a URN
	}
	n, _ := r.catalogue.Lookup(u.NID())
	return n.Check(u.NSS())
}

// canonical returns the spelling that a namespace prefers.
func (r rules) canonical(spelling string) string {
	u, err := urn.Parse(spelling)
	if err != nil || u.Assigned() != u {
		return spelling // not a URN, or more than a name
	}
	return r.catalogue.Canonical(u)
}

// right returns the check characters that should stand at the end of what was
// judged, if only they are wrong.
func right(f *namespace.Finding) string {
	if f == nil || f.Code != namespace.CodeCheckDigit {
		return ""
	}
	return f.Right
}

// The check characters of a namespace are one or two.
const maxCheckWidth = 2

// checked returns the check characters that the namespace wants after spelling.
func (r rules) checked(spelling string) (string, error) {
	var first error
	for width := 1; width <= maxCheckWidth; width++ {
		f := r.judge(spelling + "00"[:width])
		switch {
		case f == nil && r.judge(spelling+"11"[:width]) == nil:
			return "", errNoCheck
		case f == nil:
			return "00"[:width], nil
		case len(right(f)) == width:
			return f.Right, nil
		case first == nil:
			first = f
		}
	}
	return "", first
}

// demands reports whether the last character of a name is a check that depends
// on those before it.
func (r rules) demands(spelling string) bool {
	body := spelling[:len(spelling)-1]
	return right(r.judge(body+"0")) != "" || right(r.judge(body+"1")) != ""
}
