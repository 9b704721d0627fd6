package namespace

import (
	"strings"

	"github.com/nomen-project/nomen/urn"
)

// Documents of ISO: RFC 5141.
var iso = Namespace{
	NID: "iso", Name: "International Organization for Standardization", Kind: urn.KindFormal,
	Reference:  "RFC 5141",
	Example:    "urn:iso:std:iso:9999:-1:ed-1:en",
	Note:       "the whole name is insensitive to case; what follows the document's number and is not in the order of RFC 5141 counts as an addition, whose syntax the RFC leaves open",
	Delimiters: ":",
	Security:   "none beyond those of names in general",
	Functional: "a name without an edition means the latest one; no language means English",
	Rules:      Rules{Check: checkISO, Lint: lintISO, Parts: partsISO, Canonical: foldCase},
}

// The values of RFC 5141, 2.4.1, each between spaces.
const (
	isoOriginators = " iso iso-iec iso-cie iso-astm iso-ieee iec "
	isoTypes       = " data guide isp iwa pas r tr ts tta "
	isoLanguages   = " en fr ru es ar en,fr en,ru fr,ru en,fr,ru "
	isoElements    = " clause figure table term "
	isoSupplements = " amd cor add "
)

// among reports whether a word is one of those between spaces in list.
func among(list, word string) bool {
	for i := 1; i < len(list); {
		end := until(list, i, ' ')
		if strings.EqualFold(list[i:end], word) {
			return true
		}
		i = end + 1
	}
	return false
}

// isoFields walks over the fields of a name: a window on the NSS.
type isoFields struct {
	s          string
	start, end int // of the present field; start is beyond the end if there is none
}

func isoFrom(s string) isoFields { return isoFields{s, 0, until(s, 0, ':')} }

func (f *isoFields) more() bool   { return f.start <= len(f.s) }
func (f *isoFields) text() string { return f.s[f.start:f.end] }

func (f *isoFields) next() {
	f.start = f.end + 1
	if f.more() {
		f.end = until(f.s, f.start, ':')
	}
}

// take passes over the present field if it is of a kind, and returns it.
func (f *isoFields) take(kind func(string) bool) string {
	if !f.more() || !kind(f.text()) {
		return ""
	}
	s := f.text()
	f.next()
	return s
}

func checkISO(nss string) *Finding {
	f := isoFrom(nss)
	if !strings.EqualFold(f.text(), "std") {
		return broken(0, f.end, "std-nss", `wants "std:"`)
	}
	f.next()
	if !f.more() || f.start == f.end {
		return broken(min(f.start, len(nss)), min(f.start, len(nss)), "originator", "is missing")
	}
	f.next()
	f.take(isISOType)
	switch {
	case !f.more() || f.start == f.end:
		return broken(min(f.start, len(nss)), min(f.start, len(nss)), "docnumber", "is missing")
	case digits(nss, f.start) < f.end:
		return wrongByte(nss, digits(nss, f.start), "docnumber", "digits")
	}
	f.next()
	if f.more() && strings.HasPrefix(f.text(), "-") {
		if i := run(nss, f.start, isLDH); i < f.end || f.end == f.start+1 {
			return wrongByte(nss, i, "partnumber", "letters, digits and hyphens")
		}
	}
	return nil
}

func isISOType(s string) bool     { return among(isoTypes, s) }
func isISOPart(s string) bool     { return strings.HasPrefix(s, "-") }
func isISOEdition(s string) bool  { return numbered(s, "ed-") }
func isISOLanguage(s string) bool { return among(isoLanguages, s) }

// isISOStatus reports whether s is draft, cancelled or a stage such as
// stage-95.99 or stage-20.00.v2.
func isISOStatus(s string) bool {
	if strings.EqualFold(s, "draft") || strings.EqualFold(s, "cancelled") {
		return true
	}
	const form = "stage-NN.NN"
	if len(s) < len(form) || !strings.EqualFold(s[:6], "stage-") ||
		digits(s, 6) != 8 || s[8] != '.' || digits(s, 9) != len(form) {
		return false
	}
	return len(s) == len(form) || s[len(form)] == '.' && numbered(s[len(form)+1:], "v")
}

// isISOVersion reports whether s is v and a version, perhaps with the
// supplements that it includes: v1-amd1.v1.
func isISOVersion(s string) bool {
	return len(s) > 1 && s[0]|0x20 == 'v' && isDigit(s[1]) && run(s, 1, func(c byte) bool { return isLDH(c) || c == '.' }) == len(s)
}

func numbered(s, prefix string) bool {
	return len(s) > len(prefix) && strings.EqualFold(s[:len(prefix)], prefix) && digits(s, len(prefix)) == len(s)
}

// lintISO tells of unknown originators and of fields that are not in order.
func lintISO(nss string) []Finding {
	var found []Finding
	f := isoFrom(nss)
	f.next()
	if !among(isoOriginators, f.text()) {
		found = append(found, remark(CodeUnassigned, f.start, f.end, "originator", "is none of RFC 5141:"+strings.TrimRight(isoOriginators, " ")))
	}
	f.next()
	f.take(isISOType)
	f.next()
	f.take(isISOPart)
	status := f.start
	if f.take(isISOStatus) != "" && f.take(isISOEdition) == "" {
		return append(found, advice(status, f.start-1, "docidentifier", "a status wants an edition after it", ""))
	}
	f.take(isISOEdition)
	f.take(isISOVersion)
	f.take(isISOLanguage)
	f.supplements()
	f.elements()
	if f.more() && !strings.HasPrefix(strings.ToLower(f.text()), "tech") {
		found = append(found, remark(CodeForm, f.start, len(nss), "addition", "not in the order of RFC 5141: counts as an addition, which is reserved to ISO"))
	}
	return found
}

// supplements passes over suppltype ":" supplnumber [ ":" supplversion ] [ ":" language ].
func (f *isoFields) supplements() {
	for f.more() && among(isoSupplements, f.text()) {
		before := *f
		f.next()
		if !f.more() || digits(f.s, f.start) < f.end || f.start == f.end {
			*f = before
			return
		}
		f.next()
		f.take(func(s string) bool { return numbered(s, "v") })
		f.take(isISOLanguage)
	}
}

// elements passes over clauses, figures, tables and terms with their numbers.
func (f *isoFields) elements() {
	for f.more() && among(isoElements, f.text()) {
		before := *f
		f.next()
		if !f.more() || f.start == f.end {
			*f = before
			return
		}
		f.next()
	}
}

func partsISO(nss string) []Part {
	f := isoFrom(strings.ToLower(nss))
	f.next()
	parts := []Part{{"originator", f.text()}}
	f.next()
	add := func(name, value string) {
		if value != "" {
			parts = append(parts, Part{name, value})
		}
	}
	add("type", f.take(isISOType))
	add("number", f.take(func(string) bool { return true }))
	add("part", strings.TrimPrefix(f.take(isISOPart), "-"))
	add("status", f.take(isISOStatus))
	add("edition", strings.TrimPrefix(f.take(isISOEdition), "ed-"))
	add("version", f.take(isISOVersion))
	add("language", f.take(isISOLanguage))
	if f.more() {
		add("rest", f.s[f.start:])
	}
	return parts
}
