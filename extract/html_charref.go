package extract

import (
	"bytes"

	"golang.org/x/net/html"

	"github.com/nomen-project/nomen/extract/internal/source"
	"github.com/nomen-project/nomen/internal/ascii"
)

// decode appends the next n octets to a text. If references is true, it decodes character
// references (HTML Standard, section 13.2.5.72 ff.).
func (l *htmlLexer) decode(to *source.Mapped, n int, references, attribute bool) {
	for i := 0; i < n; {
		rest := l.rest()[i:n]
		amp := -1
		if references {
			amp = bytes.IndexByte(rest, '&')
		}
		if amp < 0 {
			l.Pieces(to, l.i+i, l.i+n)
			return
		}
		if amp > 0 {
			l.Pieces(to, l.i+i, l.i+i+amp)
			i += amp
		}
		switch size, text := characterReference(rest[amp:], attribute); {
		case text == "":
			l.Pieces(to, l.i+i, l.i+i+size)
			i += size
		case !attribute && (text == softHyphen || text == zeroWidthSpace):
			i += size // the reference only permits a line break, like WBR
		default:
			start, end := l.Span(l.i+i, l.i+i+size)
			to.Add(source.Unit([]byte(text), start, end))
			i += size
		}
	}
}

const (
	softHyphen     = "\u00AD"
	zeroWidthSpace = "\u200B"
)

// characterReference returns the length of the character reference at the start of b, and the text
// it represents. The length is 0 if b does not begin with a character reference.
func characterReference(b []byte, attribute bool) (int, string) {
	for _, r := range commonReferences {
		if len(b) >= len(r.source) && string(b[:len(r.source)]) == r.source {
			return len(r.source), r.text
		}
	}
	if len(b) > 1 && b[1] == '#' {
		return numericReference(b)
	}
	n := 1
	for n < len(b) && n < maxRef && (ascii.IsLetter(b[n]) || ascii.IsDigit(b[n])) {
		n++
	}
	semicolon := n < len(b) && b[n] == ';'
	if semicolon {
		n++
	}
	source := string(b[:n])
	text := html.UnescapeString(source)
	if text == source {
		return 1, ""
	}
	// A prefix of the name may be a reference, as in "&notit;".
	left := 0
	for left < len(text) && left < n-2 && text[len(text)-1-left] == source[n-1-left] {
		left++
	}
	if attribute && (left > 0 || !semicolon && n < len(b) && b[n] == '=') {
		return 1, ""
	}
	return n - left, text[:len(text)-left]
}

var commonReferences = [...]struct{ source, text string }{
	{"&amp;", "&"}, {"&nbsp;", "\u00A0"}, {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", `"`},
}

// numericReference is like [characterReference], for text that begins with "&#".
func numericReference(b []byte) (int, string) {
	n := len("&#")
	hex := n < len(b) && ascii.Lower(b[n]) == 'x'
	if hex {
		n++
	}
	digits := n
	for n < len(b) && n < maxRef && (ascii.IsDigit(b[n]) || hex && 'a' <= ascii.Lower(b[n]) && ascii.Lower(b[n]) <= 'f') {
		n++
	}
	if n == digits {
		return 1, ""
	}
	if n < len(b) && b[n] == ';' {
		n++
	}
	return n, html.UnescapeString(string(b[:n]))
}
