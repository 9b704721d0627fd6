package namespace

import (
	"fmt"
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/urn"
)

// National Bibliography Numbers (RFC 8458, which replaces RFC 3188).
var nbn = Namespace{
	NID: "nbn", Name: "National Bibliography Numbers", Kind: urn.KindFormal,
	Reference:   "RFC 8458",
	Example:     "urn:nbn:de:101:1-201102033592",
	Note:        "each national library sets the form of its own strings; the check digit of the German library is checked, the forms of some others give remarks",
	Security:    "the string identifies the library and may reveal when it was assigned",
	Fragment:    UseAllowed,
	Equivalence: "the prefix in either case",
	Rules:       Rules{Check: checkNBN, Lint: lintNBN, Parts: partsNBN, Canonical: foldPrefix, Always: true},
}

// prefixed parses an NBN or NAN, which has the form prefix "-" string, and returns the offset of
// the hyphen. The prefix consists of a country code and of sub-namespaces, each of which follows a
// colon.
func prefixed(nss, name string) (int, *Finding) {
	end := ascii.Run(nss, 0, ascii.IsLetter)
	if end != 2 {
		return 0, broken(0, max(end, min(1, len(nss))), "iso-cc", "a country code has two letters")
	}
	for end < len(nss) && nss[end] == ':' {
		start := end + 1
		if end = ascii.Run(nss, start, ascii.IsAlnum); end == start {
			return 0, wrongByte(nss, end, "subspc", "letters and digits")
		}
	}
	switch {
	case end == len(nss):
		return 0, noHyphen(nss, name)
	case nss[end] != '-':
		return 0, wrongByte(nss, end, "prefix", `":" or "-" after a country code or sub-namespace`)
	case end+1 == len(nss):
		return 0, broken(end+1, end+1, name+"-string", "is empty")
	case nss[end+1] == '/':
		return 0, broken(end+1, end+2, name+"-string", "begins with a slash")
	}
	return end, nil
}

// shortString is the length in characters below which a text after a country code is probably a
// sub-namespace.
const shortString = 8

// noHyphen returns the finding for a name without a hyphen. If the last colon was probably meant as
// a hyphen, the finding is about that colon.
func noHyphen(nss, name string) *Finding {
	message := "no hyphen between the prefix and the " + name + "-string"
	at := strings.LastIndexByte(nss, ':')
	if at < 0 || at == len("cc") && len(nss)-at-1 < shortString {
		return broken(len(nss), len(nss), name+"-nss", message)
	}
	f := broken(at, at+1, name+"-nss", message)
	f.Right = "-"
	return f
}

// foldPrefix converts the prefix to lower case. Only the text after the hyphen is case-sensitive
// (RFC 8458, section 4.3). If nss has no hyphen, foldPrefix only converts the country code, because
// the end of the prefix is unknown.
func foldPrefix(nss string) string {
	end := strings.IndexByte(nss, '-')
	if end < 0 {
		end = until(nss, 0, ':')
	}
	return lowerUntil(nss, end)
}

func checkNBN(nss string) *Finding {
	hyphen, f := prefixed(nss, "nbn")
	if f == nil && checksDNB(nss) && strings.EqualFold(nss[:2], "de") {
		return checkDNB(nss, hyphen)
	}
	return f
}

// checksDNB reports whether nss can end with the check digit of the German National Library. Names
// from Austria and Switzerland have the same check digit.
func checksDNB(nss string) bool {
	last := nss[len(nss)-1]
	return ascii.IsDigit(last) || ascii.IsLetter(last)
}

// checkDNB returns a finding if the check digit of the German National Library, at the end of nss,
// is wrong.
func checkDNB(nss string, hyphen int) *Finding {
	last := len(nss) - 1
	if last == hyphen+1 {
		return broken(last, len(nss), "nbn-string", "too short for a check digit")
	}
	want, odd := digitDNB(nss[:last])
	if odd >= 0 {
		return broken(odd, odd+1, "nbn-string", fmt.Sprintf("found %q, which has no value for the check digit", nss[odd:odd+1]))
	}
	return judgeByte(nss, last, "check digit of the German National Library", want)
}

var lettersDNB = [26]uint8{18, 14, 19, 15, 16, 21, 22, 23, 24, 25, 42, 26, 27, 13, 28, 29, 31, 12, 32, 33, 11, 34, 35, 36, 37, 38}

// valueDNB returns the number for a character, or 0 if it has none.
func valueDNB(c byte) int {
	switch c = ascii.Lower(c); {
	case c == '9':
		return 41
	case ascii.IsDigit(c):
		return int(c-'0') + 1
	case ascii.IsLower(c):
		return int(lettersDNB[c-'a'])
	}
	switch c {
	case ':':
		return 17
	case '-':
		return 39
	case '_':
		return 43
	case '/':
		return 45
	case '.':
		return 47
	case '+':
		return 49
	}
	return 0
}

// digitDNB returns the check digit of the German National Library for "urn:nbn:" + nss. Each
// character is replaced by a number. The digits of these numbers are multiplied by their positions
// and added. The sum is divided by the last of the digits. The check digit is the last digit of the
// quotient. The result odd is the offset of a character without a number, or -1.
func digitDNB(nss string) (check byte, odd int) {
	var s sumDNB
	for _, c := range []byte("urn:nbn:") {
		s.add(valueDNB(c))
	}
	for i := range len(nss) {
		v := valueDNB(nss[i])
		if v == 0 {
			return 0, i
		}
		s.add(v)
	}
	if s.last == 0 {
		return '0', -1
	}
	return byte('0' + s.sum/s.last%10), -1
}

type sumDNB struct{ sum, place, last int }

func (s *sumDNB) add(value int) {
	if value >= 10 {
		s.digit(value / 10)
	}
	s.digit(value % 10)
}

func (s *sumDNB) digit(d int) {
	s.place++
	s.sum += s.place * d
	s.last = d
}

// A nationalForm is a form that the names of a country must have.
type nationalForm struct {
	prefix string // the country code, in lower case
	form   string // describes the form
	fits   func(sub, s string) bool
}

var nationalForms = [...]nationalForm{
	{"fi", "letters and a number that begins with the year, as in fi-fe201003181510", fitsFinnish},
	{"se", "an institution, as in se:uu:diva-3475", fitsInstitution},
	{"cz", "a registrar of 2 to 6 and a string of 6 letters or digits, as in cz:aba001-00elz2", fitsCzech},
	{"nl", "ui: with the number of the institution, as in nl:ui:10-1-115852", fitsDutch},
	{"it", "an institution, as in it:unimi-12345", fitsInstitution},
}

// fitsFinnish reports whether a Finnish name has the national form. Only one form is known: without
// a sub-namespace, "fe" must be followed by at least eight digits. All other strings are accepted.
func fitsFinnish(sub, s string) bool {
	series := ascii.Run(s, 0, ascii.IsLetter)
	return sub != "" || !strings.EqualFold(s[:series], "fe") || len(s)-series >= 8 && digits(s, series) == len(s)
}

func fitsInstitution(sub, _ string) bool { return sub != "" }

func fitsCzech(sub, s string) bool {
	return 2 <= len(sub) && len(sub) <= 6 && !strings.Contains(sub, ":") && len(s) == 6 && ascii.Run(s, 0, ascii.IsAlnum) == 6
}

func fitsDutch(sub, _ string) bool {
	institution, ok := ascii.CutPrefix(sub, "ui:")
	return ok && digits(institution, 0) == len(institution)
}

func lintNBN(nss string) []Finding {
	var found []Finding
	hyphen := strings.IndexByte(nss, '-')
	if !isCountry(nss[0], nss[1]) {
		found = append(found, remark(CodeUnassigned, 0, 2, "iso-cc", "is not a country code of ISO 3166-1"))
	}
	sub := strings.TrimPrefix(nss[2:hyphen], ":")
	for _, n := range nationalForms {
		if strings.EqualFold(nss[:2], n.prefix) && !n.fits(sub, nss[hyphen+1:]) {
			found = append(found, remark(CodeForm, 0, len(nss), "national form", "expected "+n.form))
		}
	}
	if strings.EqualFold(nss[:2], "de") && !checksDNB(nss) {
		found = append(found, remark(CodeForm, len(nss)-1, len(nss), "check digit of the German National Library", "is missing"))
	}
	return found
}

func partsNBN(nss string) []Part {
	parts := partsPrefixed(nss, "nbn-string")
	if strings.EqualFold(nss[:2], "de") && checksDNB(nss) {
		parts = append(parts, Part{"check", nss[len(nss)-1:]})
	}
	return parts
}

func partsPrefixed(nss, name string) []Part {
	hyphen := strings.IndexByte(nss, '-')
	country, sub, _ := strings.Cut(strings.ToLower(nss[:hyphen]), ":")
	parts := []Part{{"country", country}}
	if sub != "" {
		parts = append(parts, Part{"sub-namespace", sub})
	}
	return append(parts, Part{name, nss[hyphen+1:]})
}
