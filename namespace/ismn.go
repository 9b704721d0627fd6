package namespace

import (
	"strconv"
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/urn"
)

// International Standard Music Numbers (ISO 10957). An ISMN in the older form has ten characters
// and begins with M.
var ismn = Namespace{
	NID: "ismn", Name: "International Standard Music Number", Kind: urn.KindUnregistered,
	Reference:   "ISO 10957:2021, ISMN Users' Manual",
	Example:     "urn:ismn:979-0-2600-0043-8",
	Note:        "no registration at IANA",
	Security:    "a number identifies an edition of music, not a copy",
	Equivalence: "hyphens carry no meaning; M and nine digits are the thirteen digits that begin with 9790",
	Rules:       Rules{Check: checkISMN, Lint: lintISMN, Parts: partsISMN, Canonical: canonicalISMN, Display: displayISMN, Mend: mendAlnum},
}

func checkISMN(nss string) *Finding {
	var d [13]byte
	n, bad := squeeze(nss, d[:])
	switch {
	case bad >= 0 && n == len(d) && ascii.IsAlnum(nss[bad]):
		return tooMany(nss, d, bad, "ISMN")
	case bad >= 0:
		return wrongByte(nss, bad, "ISMN", "digits, with single hyphens between them")
	case n != 10 && n != 13:
		return broken(len(nss), len(nss), "ISMN", "has "+strconv.Itoa(n)+" characters, expected 13, or 10 in the older form")
	}
	old := n == 10 && d[0] == 'M'
	for i, c := range d[:n] {
		if !ascii.IsDigit(c) && (i > 0 || !old) {
			return wrongByte(nss, place(nss, i), "ISMN", "a digit")
		}
	}
	full := expandISMN(d, n)
	if n == 10 && !old || string(full[:4]) != "9790" {
		return broken(0, place(nss, min(n, 4)-1)+1, "ISMN prefix", "expected 979-0, or M in the older form")
	}
	return judgeCheck(nss, n-1, "ISMN check digit (modulo 10)", d[n-1], weighed13(string(full[:12])))
}

// expandISMN converts an ISMN of n characters to thirteen digits. The older form has ten
// characters.
func expandISMN(d [13]byte, n int) [13]byte {
	if n == 13 {
		return d
	}
	var full [13]byte
	copy(full[:], "9790")
	copy(full[4:], d[1:10])
	return full
}

func canonicalISMN(nss string) string {
	if len(nss) == 13 && strings.IndexByte(nss, '-') < 0 {
		return nss
	}
	var d [13]byte
	n, _ := squeeze(nss, d[:])
	d = expandISMN(d, n)
	return string(d[:])
}

func lintISMN(nss string) []Finding {
	if ascii.Upper(nss[0]) == 'M' {
		return []Finding{advice(0, len(nss), "ISMN", "the older form: new names have thirteen digits", displayISMN(nss))}
	}
	return nil
}

// publisherISMN returns the end of the publisher element in a 13-digit ISMN.
func publisherISMN(d string) int {
	switch c := d[4]; {
	case c == '0':
		return 4 + 3
	case c <= '3':
		return 4 + 4
	case c <= '6':
		return 4 + 5
	case c <= '8':
		return 4 + 6
	}
	return 4 + 7
}

func partsISMN(nss string) []Part {
	d := canonicalISMN(nss)
	end := publisherISMN(d)
	return []Part{{"prefix", d[:4]}, {"publisher", d[4:end]}, {"item", d[end:12]}, {"check", d[12:]}}
}

func displayISMN(nss string) string {
	d := canonicalISMN(nss)
	end := publisherISMN(d)
	return d[:3] + "-" + d[3:4] + "-" + d[4:end] + "-" + d[end:12] + "-" + d[12:]
}
