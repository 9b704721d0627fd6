package namespace

import (
	"strconv"
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/urn"
)

// Legal Entity Identifiers (the registration of 2021, ISO 17442-1).
var lei = Namespace{
	NID: "lei", Name: "Legal Entity Identifier", Kind: urn.KindFormal,
	Reference:   "urn-formal/lei (2021), ISO 17442-1",
	Example:     "urn:lei:7LTWFZYICNSX8D621K86",
	Note:        "letters are written in upper case",
	Security:    "public data about organisations, never about people",
	Equivalence: "letters in either case",
	Rules:       Rules{Check: checkLEI, Lint: lintUpper, Parts: partsLEI, Canonical: strings.ToUpper, Mend: mendAlnum},
}

func checkLEI(nss string) *Finding {
	const rule = "LEI"
	for i := range len(nss) {
		switch {
		case i >= 20:
			return broken(i, len(nss), rule, "more than 20 characters")
		case !ascii.IsAlnum(nss[i]) || i >= 18 && !ascii.IsDigit(nss[i]):
			return wrongByte(nss, i, rule, "18 letters or digits and 2 check digits")
		}
	}
	if len(nss) < 20 {
		return broken(len(nss), len(nss), rule, "has "+strconv.Itoa(len(nss))+" characters, expected 20")
	}
	var d [20]byte
	copy(d[:], nss)
	if Mod97(d[:]) == 1 {
		return nil
	}
	d[18], d[19] = '0', '0'
	check := 98 - Mod97(d[:])
	return wrongCheck(18, "LEI check digits (ISO/IEC 7064, MOD 97-10)", nss[18:], string([]byte{digit36(check / 10), digit36(check % 10)}))
}

func lintUpper(nss string) []Finding {
	if s := strings.ToUpper(nss); s != nss {
		return []Finding{advice(0, len(nss), "letters", "are written in upper case", s)}
	}
	return nil
}

func partsLEI(nss string) []Part {
	s := strings.ToUpper(nss)
	return []Part{{"issuer", s[:4]}, {"entity", s[4:18]}, {"check", s[18:]}}
}
