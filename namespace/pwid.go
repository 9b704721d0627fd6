package namespace

import (
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/urn"
)

var pwid = Namespace{
	NID: "pwid", Name: "Persistent Web Identifiers", Kind: urn.KindFormal,
	Reference: "urn-formal/pwid (2022)", Example: "urn:pwid:archive.org:2016-01-22T10:08:23Z:page:https://www.dr.dk",
	Security:    "as stated in the registration",
	Equivalence: "letters in either case, but not in the address of what is archived",
	Rules:       Rules{Check: checkPWID, Parts: partsPWID, Canonical: foldPWID},
}

// endOfTime returns the offset of the colon that follows the archival time at offset i, or -1.
func endOfTime(nss string, i int) int {
	if z := min(until(nss, i, 'Z'), until(nss, i, 'z')); z+1 < len(nss) && nss[z+1] == ':' {
		return z + 1
	}
	return -1
}

// foldPWID converts the letters of the archival time to upper case, and other letters before the
// archived URL to lower case. The argument may be a prefix of a name.
func foldPWID(nss string) string {
	start := min(until(nss, 0, ':')+1, len(nss))
	end := endOfTime(nss, start)
	if end < 0 {
		end = len(nss)
	}
	precision := min(end+1, len(nss))
	archived := until(nss, precision, ':')
	folded := foldCase(nss[:start]) + strings.ToUpper(nss[start:end]) + foldCase(nss[end:archived]) + nss[archived:]
	if folded == nss {
		return nss
	}
	return folded
}

func checkPWID(nss string) *Finding {
	start := until(nss, 0, ':') + 1
	end := -1
	if start <= len(nss) {
		end = endOfTime(nss, start)
	}
	switch {
	case start == 1:
		return broken(0, 0, "archive-domain", "is empty")
	case end < 0:
		return broken(min(start, len(nss)), len(nss), "archival-time", "expected a time in UTC that ends in Z, and a colon")
	}
	if f := checkArchivalTime(nss, start, end); f != nil {
		return f
	}
	precision := until(nss, end+1, ':')
	switch p := nss[end+1 : precision]; {
	case !strings.EqualFold(p, "part") && !strings.EqualFold(p, "page"):
		return broken(end+1, precision, "precision-spec", "expected part or page")
	case precision+1 >= len(nss):
		return broken(len(nss), len(nss), "archived-uri", "is missing")
	}
	return nil
}

// checkArchivalTime parses a date and an optional time with hours, minutes, seconds and a fraction.
func checkArchivalTime(nss string, start, end int) *Finding {
	const rule = "archival-time"
	s := nss[start : end-1]
	if len(s) < 10 || !isDate(s[:10]) {
		return broken(start, end, rule, "expected a date of the form YYYY-MM-DD")
	}
	if len(s) == 10 {
		return nil
	}
	const form = "T00:00:00"
	t := s[10:]
	for i := range min(len(t), len(form)) {
		if form[i] == '0' && !ascii.IsDigit(t[i]) || form[i] != '0' && ascii.Upper(t[i]) != form[i] {
			return wrongByte(nss, start+10+i, rule, "a time of the form HH:MM:SS")
		}
	}
	switch {
	case len(t) != 3 && len(t) != 6 && len(t) < len(form),
		t[1:3] > "23", len(t) >= 6 && t[4:6] > "59", len(t) >= 9 && t[7:9] > "60":
		return broken(start+10, end, rule, "is not a time")
	case len(t) > len(form) && (t[9] != '.' || len(t) == 10 || len(t) > 19 || digits(t, 10) < len(t)):
		return broken(start+19, end, "secfrac", "expected a period and 1 to 9 digits")
	}
	return nil
}

func partsPWID(nss string) []Part {
	start := until(nss, 0, ':') + 1
	end := endOfTime(nss, start)
	precision, archived, _ := strings.Cut(nss[end+1:], ":")
	return []Part{{"archive", nss[:start-1]}, {"time", nss[start:end]}, {"precision", precision}, {"uri", archived}}
}
