package namespace

import (
	"strconv"

	"github.com/nomen-project/nomen/urn"

	"github.com/nomen-project/nomen/internal/ascii"
)

// International Standard Name Identifiers (the registration of 2025, ISO 27729).
var isni = Namespace{
	NID: "isni", Name: "International Standard Name Identifier", Kind: urn.KindFormal,
	Reference:   "urn-formal/isni (2025), ISO 27729",
	Example:     "urn:isni:0000000121241960",
	Note:        "sixteen characters without spaces or hyphens; an ORCID iD is a number of the same range",
	Security:    "identifies people publicly: publishing it together with other data reveals more than the number itself",
	Equivalence: "the check character X in either case",
	Rules:       Rules{Check: checkISNI, Lint: lintISNI, Parts: partsISNI, Canonical: canonicalISNI, Display: displayISNI, Mend: mendAlnum},
}

func checkISNI(nss string) *Finding {
	var d [16]byte
	for i := range len(nss) {
		switch c := nss[i]; {
		case i >= len(d):
			return broken(i, len(nss), "ISNI-NSS", "more than 16 characters")
		case ascii.IsDigit(c) || i == 15 && c|0x20 == 'x':
			d[i] = ascii.Upper(c)
		default:
			return wrongByte(nss, i, "ISNI-NSS", "15 digits and a check character, without spaces or hyphens")
		}
	}
	if len(nss) < len(d) {
		return broken(len(nss), len(nss), "ISNI-NSS", "has "+strconv.Itoa(len(nss))+" characters, expected 16")
	}
	return judgeCheck(nss, 15, "ISNI-CHECK-DIGIT (ISO/IEC 7064, MOD 11-2)", d[15], mod11radix2(d[:15]))
}

func lintISNI(nss string) []Finding {
	if nss[15] != 'x' {
		return nil
	}
	return []Finding{remark(CodeForm, 15, 16, "ISNI-CHECK-DIGIT", "is written in upper case")}
}

func canonicalISNI(nss string) string {
	if nss[15] != 'x' {
		return nss
	}
	return nss[:15] + "X"
}

func partsISNI(nss string) []Part {
	return []Part{{"number", nss[:15]}, {"check", canonicalISNI(nss)[15:]}}
}

func displayISNI(nss string) string {
	s := canonicalISNI(nss)
	return "ISNI " + s[:4] + " " + s[4:8] + " " + s[8:12] + " " + s[12:]
}
