package dialect

import "strings"

// An Inflection is the suffix of a request for the description of an ARK (draft-kunze-ark, section
// 5.2).
type Inflection string

// The inflections. Drafts before 2019 have only the first two.
const (
	NoInflection Inflection = ""
	Brief        Inflection = "?"
	Full         Inflection = "??"
	Info         Inflection = "?info" // the same as Full
)

// CutInflection splits a target into the part before its inflection and the inflection. If the
// query of the target is not an inflection, the second result is "".
func CutInflection(target string) (string, Inflection) {
	if i := strings.IndexByte(target, '?'); i >= 0 {
		switch end := Inflection(target[i:]); end {
		case Brief, Full, Info:
			return target[:i], end
		}
	}
	return target, NoInflection
}
