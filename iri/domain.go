package iri

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"

	"github.com/nomen-project/nomen/internal/ascii"
)

// profile is UTS 46 with nontransitional processing. Hyphens are allowed
// anywhere, and labels may have any length, as in existing names
// ("r3---sn-4g5e6nez.example").
func profile() *idna.Profile {
	return idna.New(
		idna.MapForLookup(), idna.Transitional(false), idna.StrictDomainName(false),
		idna.CheckHyphens(false), idna.VerifyDNSLength(false), idna.BidiRule(),
	)
}

// ASCIIDomain converts a domain name without escapes to ASCII (3.1; UTS 46, section 4.2), in lower
// case. The result must be the same host. So an empty label, or a character that delimits hosts in
// URLs, is an error, even if only the mapping produces it ("℀" is mapped to "a/c", "／" to "/").
func ASCIIDomain(host string) (string, error) {
	if !utf8.ValidString(host) {
		return "", errors.New("not UTF-8")
	}
	domain := lowerASCII(host)
	if !ascii.IsASCII(domain) {
		// UTS 46 maps the capital sharp s to the small one since Unicode 15.1;
		// the library's tables are older.
		var err error
		if domain, err = profile().ToASCII(strings.ReplaceAll(host, "\u1E9E", "ß")); err != nil {
			return "", err
		}
		if hasEmptyLabel(domain) {
			return "", fmt.Errorf("empty label in %q", domain)
		}
	}
	if i := strings.IndexFunc(domain, isForbidden); i >= 0 {
		return "", fmt.Errorf("%q is not allowed in a domain name", domain[i])
	}
	return domain, nil
}

// unicodeDomain decodes the Punycode labels of a result of [ASCIIDomain].
func unicodeDomain(domain string) (string, error) {
	display, err := profile().ToUnicode(domain)
	if err == nil && hasEmptyLabel(display) && !hasEmptyLabel(domain) {
		err = fmt.Errorf("label without characters in %q", domain)
	}
	return display, err
}

// hasEmptyLabel reports whether a label other than the root is empty.
func hasEmptyLabel(s string) bool {
	s = strings.TrimSuffix(s, ".")
	return s == "" || s[0] == '.' || strings.Contains(s, "..")
}

// isForbidden reports whether a character is not allowed in a domain name: a
// forbidden domain code point of the URL Standard, or one beyond ASCII.
func isForbidden(r rune) bool {
	return r <= ' ' || r >= 0x7F || strings.ContainsRune("#%/:<>?@[\\]^|", r)
}

func lowerASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, s)
}
