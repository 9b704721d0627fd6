package namespace

import (
	"fmt"
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
)

// mendAlnum removes all characters except letters and digits, and describes this change. It is for
// numbers with check digits, in which punctuation has no meaning.
func mendAlnum(nss string) (string, string) {
	b := make([]byte, 0, len(nss))
	for i := range len(nss) {
		if ascii.IsAlnum(nss[i]) {
			b = append(b, nss[i])
		}
	}
	return string(b), "other characters between the digits"
}

// mendISBN is like mendAlnum, for ISBNs. It adds the leading 0 to nine digits, and the check digit
// to twelve digits. It removes a repeated digit from fourteen digits.
func mendISBN(nss string) (string, string) {
	s, why := mendAlnum(nss)
	switch {
	case len(s) == 9:
		return "0" + s, "nine digits are an ISBN without its leading 0"
	case len(s) == 12 && digits(s, 0) == len(s):
		return s + string(rune(weighed13(s))), "the check digit is missing"
	case len(s) == 14:
		for i := 1; i < len(s); i++ {
			if once := s[:i] + s[i+1:]; s[i] == s[i-1] && checkISBN(once) == nil {
				return once, fmt.Sprintf("%q was repeated", s[i:i+1])
			}
		}
	}
	return s, why
}

// mendISSN is like mendAlnum, and inserts the hyphen after the first four digits.
func mendISSN(nss string) (string, string) {
	s, why := mendAlnum(nss)
	if len(s) != 8 {
		return s, why
	}
	return s[:4] + "-" + s[4:], why
}

// mendUUID inserts the hyphens after 8, 4, 4 and 4 digits.
func mendUUID(nss string) (string, string) {
	b := make([]byte, 0, len(nilUUID))
	for i := range len(nss) {
		c := nss[i]
		switch {
		case ascii.IsHex(c) && len(b) < len(nilUUID):
			b = append(b, c)
		case strings.IndexByte("-{}() ", c) < 0:
			return "", ""
		}
		if len(b) < len(nilUUID) && nilUUID[len(b)] == '-' {
			b = append(b, '-')
		}
	}
	if len(b) != len(nilUUID) {
		return "", ""
	}
	return string(b), "the hyphens after 8, 4, 4 and 4 digits"
}

func mendOID(nss string) (string, string) {
	return strings.TrimLeft(nss, "."), "leading period"
}

// mendGS1 converts a name with application identifiers in brackets, which is the form on labels, to
// the registered form.
func mendGS1(nss string) (string, string) {
	if nss[0] != '(' {
		return "", ""
	}
	return strings.NewReplacer("(", ":", ")", ":").Replace(nss)[1:], "application identifiers stand in brackets on labels alone"
}
