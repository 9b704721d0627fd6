package namespace

import (
	"strconv"
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/urn"
)

// Maritime Resource Names (the registration of 2017).
var mrn = Namespace{
	NID: "mrn", Name: "Maritime Resource Names", Kind: urn.KindFormal,
	Reference:   "urn-formal/mrn (2017)",
	Example:     "urn:mrn:iala:aton:us:1234.5",
	Note:        "each organisation sets the form of its own strings; IMO ship numbers are checked",
	Security:    "can disclose ships, cargo and voyages",
	Equivalence: "organization and type in either case",
	Rules:       Rules{Check: checkMRN, Lint: lintMRN, Parts: partsColon("organization", "type", "string"), Canonical: canonicalMRN},
}

func checkMRN(nss string) *Finding {
	end, f := label(nss, 0, "OID", 22)
	if f != nil {
		return f
	}
	end, f = label(nss, end+1, "OSNID", 34)
	switch {
	case f != nil:
		return f
	case end+1 == len(nss):
		return broken(end+1, end+1, "OSNS", "is empty")
	case nss[end+1] == '/':
		return broken(end+1, end+2, "OSNS", "begins with a slash")
	}
	return nil
}

// label parses a token at offset i and the colon after the token, and returns the offset of the
// colon. The length of a token is from 2 to limit. It consists of letters, digits and inner
// hyphens.
func label(nss string, i int, rule string, limit int) (int, *Finding) {
	end := ascii.Run(nss, i, isLDH)
	switch {
	case end == len(nss):
		return end, broken(end, end, rule, "expected a colon and more after it")
	case nss[end] != ':':
		return end, wrongByte(nss, end, rule, "letters, digits and hyphens")
	case end-i < 2 || end-i > limit:
		return end, broken(i, end, rule, "has "+strconv.Itoa(end-i)+" characters, expected 2 to "+strconv.Itoa(limit))
	case nss[i] == '-' || nss[end-1] == '-':
		return end, broken(i, end, rule, "begins or ends with a hyphen")
	}
	return end, nil
}

func canonicalMRN(nss string) string {
	end := until(nss, until(nss, 0, ':')+1, ':')
	if head := strings.ToLower(nss[:end]); head != nss[:end] {
		return head + nss[end:]
	}
	return nss
}

// lintMRN reports IMO ship numbers with a wrong check digit. The weights of the other digits are 7
// to 2.
func lintMRN(nss string) []Finding {
	const head = "imo:imo-number:"
	if len(nss) != len(head)+7 || !strings.EqualFold(nss[:len(head)], head) || digits(nss, len(head)) < len(nss) {
		return nil
	}
	sum := 0
	for i := range 6 {
		sum += int(nss[len(head)+i]-'0') * (7 - i)
	}
	last := len(nss) - 1
	want := string(rune('0' + sum%10))
	if nss[last:] == want {
		return nil
	}
	f := remark(CodeCheckDigit, last, last+1, "IMO number", "check digit is "+nss[last:]+", should be "+want)
	f.Right = want
	return []Finding{f}
}
