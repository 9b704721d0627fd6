package namespace

import (
	"fmt"
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
)

// mendAlnum returns the letters and digits of nss, because other characters have no meaning in
// numbers with check digits. It also returns this reason in words.
func mendAlnum(nss string) (string, string) {
	b := make([]byte, 0, len(nss))
	for i := range len(nss) {
		if ascii.IsAlnum(nss[i]) {
			b = append(b, nss[i])
		}
	}
	return string(b), "other characters between the digits"
}

// mendISBN is like mendAlnum, but also corrects nine digits (a number of the system before ISBN,
// which needs a leading 0), twelve digits (the check digit is missing), and fourteen digits (one
// digit is repeated).
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

// mendISSN writes the hyphen after the first four digits.
func mendISSN(nss string) (string, string) {
	s, why := mendAlnum(nss)
	if len(s) != 8 {
		return s, why
	}
	return s[:4] + "-" + s[4:], why
}

// mendUUID writes the hyphens after 8, 4, 4 and 4 digits.
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

// mendGS1 converts a name with application identifiers in brackets, as on labels, to the form
// of the registration.
func mendGS1(nss string) (string, string) {
	if nss[0] != '(' {
		return "", ""
	}
	return strings.NewReplacer("(", ":", ")", ":").Replace(nss)[1:], "application identifiers stand in brackets on labels alone"
}
