package pid

import (
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/uri"
)

const (
	RuleORCID      = "Structure of the ORCID Identifier"
	RuleORCIDCheck = "Structure of the ORCID Identifier: check digit (ISO/IEC 7064, MOD 11-2)"
	RuleArXiv      = "Understanding the arXiv identifier"
)

// CheckORCID checks the four groups of an ORCID iD, such as 0000-0002-1825-0097. It checks the
// check character (ISO/IEC 7064, MOD 11-2), and that the number is in a block that ISNI has
// reserved for ORCID ("Structure of the ORCID Identifier", support.orcid.org). It returns nil if
// the iD is valid. The offset in a Finding counts from the start of id.
func CheckORCID(id string) *uri.Finding {
	var d [16]byte
	n := 0
	for i := range len(id) {
		switch c := id[i]; {
		case i%5 == 4 && i < 19:
			if c != '-' {
				return flaw(i, i+1, RuleORCID, "a hyphen must follow each group of four digits")
			}
		case n == len(d):
			return flaw(i, len(id), RuleORCID, "more than 16 digits")
		case ascii.IsDigit(c), n == 15 && c|0x20 == 'x':
			d[n] = c &^ 0x20
			if ascii.IsDigit(c) {
				d[n] = c
			}
			n++
		default:
			return flaw(i, i+1, RuleORCID, "must be 15 digits and a check character in four groups")
		}
	}
	if n < len(d) {
		return flaw(len(id), len(id), RuleORCID, "must have 16 digits in four groups")
	}
	if want := Mod11Radix2(string(d[:15])); want != d[15] {
		f := flaw(18, 19, RuleORCIDCheck, "is "+id[18:]+", should be "+string(rune(want)))
		f.Right = string(rune(want))
		return f
	}
	if s := string(d[:15]); !(s >= "000000015000000" && s <= "000000035000000" || s >= "000900000000000" && s <= "000900100000000") {
		return flaw(0, len(id), RuleORCID, "is not in a block of numbers that ORCID assigns")
	}
	return nil
}

// FoldORCID converts the check character to upper case.
func FoldORCID(id string) string { return strings.ToUpper(id) }

// Mod11Radix2 returns the check character for decimal digits by ISO/IEC 7064, MOD 11-2.
func Mod11Radix2(digits string) byte {
	sum := 0
	for i := range len(digits) {
		sum = (sum + int(digits[i]-'0')) * 2 % 11
	}
	return "0123456789X"[(12-sum)%11]
}

// LenArXiv returns the length of the arXiv identifier at the start of s, including its version, or
// 0 ("Understanding the arXiv identifier", info.arxiv.org). Since April 2007, an identifier
// consists of the year, the month, and a number with four digits, or five digits since January
// 2015. Before, it consisted of an archive, an optional subject class, the year, the month, and a
// number with three digits.
//
//	2101.00001v2   0704.0001   hep-th/9901001v1   math.GT/0309136
func LenArXiv(s string) int {
	n := lenNewArXiv(s)
	if n == 0 {
		n = lenOldArXiv(s)
	}
	if n > 0 && n+1 < len(s) && s[n] == 'v' && '1' <= s[n+1] && s[n+1] <= '9' {
		n += 1 + countDigits(s[n+1:])
	}
	return n
}

func lenNewArXiv(s string) int {
	if countDigits(s) != 4 || len(s) < 9 || s[4] != '.' || !isMonth(s[2:4]) || s[:4] < "0704" {
		return 0
	}
	n := 4
	if s[:4] >= "1501" {
		n = 5
	}
	if countDigits(s[5:]) != n {
		return 0
	}
	return 5 + n
}

func lenOldArXiv(s string) int {
	slash := strings.IndexByte(s, '/')
	if slash < 0 || countDigits(s[slash+1:]) != 7 {
		return 0
	}
	archive, class, has := strings.Cut(s[:slash], ".")
	if !isArchive(archive) || has && (len(class) != 2 || !ascii.IsLetter(class[0]) || !ascii.IsLetter(class[1])) && archive != "cond-mat" && archive != "physics" {
		return 0
	}
	if date := s[slash+1:]; !isMonth(date[2:4]) || date[:4] < "9107" && date[:4] > "0703" {
		return 0
	}
	return slash + 8
}

// isArchive reports whether arXiv had an archive with this name before April 2007.
func isArchive(name string) bool {
	switch name {
	case "acc-phys", "adap-org", "alg-geom", "ao-sci", "astro-ph", "atom-ph", "bayes-an", "chao-dyn", "chem-ph", "cmp-lg",
		"comp-gas", "cond-mat", "cs", "dg-ga", "funct-an", "gr-qc", "hep-ex", "hep-lat", "hep-ph", "hep-th", "math", "math-ph",
		"mtrl-th", "nlin", "nucl-ex", "nucl-th", "patt-sol", "physics", "plasm-ph", "q-alg", "q-bio", "quant-ph", "solv-int", "supr-con":
		return true
	}
	return false
}

func isMonth(s string) bool { return s >= "01" && s <= "12" }

func countDigits(s string) int { return ascii.Run(s, 0, ascii.IsDigit) }

// CheckWeb checks the URL of an ORCID iD, such as https://orcid.org/0000-0002-1825-0097, or of an
// arXiv identifier, such as https://arxiv.org/abs/2101.00001. It returns nil if the number in the
// URL is valid, and for all other URIs.
func CheckWeb(u uri.URI) *uri.Finding {
	host, _ := u.Host()
	path := u.Path()
	at := textOf(u).path
	switch {
	case strings.EqualFold(host, "orcid.org"):
		if len(path) < 6 || countDigits(path[1:]) != 4 || path[5] != '-' {
			return nil // another page
		}
		f := CheckORCID(path[1:])
		if f != nil {
			f.Offset += at + 1
			f.End += at + 1
		}
		return f
	case strings.EqualFold(host, "arxiv.org") && strings.HasPrefix(path, "/abs/"):
		if id := path[len("/abs/"):]; LenArXiv(id) != len(id) || id == "" {
			return flaw(at+len("/abs/"), at+len(path), RuleArXiv, "is not an arXiv identifier, such as 2101.00001v2 or hep-th/9901001")
		}
	}
	return nil
}
