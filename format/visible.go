package format

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/language"

	"github.com/nomen-project/nomen/uri"
)

// visible returns s fit to be shown to a person: control characters, and those
// that change the direction or the order of what stands around them, as their
// code point in brackets; bytes that are not UTF-8 as U+FFFD. Line ends become
// LF.
func visible(s string) string {
	s = lines(s)
	if strings.IndexFunc(s, isOdd) < 0 {
		return strings.ToValidUTF8(s, "\uFFFD")
	}
	var b strings.Builder
	for _, r := range s {
		if isOdd(r) {
			fmt.Fprintf(&b, "[U+%04X]", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// visibleLine is visible on one line.
func visibleLine(s string) string {
	return visible(strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' || r == '\t' }), " "))
}

// isOdd reports whether r is one that a reader would not see but that a terminal
// or a browser would obey.
func isOdd(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case isControl(r), unicode.Is(unicode.Bidi_Control, r):
		return true
	}
	return r == '\u2028' || r == '\u2029' || r == '\uFEFF'
}

// isControl reports whether r is a character of C0 or C1, or DEL.
func isControl(r rune) bool { return r < ' ' || '\x7F' <= r && r < '\u00A0' }

// lines returns s with LF for every line end.
func lines(s string) string {
	if strings.IndexByte(s, '\r') < 0 {
		return s
	}
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}

// isAbsolute reports whether s is a URI.
func isAbsolute(s string) bool {
	_, err := uri.Parse(s)
	return err == nil
}

// isLanguageTag reports whether s is a well-formed language tag (RFC 5646, 2.2.9).
func isLanguageTag(s string) bool {
	if !isLanguage(s) {
		return false
	}
	_, err := language.Parse(s)
	var unknown language.ValueError
	return err == nil || errors.As(err, &unknown) // well formed, with a subtag that is not registered
}

// mediaTypeOf returns type "/" subtype of a media type, without parameters (RFC
// 8288, 3.4.1; RFC 6838, 4.2); "" if it is none.
func mediaTypeOf(s string) string {
	s, _, _ = strings.Cut(s, ";")
	s = strings.Trim(s, " \t")
	kind, subtype, _ := strings.Cut(s, "/")
	if !isRestrictedName(kind) || !isRestrictedName(subtype) {
		return ""
	}
	return s
}

// isRestrictedName reports whether s is a restricted-name of RFC 6838, 4.2.
func isRestrictedName(s string) bool {
	const most = 127
	if s == "" || len(s) > most || !isAlnum(s[0]) {
		return false
	}
	for _, c := range []byte(s) {
		if !isAlnum(c) && strings.IndexByte("!#$&-^_.+", c) < 0 {
			return false
		}
	}
	return true
}

// isLanguage reports whether s has the form of a language tag (RFC 1766, 2; the
// default of text/urc-0 has a longer subtag than the rule allows).
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
			if !isAlpha(c) && (i == 0 || !isDigit(c)) {
				return false
			}
		}
	}
	return true
}
