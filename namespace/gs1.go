package namespace

import (
	"slices"
	"strconv"
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/urn"
)

// Identifiers of GS1 (the registration of 2026).
var gs1 = Namespace{
	NID: "gs1", Name: "GS1", Kind: urn.KindFormal,
	Reference:   "urn-formal/gs1 (2026)",
	Example:     "urn:gs1:01:09506000134352:10:ABC123:17:250101",
	Note:        "lengths and check digits of primary keys are checked; of other application identifiers only the order",
	Security:    "values can disclose products, places and people; a name grants no rights and is not confidential",
	Fragment:    UseNone,
	Equivalence: "the words gdd, bie, bdt, cl and std in either case",
	Rules:       Rules{Check: checkGS1, Lint: lintGS1, Parts: partsGS1, Canonical: canonicalGS1, Mend: mendGS1},
}

// A gs1Key is the application identifier of a primary key.
type gs1Key struct {
	ai         string
	name       string
	digits     int
	more       bool   // other characters may follow the digits
	qualifiers string // the application identifiers that qualify the key, in their order (GS1 Digital Link)
}

var gs1Keys = [...]gs1Key{
	{"00", "SSCC", 18, false, ""},
	{"01", "GTIN", 14, false, "22 10 21 235"},
	{"253", "GDTI", 13, true, ""},
	{"255", "GCN", 13, true, ""},
	{"401", "GINC", 0, true, ""},
	{"402", "GSIN", 17, false, ""},
	{"414", "GLN", 13, false, "254 7040"},
	{"417", "party GLN", 13, false, "7040"},
	{"8003", "GRAI", 14, true, ""},
	{"8004", "GIAI", 0, true, "7040"},
	{"8006", "ITIP", 0, true, "22 10 21"},
	{"8010", "CPID", 0, true, "8011"},
	{"8013", "GMN", 0, true, ""},
	{"8017", "provider GSRN", 18, false, "8019"},
	{"8018", "recipient GSRN", 18, false, "8019"},
}

func findGS1(ai string) *gs1Key {
	for i := range gs1Keys {
		if gs1Keys[i].ai == ai {
			return &gs1Keys[i]
		}
	}
	return nil
}

func checkGS1(nss string) *Finding {
	end := until(nss, 0, ':')
	switch branch := nss[:end]; {
	case digits(nss, 0) == end && end > 0:
		return checkGS1Pairs(nss)
	case strings.EqualFold(branch, "gdd"):
		return checkGDD(nss, end)
	case strings.EqualFold(branch, "std"):
		return checkGS1Standard(nss, end)
	}
	return broken(0, end, "gs1-nss", "expected an application identifier, gdd or std")
}

// checkGS1Pairs parses ai ":" ai-value *( ":" ai ":" ai-value ).
func checkGS1Pairs(nss string) *Finding {
	var seen gs1Set
	for i := 0; ; {
		end := until(nss, i, ':')
		start := min(end+1, len(nss))
		stop := until(nss, start, ':')
		ai := nss[i:end]
		key := findGS1(ai)
		switch {
		case digits(nss, i) < end || end-i < 2 || end-i > 4:
			return broken(i, end, "ai", "expected 2 to 4 digits")
		case start == stop:
			return broken(start, start, "ai-value", "no value follows the application identifier "+ai)
		case i == 0 && key == nil:
			return broken(i, end, "ai-branch", "the first application identifier must be that of a primary key")
		case seen.add(ai):
			return broken(i, end, "ai-branch", "duplicate application identifier "+ai)
		}
		if key != nil {
			if f := key.check(nss, start, stop); f != nil {
				return f
			}
		}
		if stop == len(nss) {
			return nil
		}
		i = stop + 1
	}
}

// A gs1Set is a set of application identifiers, which have 2, 3 or 4 digits.
type gs1Set [(100 + 1000 + 10000 + 63) / 64]uint64

// add adds an identifier, and reports whether the set already had it.
func (s *gs1Set) add(ai string) bool {
	n, first := 0, [...]int{0, 100, 1100}[len(ai)-2]
	for i := range len(ai) {
		n = n*10 + int(ai[i]-'0')
	}
	word, bit := &s[(first+n)/64], uint64(1)<<((first+n)%64)
	before := *word&bit != 0
	*word |= bit
	return before
}

func (k *gs1Key) check(nss string, start, stop int) *Finding {
	end := start + k.digits
	switch {
	case k.digits == 0:
		return nil
	case digits(nss, start) < min(end, stop):
		return wrongByte(nss, digits(nss, start), k.name, "a digit")
	case end > stop || end < stop && !k.more:
		return broken(start, stop, k.name, "has "+strconv.Itoa(stop-start)+" digits, expected "+strconv.Itoa(k.digits))
	}
	if want := weighed13(nss[start : end-1]); nss[end-1] != want {
		return wrongCheck(end-1, "check digit of the "+k.name, nss[end-1:end], string(rune(want)))
	}
	return nil
}

func checkGDD(nss string, at int) *Finding {
	if at == len(nss) {
		return broken(at, at, "gdd-branch", "expected bie, bdt or cl")
	}
	end := until(nss, at+1, ':')
	branch := nss[at+1 : end]
	if end == len(nss) {
		return broken(end, end, "gdd-branch", "expected bie, bdt or cl, a colon and a name")
	}
	switch {
	case strings.EqualFold(branch, "bie"):
		return checkBIE(nss, end+1)
	case strings.EqualFold(branch, "bdt"), strings.EqualFold(branch, "cl"):
		name := camel(nss, end+1, ascii.IsUpper)
		switch {
		case name == end+1:
			return wrongByte(nss, name, "class-name", "an upper-case letter")
		case name == len(nss):
			return nil
		case nss[name] == ':' && strings.EqualFold(branch, "cl"):
			return checkCodeValue(nss, name+1)
		}
		return wrongByte(nss, name, "class-name", "letters and digits")
	}
	return broken(at+1, end, "gdd-branch", "expected bie, bdt or cl")
}

// camel returns the end of the letters and digits that begin at offset i. If the first of these
// characters does not satisfy the given function, camel returns i.
func camel(s string, i int, first func(byte) bool) int {
	if i >= len(s) || !first(s[i]) {
		return i
	}
	return ascii.Run(s, i, ascii.IsAlnum)
}

// checkBIE parses class-name [ "." class-name / "." lower-name [ "." class-name ]
// ].
func checkBIE(nss string, i int) *Finding {
	end := camel(nss, i, ascii.IsUpper)
	if end == i {
		return wrongByte(nss, i, "class-name", "an upper-case letter")
	}
	for n := 1; end < len(nss); n++ {
		if nss[end] != '.' {
			return wrongByte(nss, end, "bie-ref", "letters, digits and periods")
		}
		i = end + 1
		association := n == 1 && i < len(nss) && ascii.IsLower(nss[i])
		if association {
			end = ascii.Run(nss, i, ascii.IsAlnum)
			continue
		}
		if end = camel(nss, i, ascii.IsUpper); end == i {
			return wrongByte(nss, i, "class-name", "an upper-case letter")
		}
		if end < len(nss) {
			return wrongByte(nss, end, "bie-ref", "the end")
		}
	}
	return nil
}

func checkCodeValue(nss string, i int) *Finding {
	if i == len(nss) || !ascii.IsUpper(nss[i]) {
		return wrongByte(nss, i, "code-value", "an upper-case letter")
	}
	if end := ascii.Run(nss, i, func(c byte) bool { return ascii.IsUpper(c) || ascii.IsDigit(c) || c == '_' }); end < len(nss) {
		return wrongByte(nss, end, "code-value", "upper-case letters, digits and underscores")
	}
	return nil
}

// checkGS1Standard parses std-id [ ":" version [ ":" clause ] ].
func checkGS1Standard(nss string, at int) *Finding {
	i := at + 1
	end := ascii.Run(nss, min(i, len(nss)), func(c byte) bool { return ascii.IsLower(c) || ascii.IsDigit(c) || c == '-' })
	switch {
	case i >= len(nss) || !ascii.IsLower(nss[i]):
		return wrongByte(nss, i, "std-id", "a lower-case letter")
	case end == len(nss):
		return nil
	case nss[end] != ':':
		return wrongByte(nss, end, "std-id", "lower-case letters, digits and hyphens")
	}
	version, f := dotted(nss, end+1, "version", 2)
	if f != nil || version == len(nss) {
		return f
	}
	clause, f := dotted(nss, version+1, "clause", 1)
	if f == nil && clause < len(nss) {
		return wrongByte(nss, clause, "std-branch", "the end")
	}
	return f
}

// dotted parses numbers that are separated by periods, from offset i to a colon or the end of nss,
// and returns the end. The parameter least is the minimum number of numbers.
func dotted(nss string, i int, rule string, least int) (int, *Finding) {
	for n := 1; ; n++ {
		end := digits(nss, i)
		switch {
		case end == i:
			return end, wrongByte(nss, end, rule, "a digit")
		case end < len(nss) && nss[end] == '.':
		case end < len(nss) && nss[end] != ':':
			return end, wrongByte(nss, end, rule, "digits and periods")
		case n < least:
			return end, broken(end, end, rule, "expected at least "+strconv.Itoa(least)+" numbers between periods")
		default:
			return end, nil
		}
		i = end + 1
	}
}

// lintGS1 reports pairs that are out of order. Qualifiers of the key must come first, in the order
// of the standard. Attributes must follow, sorted by application identifier.
func lintGS1(nss string) []Finding {
	if !ascii.IsDigit(nss[0]) {
		return nil
	}
	end := until(nss, 0, ':')
	qualifiers := findGS1(nss[:end]).qualifiers
	place, last := 0, ""
	for i := until(nss, end+1, ':') + 1; i < len(nss); i = until(nss, end+1, ':') + 1 {
		end = until(nss, i, ':')
		ai := nss[i:end]
		at := slices.Index(strings.Fields(qualifiers), ai) + 1
		switch {
		case at > 0 && (last != "" || at < place):
			return []Finding{remark(CodeForm, i, end, "ai-branch", "the qualifiers of the key come first, in the order "+qualifiers)}
		case at > 0:
			place = at
		case ai < last:
			return []Finding{remark(CodeForm, i, end, "ai-branch", "attributes come in the order of their identifiers: "+ai+" before "+last)}
		default:
			last = ai
		}
	}
	return nil
}

// canonicalGS1 converts fixed words such as "gdd" to lower case. Values keep their case.
func canonicalGS1(nss string) string {
	if ascii.IsDigit(nss[0]) {
		return nss
	}
	end := until(nss, 0, ':')
	if strings.EqualFold(nss[:end], "gdd") {
		end = until(nss, end+1, ':')
	}
	if head := strings.ToLower(nss[:end]); head != nss[:end] {
		return head + nss[end:]
	}
	return nss
}

func partsGS1(nss string) []Part {
	if !ascii.IsDigit(nss[0]) {
		names := []string{"branch", "standard", "version", "clause"}
		if ascii.Lower(nss[0]) == 'g' {
			names = []string{"branch", "kind", "name", "code"}
		}
		return partsColon(names...)(canonicalGS1(nss))
	}
	var parts []Part
	for rest, more := nss, true; more; {
		var ai, value string
		ai, rest, _ = strings.Cut(rest, ":")
		value, rest, more = strings.Cut(rest, ":")
		parts = append(parts, Part{"ai " + ai, value})
	}
	return parts
}
