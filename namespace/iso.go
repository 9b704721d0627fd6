package namespace

import (
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/uri"
	"github.com/nomen-project/nomen/urn"
)

// Documents of ISO (RFC 5141).
var iso = Namespace{
	NID: "iso", Name: "International Organization for Standardization", Kind: urn.KindFormal,
	Reference:   "RFC 5141",
	Example:     "urn:iso:std:iso:9999:-1:ed-1:en",
	Note:        "fields after the document's number that are not in the order of RFC 5141 are additions, whose syntax the RFC leaves open",
	Security:    "none beyond those of names in general",
	Equivalence: "letters in either case, throughout",
	Rules:       Rules{Check: checkISO, Lint: lintISO, Parts: partsISO, Canonical: foldCase},
}

// Values that RFC 5141, section 2.4.1 defines, separated by spaces.
const (
	isoOriginators = " iso iso-iec iso-cie iso-astm iso-ieee iec "
	isoTypes       = " data guide isp iwa pas r tr ts tta "
	isoLanguages   = " en fr ru es ar en,fr en,ru fr,ru en,fr,ru "
	isoElements    = " clause figure table term "
	isoSupplements = " amd cor add "

	isoOldSupplements = " ext sup " // ISO uses these, but the RFC does not define them
)

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

type isoFields struct {
	s          string
	start, end int // bounds of the current field; after the last field, start is greater than len(s)
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

// take consumes and returns the current field. If kind returns false for the field, take returns ""
// and does not consume it.
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
		return broken(0, f.end, "std-nss", `expected "std:"`)
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
		if i := ascii.Run(nss, f.start, isLDH); i < f.end || f.end == f.start+1 {
			return wrongByte(nss, i, "partnumber", "letters, digits and hyphens")
		}
	}
	return nil
}

func isISOType(s string) bool     { return among(isoTypes, s) }
func isISOPart(s string) bool     { return strings.HasPrefix(s, "-") }
func isISOEdition(s string) bool  { return numbered(s, "ed-") }
func isISOLanguage(s string) bool { return among(isoLanguages, s) }

// isISOStatus reports whether s is a status, which is "draft", "cancelled" or a stage such as
// "stage-95.99" or "stage-20.00.v2".
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

// isISOVersion reports whether s is a version such as v1. A version can list the supplements that
// are included, as in v1-amd1.v1.
func isISOVersion(s string) bool {
	return len(s) > 1 && s[0]|0x20 == 'v' && ascii.IsDigit(s[1]) && ascii.Run(s, 1, func(c byte) bool { return isLDH(c) || c == '.' }) == len(s)
}

func numbered(s, prefix string) bool {
	return len(s) > len(prefix) && strings.EqualFold(s[:len(prefix)], prefix) && digits(s, len(prefix)) == len(s)
}

// lintISO reports unknown originators, and deviations from RFC 5141, section 2.4.1. A wrong order
// of the fields is only a remark, because names from ISO itself can have a status after the
// edition, or a status without an edition.
func lintISO(nss string) []Finding {
	l := isoLint{isoFields: isoFrom(nss)}
	l.next()
	if originator := l.text(); !among(isoOriginators, originator) {
		f := remark(CodeUnassigned, l.start, l.end, "originator", "is not one of RFC 5141:"+strings.TrimRight(isoOriginators, " "))
		if joint, _, ok := strings.Cut(originator, "-"); ok && among(isoOriginators, joint) {
			f.Severity = uri.SeverityInfo // RFC 5141: "revisions may define additional values"
		}
		l.found = append(l.found, f)
	}
	l.next()
	l.take(isISOType)
	l.next()
	l.take(isISOPart)
	l.fields()
	return l.found
}

// The kinds of fields after the number and part of a document, in the order of RFC 5141.
const (
	isoUnknown = iota
	isoStatus
	isoEdition
	isoVersion
	isoLanguage
	isoSupplement
	isoElement
)

type isoLint struct {
	isoFields
	last     int // kind of the previous field
	editions int
	found    []Finding
}

func (l *isoLint) advise(start, end int, rule, message string) {
	for _, f := range l.found {
		if f.Message == message {
			return
		}
	}
	l.found = append(l.found, advice(start, end, rule, message, ""))
}

func (l *isoLint) kind() int {
	switch s := l.text(); {
	case isISOStatus(s), isISODraft(s):
		return isoStatus
	case isISOEdition(s):
		return isoEdition
	case isISOVersion(s):
		return isoVersion
	case isISOLanguage(s):
		return isoLanguage
	case among(isoSupplements, s), among(isoOldSupplements, s):
		return isoSupplement
	case among(isoElements, s):
		return isoElement
	}
	return isoUnknown
}

func (l *isoLint) fields() {
	status, end := -1, 0
	for l.more() {
		kind := l.kind()
		switch {
		case kind == isoUnknown:
			l.addition()
			return
		case kind < l.last, kind == l.last && kind < isoSupplement:
			l.advise(l.start, l.end, "docidentifier", "not in the order of RFC 5141: treated as an addition")
		}
		l.last = kind
		if kind == isoStatus && status < 0 {
			status, end = l.start, l.end
		}
		if kind == isoEdition {
			l.editions++
		}
		if !l.pass(kind) {
			return
		}
	}
	if status >= 0 && l.editions == 0 {
		l.advise(status, end, "docidentifier", "a status must be followed by an edition")
	}
}

// pass advances past a field of the given kind and the fields that belong to this field. If one of
// them is missing, pass reports the rest of the name as an addition and returns false.
func (l *isoLint) pass(kind int) bool {
	switch start, s := l.start, l.text(); {
	case kind == isoStatus && isISODraft(s):
		l.advise(start, l.end, "status", "must be draft or a stage of two numbers")
	case kind == isoSupplement && !among(isoSupplements, s):
		l.advise(start, l.end, "suppltype", "is not one of RFC 5141:"+strings.TrimRight(isoSupplements, " "))
	}
	start := l.start
	l.next()
	switch kind {
	case isoSupplement, isoElement:
		if !l.more() || l.start == l.end || kind == isoSupplement && digits(l.s, l.start) < l.end {
			l.start, l.end = start, len(l.s)
			l.addition()
			return false
		}
		l.next()
		if kind == isoSupplement {
			l.take(func(s string) bool { return numbered(s, "v") })
			l.take(isISOLanguage)
		}
	}
	return true
}

// addition reports the remaining fields, except for fields that technical committees define.
func (l *isoLint) addition() {
	if strings.HasPrefix(strings.ToLower(l.text()), "tech") {
		return
	}
	l.found = append(l.found, remark(CodeForm, l.start, len(l.s), "addition", "not defined by RFC 5141: treated as an addition, which only ISO may define"))
}

// isISODraft reports whether s is the status of a draft as ISO itself spells it: stage-draft, or
// with a version, as in stage-draft.v2.
func isISODraft(s string) bool {
	rest, ok := ascii.CutPrefix(s, "stage-draft")
	return ok && (rest == "" || rest[0] == '.' && numbered(rest[1:], "v"))
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
	for before := -1; f.start > before && f.more(); {
		before = f.start
		add("status", f.take(func(s string) bool { return isISOStatus(s) || isISODraft(s) }))
		add("edition", strings.TrimPrefix(f.take(isISOEdition), "ed-"))
		add("version", f.take(isISOVersion))
		add("language", f.take(isISOLanguage))
	}
	if f.more() {
		add("rest", f.s[f.start:])
	}
	return parts
}
