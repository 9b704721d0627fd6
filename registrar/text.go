package registrar

import (
	"fmt"
	"mime"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/uri"
)

// A fault describes an error in a value. The zero fault means that the value is valid.
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

// checkText checks that a text is UTF-8 without control characters (C0, DEL, C1). It permits tabs.
// If lines is true, it also permits line breaks.
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

func checkFull(s string, lines bool) fault {
	if s == "" {
		return faultf(0, "text", "must not be empty")
	}
	return checkText(s, lines)
}

func isLayout(c byte, lines bool) bool { return c == '\t' || c == '\n' && lines }

// checkRunes checks the rest of a text for checkText, from the first byte that is not ASCII.
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
	return faultf(offset, "text", "contains the control character U+%04X", r)
}

// checkType checks a media type (RFC 9110, 8.3.1), with or without parameters.
func checkType(s string) fault {
	const rule = "media-type"
	bare, _, params := strings.Cut(s, ";")
	main, sub, ok := strings.Cut(strings.TrimRight(bare, " \t"), "/")
	switch {
	case !ok:
		return faultf(len(main), rule, `expected type "/" subtype`)
	case !isToken(main):
		return faultf(0, rule, "invalid type %q", main)
	case !isToken(sub):
		return faultf(len(main)+1, rule, "invalid subtype %q", sub)
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
		if !ascii.IsToken(s[i]) {
			return false
		}
	}
	return s != ""
}

const (
	maxSubtag   = 8
	unspecified = "x-unspecified" // defined by the draft of 1995, section 3.4.2, although longer than its own limit for a subtag
)

// checkLang checks the form of a language tag (RFC 5646, 2.1): subtags of at most eight letters and
// digits. The first subtag is a language of at least two letters, or "x" or "i" followed by another
// subtag. After the subtag "x", all subtags are private. Any other later subtag of one character
// must be followed by another subtag.
func checkLang(s string) fault {
	const rule = "Language-Tag"
	if strings.EqualFold(s, unspecified) {
		return fault{}
	}
	private := false
	start := 0
	for i := 0; i <= len(s); i++ {
		if i < len(s) && s[i] != '-' {
			if !ascii.IsAlnum(s[i]) || start == 0 && !ascii.IsLetter(s[i]) {
				return faultf(i, rule, "unexpected character %q", s[i])
			}
			continue
		}
		subtag := s[start:i]
		switch n := len(subtag); {
		case n == 0 || n > maxSubtag:
			return faultf(start, rule, "a subtag must have 1 to %d letters and digits", maxSubtag)
		case n == 1 && start == 0 && strings.IndexByte("xXiI", subtag[0]) < 0:
			return faultf(start, rule, "a language must have at least two letters")
		case n == 1 && !private && i == len(s):
			return faultf(start, rule, "a single letter must be followed by another subtag")
		}
		private = private || strings.EqualFold(subtag, "x")
		start = i + 1
	}
	return fault{}
}

// checkRel checks a relation: a registered relation type or a URI (RFC 8288, 3.3).
func checkRel(s string) fault {
	for i := range len(s) {
		c := s[i]
		if 'a' <= c && c <= 'z' || i > 0 && ('0' <= c && c <= '9' || c == '.' || c == '-') {
			continue
		}
		if _, err := uri.Parse(s); err != nil {
			return faultf(i, "relation-type", "must be a relation type in lower case or a URI")
		}
		return fault{}
	}
	return fault{}
}

func checkCountry(s string) fault {
	if len(s) != 2 || !ascii.IsLetter(s[0]) || !ascii.IsLetter(s[1]) {
		return faultf(0, "country", "must be two letters (ISO 3166-1)")
	}
	return fault{}
}

// checkCharset checks that text/urc-0 permits a charset (1995, 3.4.2; Y95-46).
func checkCharset(s string) fault {
	up := strings.ToUpper(s)
	part, ok := strings.CutPrefix(up, "ISO-8859-")
	if up == "US-ASCII" || ok && len(part) == 1 && '1' <= part[0] && part[0] <= '9' {
		return fault{}
	}
	return faultf(0, "charset", "must be US-ASCII or one of ISO-8859-1 to ISO-8859-9")
}

// checkTime parses a date and time of RFC 3339. The result for "" is the zero time.
func checkTime(s string) (time.Time, fault) {
	var t time.Time
	if s == "" {
		return t, fault{}
	}
	if err := t.UnmarshalText([]byte(s)); err != nil {
		return t, faultf(0, "date-time", "must have the form 2006-01-02T15:04:05Z (RFC 3339)")
	}
	return t, fault{}
}
