package mint

import (
	"errors"

	"github.com/nomen-project/nomen/namespace"
	"github.com/nomen-project/nomen/urn"
)

// rules has the rules of URN namespaces. Names of namespaces without rules, and of other schemes,
// are always valid.
type rules struct{ catalogue namespace.Catalogue }

var errNoCheck = errors.New("the namespace has no check characters; use {check:noid}, {check:luhn} or {check:mod97}")

func (r rules) judge(spelling string) *namespace.Finding {
	u, err := urn.Parse(spelling)
	if err != nil {
		return nil // not a URN
	}
	n, _ := r.catalogue.Lookup(u.NID())
	return n.Check(u.NSS())
}

func (r rules) canonical(spelling string) string {
	u, err := urn.Parse(spelling)
	if err != nil || u.Assigned() != u {
		return spelling // not a URN, or a URN with components
	}
	return r.catalogue.Canonical(u)
}

// right returns the correct check characters if f is about wrong check characters. Otherwise it
// returns "".
func right(f *namespace.Finding) string {
	if f == nil || f.Code != namespace.CodeCheckDigit {
		return ""
	}
	return f.Right
}

const maxCheckWidth = 2

// checked returns the check characters that the namespace requires after spelling.
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

// demands reports whether the namespace requires the last character of a name to be a check
// character.
func (r rules) demands(spelling string) bool {
	body := spelling[:len(spelling)-1]
	return right(r.judge(body+"0")) != "" || right(r.judge(body+"1")) != ""
}
