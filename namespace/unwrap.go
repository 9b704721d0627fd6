package namespace

import (
	"strings"
	"unicode/utf8"

	"github.com/nomen-project/nomen/internal/ascii"
)

// unwrap removes punctuation around a name, and the URL that contains a name. The removal becomes
// part of the reason for suggestions.
func (g *guess) unwrap(s string) string {
	text := narrow(s)
	if text != s {
		g.because("full-width, foreign or invisible characters")
	}
	trimmed := strings.TrimSpace(text)
	if t, ok := ascii.CutPrefix(trimmed, "url:"); ok {
		trimmed = t
	}
	trimmed = trimMarks(trimmed, marks)
	if t := trimMarks(trimmed, marks+":"); t != trimmed && !g.valid(trimmed) {
		trimmed = t // an empty last field may belong to a name
	}
	if trimmed != text {
		g.because("punctuation around the name")
	}
	if inner, why := insideAddress(trimmed); inner != "" {
		g.because(why)
		g.cut = true
		return inner
	}
	return trimmed
}

// narrow converts full-width characters and Arabic digits to ASCII, and removes invisible
// characters.
func narrow(s string) string {
	if ascii.IsASCII(s) || !utf8.ValidString(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		switch {
		case '！' <= r && r <= '～':
			return r - '！' + '!'
		case '٠' <= r && r <= '٩':
			return r - '٠' + '0'
		case '۰' <= r && r <= '۹':
			return r - '۰' + '0'
		case '\u200b' <= r && r <= '\u200f', '\u202a' <= r && r <= '\u202e', '\u2060' <= r && r <= '\u2069', r == '\ufeff':
			return -1
		}
		return r
	}, s)
}

// marks are punctuation that often follows names in sentences.
const marks = ">)]}\"'“”„«»‘’ .,;!?…"

// trimMarks removes opening brackets and quotation marks at the start of s, and the given marks at
// the end. It keeps a closing bracket if the rest of s has the matching opening bracket.
func trimMarks(s, marks string) string {
	s = strings.TrimLeft(s, "<([{\"'“”„«»‘’ ")
	unclosed := map[rune]int{}
	for i := range len(s) {
		switch s[i] {
		case ')', ']', '}':
			unclosed[rune(s[i])]--
		case '(':
			unclosed[')']++
		case '[':
			unclosed[']']++
		case '{':
			unclosed['}']++
		}
	}
	for s != "" {
		r, n := utf8.DecodeLastRuneInString(s)
		bracket := strings.ContainsRune(")]}", r)
		if !strings.ContainsRune(marks, r) || bracket && unclosed[r] >= 0 {
			break
		}
		if bracket {
			unclosed[r]++
		}
		s = s[:len(s)-n]
	}
	return s
}

// plain converts typographic dashes to hyphens, and removes white space.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case '\u2010', '\u2011', '\u2012', '\u2013', '\u2014', '\u2015', '\u2212', '\u00ad', '\u2043', '\ufe58', '\ufe63':
			return '-'
		case ' ', '\t', '\n', '\r', '\v', '\f', '\u00a0', '\u202f', '\u205f', '\u3000':
			return -1
		}
		if '\u2000' <= r && r <= '\u200a' {
			return -1
		}
		return r
	}, s)
}

func insideAddress(text string) (inner, why string) {
	rest, ok := ascii.CutPrefix(text, "https://")
	if !ok {
		rest, ok = ascii.CutPrefix(text, "http://")
	}
	host, path, more := strings.Cut(rest, "/")
	switch strings.ToLower(host) {
	case "doi.org", "dx.doi.org", "www.doi.org":
		ok = true
	}
	if !ok || !more || path == "" {
		return "", ""
	}
	if inner := findURN(path); inner != "" {
		return inner, "a URL that contains the name"
	}
	if strings.HasPrefix(path, "10.") {
		return "doi:" + path, "the URL of a DOI name"
	}
	return labelled(path)
}

func labelled(path string) (inner, why string) {
	for segment, rest, more := "", path, true; more && rest != ""; {
		segment, rest, more = strings.Cut(rest, "/")
		nid := strings.ToLower(segment)
		if among(selfChecking, nid) && rest != "" {
			number, _, _ := strings.Cut(rest, "/")
			return nid + ":" + number, "the URL of an " + strings.ToUpper(nid)
		}
		if nid == "doi" {
			if i := strings.Index(rest, "10."); i == 0 || i > 0 && rest[i-1] == '/' && !strings.Contains(rest[:i-1], "/") {
				return "doi:" + rest[i:], "the URL of a DOI name"
			}
		}
	}
	return "", ""
}

func findURN(path string) string {
	for i := range len(path) {
		if i > 0 && ascii.IsAlnum(path[i-1]) || path[i]|0x20 != 'u' {
			continue
		}
		if _, ok := ascii.CutPrefix(path[i:], "urn:"); ok {
			return path[i:]
		}
		if inner, ok := unescapeURN(path[i:]); ok {
			return inner
		}
	}
	return ""
}

// unescapeURN decodes the colons and slashes of a percent-encoded URN at the start of s. Such URNs
// are in the queries of URLs. The URN ends at the first "&", "#" or "/".
func unescapeURN(s string) (string, bool) {
	rest, ok := ascii.CutPrefix(s, "urn%3a")
	if !ok {
		return "", false
	}
	if end := strings.IndexAny(rest, "&#/"); end >= 0 {
		rest = rest[:end]
	}
	return "urn:" + strings.NewReplacer("%3A", ":", "%3a", ":", "%2F", "/", "%2f", "/").Replace(rest), true
}
