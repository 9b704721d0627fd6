package namespace

import (
	_ "embed" // the ranges
	"strconv"
	"strings"
	"sync"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/internal/tsv"
	"github.com/nomen-project/nomen/urn"
)

// International Standard Book Numbers (ISO 2108, and the registration of 2017, which replaces RFC
// 3187). An ISBN of ten digits is an older form of an ISBN of thirteen digits.
var isbn = Namespace{
	NID: "isbn", Name: "International Standard Book Number", Kind: urn.KindFormal,
	Reference:   "urn-formal/isbn (2017), ISO 2108:2017, RFC 8254",
	Example:     "urn:isbn:9789510184356",
	Note:        "the ranges determine hyphens, not validity",
	Security:    "a number identifies an edition; it does not prove that a copy is of that edition",
	Fragment:    UseAllowed,
	Equivalence: "hyphens carry no meaning; ten digits and the thirteen that begin with 978 are one book",
	Rules:       Rules{Check: checkISBN, Lint: lintISBN, Parts: partsISBN, Canonical: canonicalISBN, Display: displayISBN, Mend: mendISBN},
}

func checkISBN(nss string) *Finding {
	var d [13]byte
	n, bad := squeeze(nss, d[:])
	switch {
	case bad >= 0 && n == len(d) && ascii.IsAlnum(nss[bad]):
		return tooMany(nss, d, bad, "ISBN")
	case bad >= 0:
		return wrongByte(nss, bad, "ISBN", "digits, with single hyphens between them")
	}
	last := n
	if n == 10 {
		last = 9 // the check digit may be X
	}
	for i, c := range d[:n] {
		if !ascii.IsDigit(c) && (i != last || c != 'X') {
			return wrongByte(nss, place(nss, i), "ISBN", "a digit")
		}
	}
	switch n {
	case 10:
		return judgeCheck(nss, 9, "ISBN-10 check digit (modulo 11)", d[9], weighed11(d[:9]))
	case 13:
		return checkISBN13(nss, d)
	}
	return broken(len(nss), len(nss), "ISBN", "has "+strconv.Itoa(n)+" digits, expected 13, or 10 in the older form")
}

// tooMany returns the finding for an ISBN with more than thirteen letters and digits. The array d
// contains the first thirteen of them. If d contains a letter, the letter is probably the mistake,
// and the finding is about the letter. Otherwise the finding is about the characters from the
// offset surplus on.
func tooMany(nss string, d [13]byte, surplus int, rule string) *Finding {
	for i, c := range d {
		if !ascii.IsDigit(c) {
			return wrongByte(nss, place(nss, i), rule, "a digit")
		}
	}
	return broken(surplus, len(nss), rule, "more than 13 digits")
}

func checkISBN13(nss string, d [13]byte) *Finding {
	switch {
	case d[0] != '9' || d[1] != '7' || d[2] != '8' && d[2] != '9':
		return broken(place(nss, 0), place(nss, 2)+1, "GS1 element", "expected 978 or 979")
	case d[2] == '9' && d[3] == '0':
		return broken(place(nss, 0), place(nss, 3)+1, "GS1 element", "979-0 is printed music: urn:ismn")
	}
	return judgeCheck(nss, 12, "ISBN-13 check digit (modulo 10)", d[12], weighed13(string(d[:12])))
}

// judgeCheck returns a finding if the check digit is wrong. The parameter k is the index of the
// check digit in nss, not counting hyphens.
func judgeCheck(nss string, k int, rule string, got, expected byte) *Finding {
	if got == expected {
		return nil
	}
	at := place(nss, k)
	return wrongCheck(at, rule, nss[at:at+1], string(rune(expected)))
}

func lintISBN(nss string) []Finding {
	var found []Finding
	canonical := canonicalISBN(nss)
	if len(bare(nss)) == 10 {
		found = append(found, advice(0, len(nss), "ISBN-10", "the older form: new names have thirteen digits", canonical))
	}
	if nss[len(nss)-1] == 'x' {
		found = append(found, advice(len(nss)-1, len(nss), "check digit", "is written in upper case", "X"))
	}
	if _, ok := splitISBN(canonical); !ok {
		found = append(found, remark(CodeUnassigned, 0, len(nss), "registrant element", "is not in a range that the agency has assigned"))
	} else if strings.Contains(nss, "-") && !strings.EqualFold(nss, displayISBN(nss)) {
		f := remark(CodeForm, 0, len(nss), "hyphenation", "the elements are "+displayISBN(nss))
		f.Right = displayISBN(nss)
		found = append(found, f)
	}
	return found
}

func canonicalISBN(nss string) string {
	if len(nss) == 13 && strings.IndexByte(nss, '-') < 0 {
		return nss
	}
	var d [13]byte
	if longISBN(nss) {
		squeeze(nss, d[:])
		return string(d[:])
	}
	copy(d[:], "978")
	squeeze(nss, d[3:])
	d[12] = weighed13(string(d[:12]))
	return string(d[:])
}

func longISBN(nss string) bool { return len(nss)-strings.Count(nss, "-") > 10 }

// An isbnSplit holds the ends of the elements of a 13-digit ISBN.
type isbnSplit struct {
	group, registrant int
	agency            string
}

type isbnGroup struct {
	agency string
	ranges []isbnRange
}

type isbnRange struct{ low, high string }

// isbnTable has a line for each registration group. The columns are the prefix of the group (the
// GS1 element and the group element), the agency, and the ranges of registrant elements.
//
//go:embed isbn.tsv
var isbnTable string

// isbnGroups maps the prefix of a group, which consists of the GS1 element and the group element,
// to the group.
var isbnGroups = sync.OnceValue(func() map[string]isbnGroup {
	groups := map[string]isbnGroup{}
	for row := range tsv.Rows(isbnTable) {
		g := isbnGroup{agency: row[1]}
		for text := range strings.FieldsSeq(row[2]) {
			low, high, _ := strings.Cut(text, "-")
			g.ranges = append(g.ranges, isbnRange{low, high})
		}
		groups[row[0]] = g
	}
	return groups
})

// splitISBN finds the elements of a 13-digit ISBN. It returns false if the ISBN is not in an
// assigned range.
func splitISBN(d string) (isbnSplit, bool) {
	for end := 4; end <= 8; end++ {
		if g, ok := isbnGroups()[d[:end]]; ok {
			size := g.registrantSize(d[end:12])
			return isbnSplit{group: end, registrant: end + size, agency: g.agency}, size > 0
		}
	}
	return isbnSplit{}, false
}

func (g isbnGroup) registrantSize(digits string) int {
	for _, r := range g.ranges {
		if n := len(r.low); n < len(digits) && r.low <= digits[:n] && digits[:n] <= r.high {
			return n
		}
	}
	return 0
}

func partsISBN(nss string) []Part {
	d := canonicalISBN(nss)
	s, ok := splitISBN(d)
	if !ok {
		return []Part{{"gs1", d[:3]}, {"check", d[12:]}, {"isbn13", d}}
	}
	parts := []Part{
		{"gs1", d[:3]},
		{"group", d[3:s.group]},
		{"agency", s.agency},
		{"registrant", d[s.group:s.registrant]},
		{"publication", d[s.registrant:12]},
		{"check", d[12:]},
		{"isbn13", d},
	}
	if d[:3] == "978" {
		ten := []byte(d[3:12])
		parts = append(parts, Part{"isbn10", string(append(ten, weighed11(ten)))})
	}
	return parts
}

func displayISBN(nss string) string {
	d := canonicalISBN(nss)
	s, ok := splitISBN(d)
	short := !longISBN(nss)
	var b strings.Builder
	if !short {
		b.WriteString(d[:3] + "-")
	}
	if ok {
		b.WriteString(d[3:s.group] + "-" + d[s.group:s.registrant] + "-" + d[s.registrant:12])
	} else {
		b.WriteString(d[3:12])
	}
	check := d[12]
	if short {
		check = weighed11([]byte(d[3:12]))
	}
	return b.String() + "-" + string(rune(check))
}
