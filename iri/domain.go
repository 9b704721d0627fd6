package iri

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"

	"github.com/nomen-project/nomen/internal/ascii"
)

// profile returns UTS 46 with nontransitional processing. It permits hyphens anywhere and labels of
// any length, because existing names have them ("r3---sn-4g5e6nez.example").
func profile() *idna.Profile {
	return idna.New(
		idna.MapForLookup(), idna.Transitional(false), idna.StrictDomainName(false),
		idna.CheckHyphens(false), idna.VerifyDNSLength(false), idna.BidiRule(),
	)
}

// ASCIIDomain converts a domain name without escapes to ASCII, in lower case (RFC 3987, section
// 3.1; UTS 46, section 4.2). It returns an error if the result has an empty label or contains a
// delimiter of URLs, because a URL with this result would have a different host. The conversion can
// produce delimiters: it converts "℀" to "a/c", and "／" to "/".
func ASCIIDomain(host string) (string, error) {
	if !utf8.ValidString(host) {
		return "", errors.New("not UTF-8")
	}
	domain := lowerASCII(host)
	if !ascii.IsASCII(domain) {
		// Since Unicode 15.1, UTS 46 maps the capital sharp s to the small sharp s. The tables of
		// package idna are older.
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

func unicodeDomain(domain string) (string, error) {
	display, err := profile().ToUnicode(domain)
	if err == nil && hasEmptyLabel(display) && !hasEmptyLabel(domain) {
		err = fmt.Errorf("label without characters in %q", domain)
	}
	return display, err
}

func hasEmptyLabel(s string) bool {
	s = strings.TrimSuffix(s, ".")
	return s == "" || s[0] == '.' || strings.Contains(s, "..")
}

// isForbidden reports whether r is a forbidden domain code point of the URL Standard or a non-ASCII
// character.
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
