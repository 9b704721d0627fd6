package urn

import (
	"errors"
	"fmt"
	"iter"
	"strings"
)

// ErrUnknownRule means that the dialect does not have the given production.
var ErrUnknownRule = errors.New("unknown production")

// CheckRule checks that all of s matches a production of the dialect, such as NID, NSS, keywd or
// r-component. The parameter rule is the name of the production in the document, which is
// case-sensitive. If s does not match, the error is an [*Error]. If the production is unknown, the
// error wraps [ErrUnknownRule].
//
// CheckRule also applies restrictions that only the prose of the documents has. The draft of 2012
// does not allow NUL. Neither that draft nor RFC 2141 allows the NID "urn". An r-component cannot
// contain "?=".
func (d Dialect) CheckRule(rule, s string) error {
	if len(s) > MaxLength {
		return d.fail(s, MaxLength, rule, "longer than %d bytes", MaxLength)
	}
	for _, p := range productions(d) {
		if p.name != rule {
			continue
		}
		if err := p.check(d, s); err != nil {
			err.Input = s
			if err.Rule == "" {
				err.Rule = rule
			}
			return err
		}
		return nil
	}
	return fmt.Errorf("urn: %q in dialect %s: %w", rule, d, ErrUnknownRule)
}

// Rules returns an iterator over the names that [Dialect.CheckRule] accepts, in the order of the
// document.
func (d Dialect) Rules() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, p := range productions(d) {
			if !yield(p.name) {
				return
			}
		}
	}
}

// A production is a named rule of a document. If the check returns an error without a rule, the
// rule is the production itself.
type production struct {
	name  string
	check func(d Dialect, s string) *Error
}

func productions(d Dialect) []production {
	switch d {
	case Draft1995:
		return productions1995()
	case RFC2141:
		return productions2141()
	case Draft2012:
		return productions2012()
	case RFC8141:
		return productions8141()
	}
	return nil
}

const (
	upperAlpha = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	lowerAlpha = "abcdefghijklmnopqrstuvwxyz"
	digits     = "0123456789"
	subDelims  = "!$&'()*+,;="
)

// productions1995 returns the productions in the prose of the draft of 1995, and in RFC 952, RFC
// 1123 and RFC 1738.
func productions1995() []production {
	return []production{
		{"freestanding", checkWhole},
		{"urn95", bare1995},
		{"SchemeID", parted(checkSchemeID)},
		{"AuthorityID", parted(checkFQDN)},
		{"fqdn", parted(checkFQDN)},
		{"label", checkLabel},
		{"let-dig", octet(classAlnum)},
		{"let-dig-hyp", octet(classLDH)},
		{"ElementID", parted(checkElementID)},
		{"unreserved", octet(classPlain)},
		{"escape", escapes},
	}
}

// productions2141 returns the productions of RFC 2141, section 2.
func productions2141() []production {
	return []production{
		{"URN", checkWhole},
		{"NID", checkNID},
		{"let-num-hyp", octet(classLDH)},
		{"let-num", octet(classAlnum)},
		{"upper", oneOf(upperAlpha)},
		{"lower", oneOf(lowerAlpha)},
		{"number", oneOf(digits)},
		{"NSS", Dialect.checkNSS},
		{"URN chars", characters(classTrans, 1)},
		{"trans", oneOf(upperAlpha + lowerAlpha + digits + "()+,-.:=@;$_!*'%/?#")},
		{"hex", octet(classHex)},
		{"other", oneOf("()+,-.:=@;$_!*'")},
		{"reserved", oneOf("%/?#")},
		{"excluded", excluded(1, "\\\"&<>[]^`{|}~")},
	}
}

// productions2012 returns the productions of the draft of 2012, section 2.
func productions2012() []production {
	return []production{
		{"namestring", checkWhole},
		{"assigned-urn", checkAssigned},
		{"scheme", checkScheme},
		{"urn-path", inside("urn:", checkAssigned)},
		{"NID", checkNID},
		{"NSS", Dialect.checkNSS},
		{"urn-query", checkQuery},
		{"directive", checkDirective},
		{"keywd", checkKeyword},
		{"value", characters(classValue|noNUL, anyNumber)},
		{"v-pchar", characters(classValue|noNUL, 1)},
		{"v-subdels", oneOf("!$'()*+,;=:@/?")},
		{"fragment", characters(classQuery|noNUL, anyNumber)},
		{"pchar", characters(classPchar|noNUL, 1)},
		{"unreserved", octet(classUnreserved)},
		{"pct-encoded", escapes},
		{"sub-delims", oneOf(subDelims)},
		{"gen-delims", oneOf(":/?#[]@")},
		{"excluded", excluded(0, "\"#%/<>?[\\]^`{|}")},
	}
}

// productions8141 returns the productions of RFC 8141, sections 2 and 5.2.
func productions8141() []production {
	return []production{
		{"namestring", checkWhole},
		{"assigned-name", checkAssigned},
		{"NID", checkNID},
		{"ldh", octet(classLDH)},
		{"NSS", Dialect.checkNSS},
		{"rq-components", checkComponents},
		{"r-component", announced("?+", "r-component")},
		{"q-component", announced("?=", "q-component")},
		{"f-component", characters(classQuery, anyNumber)},
		{"fragment", characters(classQuery, anyNumber)},
		{"alphanum", octet(classAlnum)},
		{"pchar", characters(classPchar, 1)},
		{"unreserved", octet(classUnreserved)},
		{"pct-encoded", escapes},
		{"sub-delims", oneOf(subDelims)},
		{"InformalNamespaceName", checkInformal},
		{"Number", checkNumber},
		{"DigitNonZero", oneOf("123456789")},
		{"Digit", oneOf(digits)},
	}
}

func checkWhole(d Dialect, s string) *Error {
	var u URN
	return u.read(d, s)
}

func checkAssigned(d Dialect, s string) *Error {
	var u URN
	err := u.read(d, s)
	if err == nil && int(u.nss) < len(u.s) {
		return d.fail(s, int(u.nss), "", "an assigned name ends before %s", found(s, int(u.nss)))
	}
	return err
}

// inside returns a check that applies the parameter check to the text with a prefix put before it.
func inside(prefix string, check func(Dialect, string) *Error) func(Dialect, string) *Error {
	return func(d Dialect, s string) *Error {
		err := check(d, prefix+s)
		if err != nil {
			err.Offset = max(err.Offset-len(prefix), 0)
		}
		return err
	}
}

// bare1995 checks a URN without angle brackets, which [URN.read] would accept.
func bare1995(d Dialect, s string) *Error {
	if open, end := bounds1995(s); open < end && s[open] == '<' {
		return d.fail(s, open, "", "contains %s", found(s, open))
	}
	return checkWhole(d, s)
}

// parted converts a function of the parser to a check of a production.
func parted(check func(string) (int, string)) func(Dialect, string) *Error {
	return func(d Dialect, s string) *Error {
		if at, message := check(s); message != "" {
			return d.fail(s, at, "", "%s", message)
		}
		return nil
	}
}

// checkLabel checks a label of an fqdn, which may be a number.
func checkLabel(d Dialect, s string) *Error {
	at := strings.IndexByte(s, '.')
	if at >= 0 {
		return d.fail(s, at, "", "contains %s", found(s, at))
	}
	if s != "" && strings.Trim(s, digits) == "" && len(s) <= maxLabel {
		return nil
	}
	return parted(checkFQDN)(d, s)
}

func checkNID(d Dialect, s string) *Error {
	n := scanLDH(s, 0)
	switch {
	case n < len(s):
		return d.fail(s, n, "", "contains %s", found(s, n))
	case s == "":
		return d.fail(s, 0, "", "empty")
	case d.goodNID(s):
		return nil
	}
	return inside("urn:", func(d Dialect, s string) *Error { return d.failNID(s+":", len(s)) })(d, s)
}

func checkScheme(d Dialect, s string) *Error {
	if !isURN(s) {
		return d.fail(s, min(urnOffset(s), 3), "", `must be "urn"`)
	}
	return nil
}

func checkQuery(d Dialect, s string) *Error {
	return inside("urn:aa:a?", checkUnfragmented)(d, s)
}

func checkUnfragmented(d Dialect, s string) *Error {
	if i := strings.IndexByte(s, '#'); i >= 0 {
		return d.fail(s, i, "", "contains %s", found(s, i))
	}
	return checkWhole(d, s)
}

func checkDirective(d Dialect, s string) *Error {
	end, err := scanDirective(s, 0)
	if err == nil && end < len(s) {
		err = d.failAt(s, end, "value")
	}
	return err
}

func checkKeyword(d Dialect, s string) *Error {
	if end := scanKeyword(s, 0); s == "" || end < len(s) {
		return d.fail(s, end, "", "contains %s", found(s, end))
	}
	return nil
}

func checkComponents(d Dialect, s string) *Error {
	if s != "" && s[0] != '?' {
		return d.fail(s, 0, "", "begins with %s", found(s, 0))
	}
	return inside("urn:aa:a", checkUnfragmented)(d, s)
}

// announced returns a check of an r- or q-component without its prefix "?+" or "?=".
func announced(prefix, rule string) func(Dialect, string) *Error {
	return inside(prefix, func(d Dialect, s string) *Error {
		end, err := scanComponent(s, 0, rule)
		switch {
		case err == nil && strings.HasPrefix(s[end:], "?="):
			err = d.fail(s, end, rule, `"?=" ends an r-component and begins a q-component`)
		case err == nil && end < len(s):
			err = d.failAt(s, end, rule)
		}
		return err
	})
}

// checkInformal checks an InformalNamespaceName, "urn-" Number.
func checkInformal(d Dialect, s string) *Error {
	const prefix = "urn-"
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return d.fail(s, 0, "", `must begin with "urn-"`)
	}
	err := checkNumber(d, s[len(prefix):])
	if err != nil {
		err.Offset += len(prefix)
	}
	return err
}

// checkNumber checks a Number. It must fit into an NID of the form "urn-" Number.
func checkNumber(d Dialect, s string) *Error {
	const most = maxNID - len("urn-")
	switch n := len(s) - len(strings.TrimLeft(s, digits)); {
	case n < len(s) || s == "" || s[0] == '0':
		if s != "" && s[0] == '0' {
			n = 0
		}
		return d.fail(s, n, "", "must be digits without a leading zero")
	case n > most:
		return d.fail(s, most, "", "the NID must have at most %d characters", maxNID)
	}
	return nil
}

const anyNumber = -1

func octet(set class) func(Dialect, string) *Error {
	return single(func(c byte) bool { return is(c, set) })
}

func oneOf(set string) func(Dialect, string) *Error {
	return single(func(c byte) bool { return strings.IndexByte(set, c) >= 0 })
}

// single returns a check that a text is a single octet for which right returns true.
func single(right func(byte) bool) func(Dialect, string) *Error {
	return func(d Dialect, s string) *Error {
		for i := range len(s) {
			if i > 0 || !right(s[i]) {
				return d.fail(s, i, "", "contains %s", found(s, i))
			}
		}
		return atEnd(d, s, s != "")
	}
}

// characters returns a check that a text is a single octet of a class or a single escape. If n is
// anyNumber, the text may consist of any number of these.
func characters(set class, n int) func(Dialect, string) *Error {
	return func(d Dialect, s string) *Error {
		end := scan(s, 0, set)
		if n != anyNumber && end > 0 {
			end = 1
			if s[0] == '%' {
				end = 3
			}
		}
		if end < len(s) {
			return d.failAt(s, end, "")
		}
		return atEnd(d, s, n == anyNumber || end > 0)
	}
}

// escapes checks that s is an escape. In the draft of 2012, an escaped NUL is not allowed.
func escapes(d Dialect, s string) *Error {
	if len(s) != 3 || !isEscape(s, 0) {
		return d.fail(s, 0, "", "must be %q and two hex digits", "%")
	}
	if isNUL(s, 0) && d == Draft2012 {
		return d.failAt(s, 0, "")
	}
	return nil
}

// excluded returns a check that a text is a single octet: one in set, one between least and the
// space, or one above 126.
func excluded(least byte, set string) func(Dialect, string) *Error {
	return func(d Dialect, s string) *Error {
		ok := len(s) == 1 && (s[0] >= least && s[0] <= ' ' || s[0] >= 0x7F || strings.IndexByte(set, s[0]) >= 0)
		if !ok {
			return d.fail(s, 0, "", "must be one excluded octet")
		}
		return nil
	}
}

func atEnd(d Dialect, s string, ok bool) *Error {
	if ok {
		return nil
	}
	return d.fail(s, len(s), "", "unexpected end")
}
