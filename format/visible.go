package format

import (
	"errors"
	"strings"

	"golang.org/x/text/language"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/uri"
)

func isControl(r rune) bool { return r < ' ' || '\x7F' <= r && r < '\u00A0' }

func isAbsolute(s string) bool {
	_, err := uri.Parse(s)
	return err == nil
}

// isLanguageTag reports whether s is a well-formed language tag (RFC 5646, section 2.2.9).
func isLanguageTag(s string) bool {
	if !isLanguage(s) {
		return false
	}
	_, err := language.Parse(s)
	var unknown language.ValueError
	return err == nil || errors.As(err, &unknown) // an unregistered subtag in a well-formed tag
}

// mediaTypeOf returns a media type without its parameters (RFC 8288, section 3.4.1; RFC 6838,
// section 4.2). It returns "" if the media type is invalid.
func mediaTypeOf(s string) string {
	s, _, _ = strings.Cut(s, ";")
	s = strings.Trim(s, " \t")
	kind, subtype, _ := strings.Cut(s, "/")
	if !isRestrictedName(kind) || !isRestrictedName(subtype) {
		return ""
	}
	return s
}

// isRestrictedName reports whether s is a restricted-name (RFC 6838, section 4.2).
func isRestrictedName(s string) bool {
	const most = 127
	if s == "" || len(s) > most || !ascii.IsAlnum(s[0]) {
		return false
	}
	for _, c := range []byte(s) {
		if !ascii.IsAlnum(c) && strings.IndexByte("!#$&-^_.+", c) < 0 {
			return false
		}
	}
	return true
}

// isLanguage reports whether s has the form of a language tag (RFC 1766, section 2). Subtags may be
// longer than eight characters, as in "x-unspecified".
func isLanguage(s string) bool {
	const maxTag = 255
	if len(s) > maxTag {
		return false
	}
	for i, subtag := range strings.Split(s, "-") {
		if subtag == "" {
			return false
		}
		for _, c := range []byte(subtag) {
			if !ascii.IsLetter(c) && (i == 0 || !ascii.IsDigit(c)) {
				return false
			}
		}
	}
	return true
}
