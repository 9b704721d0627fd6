package conform

import (
	"html"
	"regexp"
	"slices"
	"strings"

	"github.com/nomen-project/nomen/uri"
)

// A part is a part of a text/urc-0 body, which describes one URL (1995, 3.4.2).
type part struct {
	header string // the text after "====="
	url    string // as spelled, with the line breaks of a folded URL
	meta   []string
}

const partMark = "====="

// readParts splits a text/urc-0 body into parts. The result head contains the lines before the
// first part.
func readParts(body string) (head []string, parts []part) {
	lines := strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(body), "\n")
	if n := len(lines); lines[n-1] == "" {
		lines = lines[:n-1]
	}
	for i := 0; i < len(lines); i++ {
		rest, isHeader := strings.CutPrefix(lines[i], partMark)
		if len(parts) == 0 && !isHeader {
			head = append(head, lines[i])
			continue
		}
		if !isHeader {
			last := &parts[len(parts)-1]
			last.meta = append(last.meta, lines[i])
			continue
		}
		p := part{header: strings.TrimLeft(rest, "=")}
		if i+1 < len(lines) && looksLikeURL(lines[i+1]) {
			i++
			p.url = lines[i]
			for strings.HasPrefix(p.url, "<URL:") && !strings.Contains(p.url, ">") && i+1 < len(lines) && !strings.HasPrefix(lines[i+1], partMark) {
				i++
				p.url += "\n" + lines[i]
			}
		}
		parts = append(parts, p)
	}
	return head, parts
}

// urlStart matches the beginning of a line with a URL: either a scheme or "<URL:".
var urlStart = regexp.MustCompile(`^(<URL:|[A-Za-z][A-Za-z0-9+.-]*:[^ \t])`)

func looksLikeURL(line string) bool { return urlStart.MatchString(line) }

func (p part) locator() string {
	s := p.url
	if rest, ok := strings.CutPrefix(s, "<URL:"); ok {
		s, _, _ = strings.Cut(rest, ">")
		s = strings.NewReplacer("\n", "", "\t", "", " ", "").Replace(s)
	}
	return s
}

// values returns the charset and the language in the header of the part, or their defaults. The
// result odd contains all parameters that are neither.
func (p part) values() (charset, language string, odd []string) {
	charset, language = "US-ASCII", "x-unspecified"
	for _, f := range strings.FieldsFunc(p.header, func(r rune) bool { return strings.ContainsRune(" \t;,/|():", r) }) {
		name, value, named := strings.Cut(f, "=")
		switch {
		case named && strings.EqualFold(name, "charset"):
			charset = value
		case named && (strings.EqualFold(name, "language") || strings.EqualFold(name, "lang")):
			language = value
		case named:
			odd = append(odd, f)
		case knownCharset(f):
			charset = f
		default:
			language = f
		}
	}
	return charset, language, odd
}

func knownCharset(s string) bool {
	s = strings.ToUpper(s)
	if s == "US-ASCII" {
		return true
	}
	digit, ok := strings.CutPrefix(s, "ISO-8859-")
	return ok && len(digit) == 1 && '1' <= digit[0] && digit[0] <= '9'
}

var languageTag = regexp.MustCompile(`^[A-Za-z]{1,8}(-[A-Za-z0-9]{1,15})*$`)

func locators(body string) []string {
	_, parts := readParts(body)
	var urls []string
	for _, p := range parts {
		if p.url != "" {
			urls = append(urls, p.locator())
		}
	}
	return urls
}

var (
	hrefs    = regexp.MustCompile(`(?is)<a\s[^>]*?href\s*=\s*("[^"]*"|'[^']*'|[^\s>]+)`)
	plainURL = regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*:[^\s<>"]+`)
)

// anchors returns the targets of all links in an HTML document.
func anchors(body string) []string {
	var all []string
	for _, m := range hrefs.FindAllStringSubmatch(body, -1) {
		all = append(all, html.UnescapeString(strings.Trim(m[1], `"'`)))
	}
	return all
}

// firstURL returns the first URL with a common scheme in a response, or "". It first searches the
// parts of text/urc-0 or the links in HTML, and then the whole text.
func firstURL(r *response) string {
	var found []string
	switch r.mediaType() {
	case "text/urc-0":
		found = locators(r.text())
	case "text/html":
		found = anchors(r.text())
	}
	for _, w := range append(found, plainURL.FindAllString(r.text(), -1)...) {
		if u, err := uri.Parse(w); err == nil {
			if s, _ := u.Scheme(); slices.Contains([]string{"http", "https", "ftp", "mailto", "gopher"}, strings.ToLower(s)) {
				return w
			}
		}
	}
	return ""
}

// mediaType matches a media type with parameters (RFC 9110, 8.3.1).
var mediaType = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+/[!#$%&'*+.^_`|~0-9A-Za-z-]+" +
	`([ \t]*;[ \t]*([!#$%&'*+.^_` + "`" + `|~0-9A-Za-z-]+=([!#$%&'*+.^_` + "`" + `|~0-9A-Za-z-]+|"([^"\\]|\\.)*"))?)*$`)
