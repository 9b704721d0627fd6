package extract

import (
	"bytes"
	"math"

	"github.com/nomen-project/nomen/extract/internal/source"
	"github.com/nomen-project/nomen/internal/ascii"
)

// Limits on the memory of the lexer. Longer text is skipped and reported as an error.
const (
	maxValue = 16 << 20 // octets of the attributes of a tag, of a style sheet, or of a block of JSON
	maxAttrs = 1 << 10  // attributes per tag
	maxName  = 32       // octets of the name of a tag or attribute; no longer name has a meaning
	maxRef   = 40       // octets; longer than any character reference
)

// An htmlLexer splits HTML into tokens (HTML Standard, section 13.2.5), with two differences from
// the standard. First, the content of NOSCRIPT, NOFRAMES, NOEMBED and IFRAME is markup, as it is
// for programs without those features. Second, if the document ends within a tag, the complete
// attributes of the tag are used.
type htmlLexer struct {
	source.Window
	i       int          // text[i:] has not been read
	tape    *source.Tape // nil for a document in an attribute
	hold    int64        // the file is still needed from this offset on
	to      htmlTokens
	foreign int // open SVG and MathML elements
	err     func(at int64, what string)
	tag     htmlTag
	inTag   bool // a start tag has been read in part
	stop    bool
}

// An htmlTokens receives the tokens from an htmlLexer. The lexer passes text as a number of octets
// at the start of its unread input, or as a [source.Mapped].
type htmlTokens interface {
	wants(tag, attr []byte) attrKind
	chars(n int, references bool)
	startTag(t *htmlTag)
	endTag(name []byte)
	rawText(name string, content *source.Mapped)
	readsRaw(t *htmlTag) bool
	holds() int64 // the file is still needed from this offset on
}

const noHold = math.MaxInt64

func (l *htmlLexer) rest() []byte { return l.Text[l.i:] }

// fill reads more of the document, or returns false at its end. Offsets relative to l.i stay valid.
func (l *htmlLexer) fill() bool {
	if l.i >= len(l.Text)/2 {
		l.Drop(l.i)
		l.i = 0
		if l.inTag && l.End-l.tag.start > source.MaxKept/2 {
			l.deliver()
		}
		l.release(l.End)
	}
	return l.Window.Fill()
}

func (l *htmlLexer) release(to int64) {
	if l.tape != nil {
		l.tape.Release(min(to, l.hold, l.to.holds()))
	}
}

// peek returns the octet k octets ahead.
func (l *htmlLexer) peek(k int) (byte, bool) {
	for len(l.Text)-l.i <= k {
		if !l.fill() {
			return 0, false
		}
	}
	return l.Text[l.i+k], true
}

func (l *htmlLexer) hasPrefix(s string) bool {
	_, ok := l.peek(len(s) - 1)
	return ok && ascii.EqualFold(l.rest()[:len(s)], s)
}

// place returns the current offset in the file.
func (l *htmlLexer) place() int64 {
	at, _ := l.Span(l.i, l.i)
	return at
}

func (l *htmlLexer) lex() {
	for !l.stop {
		rest := l.rest()
		n := bytes.IndexByte(rest, '<')
		if n == 0 {
			l.markup()
			continue
		}
		if n < 0 {
			n = len(rest) - unfinishedRef(rest)
		}
		if n > 0 {
			l.chars(n, true)
			continue
		}
		if !l.fill() {
			if len(rest) > 0 {
				l.chars(len(l.rest()), true)
			}
			return
		}
	}
}

// chars passes on the next n octets as text.
func (l *htmlLexer) chars(n int, references bool) {
	l.to.chars(n, references)
	l.i += n
}

func unfinishedRef(b []byte) int {
	tail := b[max(0, len(b)-maxRef):]
	amp := bytes.LastIndexByte(tail, '&')
	if amp < 0 || bytes.IndexByte(tail[amp:], ';') >= 0 {
		return 0
	}
	return len(tail) - amp
}

func (l *htmlLexer) markup() {
	c, ok := l.peek(1)
	switch {
	case ok && ascii.IsLetter(c):
		l.startTag()
	case ok && c == '/':
		l.endTag()
	case ok && c == '!':
		l.declaration()
	case ok && c == '?':
		l.skipThrough('>')
	default:
		l.chars(1, false)
	}
}

func (l *htmlLexer) endTag() {
	c, ok := l.peek(2)
	switch {
	case !ok:
		l.chars(2, false)
	case !ascii.IsLetter(c):
		l.skipThrough('>')
	default:
		l.i += len("</")
		l.tag.reset()
		l.readName()
		complete := l.readAttrs(false)
		if name := string(l.tag.name); (name == "svg" || name == "math") && l.foreign > 0 {
			l.foreign--
		}
		if complete {
			l.to.endTag(l.tag.name)
		}
	}
}

// declaration reads a token that begins with "<!". This is a comment, a CDATA section, a document
// type or a bogus comment.
func (l *htmlLexer) declaration() {
	switch {
	case l.hasPrefix("<!--"):
		l.i += len("<!--")
		l.comment()
	case l.foreign > 0 && l.hasPrefix("<![CDATA["):
		l.i += len("<![CDATA[")
		l.until("]]>", func(n int) { l.chars(n, false) })
	default:
		l.skipThrough('>')
	}
}

func (l *htmlLexer) skipThrough(c byte) bool {
	for {
		rest := l.rest()
		if n := bytes.IndexByte(rest, c); n >= 0 {
			l.i += n + 1
			return true
		}
		l.i += len(rest)
		if !l.fill() {
			return false
		}
	}
}

// until calls the function pass for pieces of text up to the string end, and then skips this
// string. Each call of pass must advance l.i.
func (l *htmlLexer) until(end string, pass func(n int)) {
	for !l.stop {
		rest := l.rest()
		n := bytes.Index(rest, []byte(end))
		if n >= 0 {
			pass(n)
			l.i += len(end)
			return
		}
		if n = len(rest) - len(end) + 1; n > 0 {
			pass(n)
		}
		if !l.fill() {
			pass(len(l.rest()))
			return
		}
	}
}

func (l *htmlLexer) comment() {
	if c, ok := l.peek(0); ok && c == '>' {
		l.i++
		return
	}
	if l.hasPrefix("->") {
		l.i += len("->")
		return
	}
	for looked := 0; ; { // the next looked octets contain no ">"
		rest := l.rest()
		for n := bytes.IndexByte(rest[looked:], '>'); n >= 0; n = bytes.IndexByte(rest[looked:], '>') {
			looked += n + 1
			if endsComment(rest[:looked-1]) {
				l.i += looked
				return
			}
		}
		l.i += max(0, len(rest)-len("--!"))
		looked = len(l.rest())
		if !l.fill() {
			l.i += looked
			return
		}
	}
}

// endsComment reports whether the comment ends if ">" follows b.
func endsComment(b []byte) bool {
	return bytes.HasSuffix(b, []byte("--")) || bytes.HasSuffix(b, []byte("--!"))
}

func (l *htmlLexer) startTag() {
	t := &l.tag
	t.reset()
	t.start = l.place()
	l.hold, l.inTag = t.start, true
	l.i++
	l.readName()
	name := string(t.name)
	t.complete = l.readAttrs(true)
	if !t.complete {
		l.err(t.start, "unexpected end of document in a tag")
	}
	if (name == "svg" || name == "math") && !t.selfClosing {
		l.foreign++
	}
	raw := t.complete && rawElement(name) && (l.foreign == 0 || !t.selfClosing) && (l.foreign == 0 || name == "script" || name == "style")
	keep := raw && (name == "script" || name == "style") && l.to.readsRaw(t)
	if l.inTag {
		l.deliver()
	}
	if raw && !l.stop {
		l.raw(name, keep)
	}
}

// deliver passes on the start tag. The lexer calls deliver at the end of the tag, or earlier if the
// tag is too long.
func (l *htmlLexer) deliver() {
	l.tag.end = l.place()
	l.to.startTag(&l.tag)
	l.hold, l.inTag = noHold, false
}
