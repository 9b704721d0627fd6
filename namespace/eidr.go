package namespace

import (
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/urn"
)

// Entertainment Identifier Registry (RFC 7972). The names are DOIs with a colon in place of the
// slash.
var eidr = Namespace{
	NID: "eidr", Name: "Entertainment Identifier Registry", Kind: urn.KindFormal,
	Reference:   "RFC 7972",
	Example:     "urn:eidr:10.5240:7791-8534-2C23-9030-8610-5",
	Note:        "the check character of content names (10.5240) is checked",
	Security:    "as stated in RFC 7972",
	Equivalence: "letters in either case",
	Rules:       Rules{Check: checkEIDR, Parts: partsColon("prefix", "suffix"), Canonical: strings.ToUpper, Display: displayEIDR},
}

func checkEIDR(nss string) *Finding {
	const content, form = "10.5240:", "0000-0000-0000-0000-0000-0"
	if len(nss) < len(content) || nss[:3] != "10." || until(nss, 0, ':') != len(content)-1 || digits(nss, 3) != len(content)-1 {
		return broken(0, until(nss, 0, ':'), "prefix", "expected a DOI prefix such as 10.5240 and a colon")
	}
	if nss[:len(content)] != content {
		if i := ascii.Run(nss, len(content), isLDH); i < len(nss) || i == len(content) {
			return wrongByte(nss, i, "suffix", "letters, digits and hyphens")
		}
		return nil
	}
	var d [20]byte
	n := 0
	for i := range form {
		at := len(content) + i
		last := i == len(form)-1
		switch {
		case at >= len(nss), form[i] == '-' && nss[at] != '-', form[i] == '0' && !last && !ascii.IsHex(nss[at]), last && !ascii.IsAlnum(nss[at]):
			return wrongByte(nss, at, "suffix", "five groups of 4 hex digits and a check character, separated by hyphens")
		case form[i] == '0' && !last:
			d[n] = ascii.Upper(nss[at])
			n++
		}
	}
	last := len(content) + len(form) - 1
	if len(nss) > last+1 {
		return broken(last+1, len(nss), "suffix", "more than 20 hex digits and a check character")
	}
	if want := mod37hybrid36(d[:]); ascii.Upper(nss[last]) != want {
		return wrongCheck(last, "EIDR check character (ISO/IEC 7064, MOD 37,36)", nss[last:], string(rune(want)))
	}
	return nil
}

func displayEIDR(nss string) string {
	return strings.Replace(strings.ToUpper(nss), ":", "/", 1)
}
