package namespace

import (
	"strconv"

	"github.com/nomen-project/nomen/urn"

	"github.com/nomen-project/nomen/internal/ascii"
)

// Energy Identification Codes (the registration of 2021, section 5 of the EIC Reference Manual 5.5
// of ENTSO-E).
var eic = Namespace{
	NID: "eic", Name: "Energy Identification Coding Scheme", Kind: urn.KindFormal,
	Reference: "urn-formal/eic (2021), EIC Reference Manual 5.5",
	Example:   "urn:eic:10YFR-RTE------C",
	Note:      "upper case only; the hyphen is an ordinary character and is used for padding",
	Security:  "public codes, unless one was issued to a natural person",
	Rules:     Rules{Check: checkEIC, Lint: lintEIC, Parts: partsEIC},
}

func checkEIC(nss string) *Finding {
	const rule = "EIC"
	for i := range len(nss) {
		c := nss[i]
		switch {
		case i >= 16:
			return broken(i, len(nss), rule, "more than 16 characters")
		case ascii.IsLower(c):
			f := broken(i, i+1, rule, "letters are written in upper case")
			f.Right = string(rune(ascii.Upper(c)))
			return f
		case !isLDH(c) || i < 2 && !ascii.IsDigit(c):
			return wrongByte(nss, i, rule, "two digits of the issuing office, a type letter, 12 letters, digits or hyphens, and a check character")
		}
	}
	if len(nss) < 16 {
		return broken(len(nss), len(nss), rule, "has "+strconv.Itoa(len(nss))+" characters, expected 16")
	}
	want := eicCheck(nss[:15])
	if want == '-' {
		return broken(15, 16, "EIC check character", "invalid: the check character of these 15 characters would be a hyphen")
	}
	return judgeByte(nss, 15, "EIC check character (modulo 37)", want)
}

// eicCheck returns the check character for the first 15 characters of a code. The weights of these
// characters decrease from 16 to 2. A hyphen has the value 36.
func eicCheck(s string) byte {
	sum := 0
	for i := range len(s) {
		v := 36
		if s[i] != '-' {
			v = value36(s[i])
		}
		sum += v * (16 - i)
	}
	if v := 36 - (sum-1)%37; v < 36 {
		return digit36(v)
	}
	return '-'
}

// judgeByte returns a finding if the character at offset is not the expected check character.
func judgeByte(nss string, offset int, rule string, expected byte) *Finding {
	if nss[offset] == expected {
		return nil
	}
	return wrongCheck(offset, rule, nss[offset:offset+1], string(rune(expected)))
}

// eicTypes lists the valid third characters of a code. The third character states what kind of
// object the code identifies.
const eicTypes = "TVWXYZA"

func lintEIC(nss string) []Finding {
	for i := range len(eicTypes) {
		if nss[2] == eicTypes[i] {
			return nil
		}
	}
	return []Finding{remark(CodeUnassigned, 2, 3, "EIC object type", "is not one of "+eicTypes)}
}

func partsEIC(nss string) []Part {
	return []Part{{"office", nss[:2]}, {"type", nss[2:3]}, {"code", nss[3:15]}, {"check", nss[15:]}}
}
