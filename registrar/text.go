package registrar

import (
	"fmt"
	"mime"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/nomen-project/nomen/uri"
)

// A fault is what is wrong with a value; the zero fault is none.
type fault struct {
	offset  int
	rule    string
	message string
	err     error
}

func (f fault) bad() bool { return f.message != "" }

func faultf(offset int, rule, format string, args ...any) fault {
	return fault{offset: offset, rule: rule, message: fmt.Sprintf(format, args...)}
}

// checkText accepts UTF-8 without control characters (C0, DEL, C1), except tab
// and, if there may be several, ends of lines.
func checkText(s string, lines bool) fault {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c >= utf8.RuneSelf:
			return checkRunes(s, i, lines)
		case c < ' ' && !isLayout(c, lines), c == 0x7F:
			return control(i, rune(c))
		}
	}
	return fault{}
}

func isLayout(c byte, lines bool) bool { return c == '\t' || c == '\n' && lines }

// checkRunes is checkText for what follows the first byte that is not ASCII.
func checkRunes(s string, from int, lines bool) fault {
	for i := from; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			return faultf(i, "text", "is not UTF-8")
		case r < ' ' && !isLayout(byte(r), lines), 0x7F <= r && r < 0xA0:
			return control(i, r)
		}
		i += size
	}
	return fault{}
}

func control(offset int, r rune) fault {
	return faultf(offset, "text", "holds the control character U+%04X", r)
}

// checkType accepts a media type of RFC 9110, 8.3.1, perhaps with parameters.
func checkType(s string) fault {
	const rule = "media-type"
	bare, _, params := strings.Cut(s, ";")
	main, sub, ok := strings.Cut(strings.TrimRight(bare, " \t"), "/")
	switch {
	case !ok:
		return faultf(len(main), rule, `wants the form type "/" subtype`)
	case !isToken(main):
		return faultf(0, rule, "%q is not a type", main)
	case !isToken(sub):
		return faultf(len(main)+1, rule, "%q is not a subtype", sub)
	}
	if params {
		if _, _, err := mime.ParseMediaType(s); err != nil {
			return fault{offset: len(bare), rule: rule, message: err.Error(), err: err}
		}
		return checkText(s, false)
	}
	return fault{}
}

// isToken reports whether s is a token of RFC 9110, 5.6.2.
func isToken(s string) bool {
	for i := range len(s) {
		if c := s[i]; !isAlnum(c) && strings.IndexByte("!#$%&'*+-.^_`|~", c) < 0 {
			return false
		}
	}
	return s != ""
}

const (
	maxSubtag   = 8
	unspecified = "x-unspecified" // longer than its own rules allow (1995, 3.4.2)
)

// checkLang accepts what has the shape of a language tag (RFC 5646, 2.1):
// subtags of at most eight letters and digits; the first of them, in letters, a
// language of two or more, or "x" or "i" followed by others; and any single one
// followed by others, except where "x" has made them private.
func checkLang(s string) fault {
	const rule = "Language-Tag"
	if strings.EqualFold(s, unspecified) {
		return fault{}
	}
	private := false
	start := 0
	for i := 0; i <= len(s); i++ {
		if i < len(s) && s[i] != '-' {
			if !isAlnum(s[i]) || start == 0 && !isAlpha(s[i]) {
				return faultf(i, rule, "a %q cannot be there", s[i])
			}
			continue
		}
		subtag := s[start:i]
		switch n := len(subtag); {
		case n == 0 || n > maxSubtag:
			return faultf(start, rule, "a subtag has 1 to %d letters and digits", maxSubtag)
		case n == 1 && start == 0 && strings.IndexByte("xXiI", subtag[0]) < 0:
			return faultf(start, rule, "a language has at least two letters")
		case n == 1 && !private && i == len(s):
			return faultf(start, rule, "a single letter is followed by more")
		}
		private = private || strings.EqualFold(subtag, "x")
		start = i + 1
	}
	return fault{}
}

// checkRel accepts a registered relation type or a URI (RFC 8288, 3.3).
func checkRel(s string) fault {
	for i := range len(s) {
		c := s[i]
		if 'a' <= c && c <= 'z' || i > 0 && ('0' <= c && c <= '9' || c == '.' || c == '-') {
			continue
		}
		if _, err := uri.Parse(s); err != nil {
			return faultf(i, "relation-type", "is neither a relation in lower case nor a URI")
		}
		return fault{}
	}
	return fault{}
}

// checkCountry accepts two letters (ISO 3166-1 alpha-2).
func checkCountry(s string) fault {
	if len(s) != 2 || !isAlpha(s[0]) || !isAlpha(s[1]) {
		return faultf(0, "country", "wants the two letters of ISO 3166-1")
	}
	return fault{}
}

// checkCharset accepts the charsets of text/urc-0 (1995, 3.4.2; Y95-46).
func checkCharset(s string) fault {
	up := strings.ToUpper(s)
	part, ok := strings.CutPrefix(up, "ISO-8859-")
	if up == "US-ASCII" || ok && len(part) == 1 && '1' <= part[0] && part[0] <= '9' {
		return fault{}
	}
	return faultf(0, "charset", "wants US-ASCII or one of ISO-8859-1 to ISO-8859-9")
}

// checkTime reads a date-time of RFC 3339; "" is the zero time.
func checkTime(s string) (time.Time, fault) {
	var t time.Time
	if s == "" {
		return t, fault{}
	}
	if err := t.UnmarshalText([]byte(s)); err != nil {
		return t, faultf(0, "date-time", "wants the form 2006-01-02T15:04:05Z of RFC 3339")
	}
	return t, fault{}
}

func isAlpha(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isAlnum(c byte) bool { return isAlpha(c) || '0' <= c && c <= '9' }
