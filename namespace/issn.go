package namespace

import (
	"strconv"

	"github.com/nomen-project/nomen/urn"

	"github.com/nomen-project/nomen/internal/ascii"
)

// International Standard Serial Numbers (ISO 3297, and the registration of 2017, which replaces RFC
// 3044).
var issn = Namespace{
	NID: "issn", Name: "International Standard Serial Number", Kind: urn.KindFormal,
	Reference:   "urn-formal/issn (2017), ISO 3297, RFC 8254",
	Example:     "urn:issn:1234-1231",
	Note:        "an ISSN-L, which stands for all media of a serial, looks like any other ISSN",
	Security:    "a number identifies a serial, not an issue; it does not authenticate a copy",
	Fragment:    UseNone,
	Equivalence: "the hyphen may be missing; X in either case",
	Rules:       Rules{Check: checkISSN, Lint: lintISSN, Parts: partsISSN, Canonical: canonicalISSN, Mend: mendISSN},
}

func checkISSN(nss string) *Finding {
	var d [8]byte
	n := 0
	for i := range len(nss) {
		switch c := nss[i]; {
		case n == 4 && i == 4 && c == '-':
		case n == 8:
			return broken(i, len(nss), "ISSN", "more than 8 digits")
		case ascii.IsDigit(c) || n == 7 && c|0x20 == 'x':
			d[n] = ascii.Upper(c)
			n++
		default:
			return wrongByte(nss, i, "ISSN", "four digits, a hyphen, three digits and a check digit")
		}
	}
	if n < 8 {
		return broken(len(nss), len(nss), "ISSN", "has "+strconv.Itoa(n)+" digits, expected 8")
	}
	return judgeCheck(nss, 7, "ISSN check digit (modulo 11)", d[7], weighed11(d[:7]))
}

func lintISSN(nss string) []Finding {
	if c := canonicalISSN(nss); c != nss {
		return []Finding{advice(0, len(nss), "ISSN", "is written "+c, c)}
	}
	return nil
}

func canonicalISSN(nss string) string {
	if len(nss) == 9 && nss[8] != 'x' {
		return nss
	}
	d := bare(nss)
	return d[:4] + "-" + d[4:]
}

func partsISSN(nss string) []Part {
	d := bare(nss)
	gtin := "977" + d[:7] + "00"
	return []Part{{"number", d[:7]}, {"check", d[7:]}, {"gtin13", gtin + string(rune(weighed13(gtin)))}}
}
