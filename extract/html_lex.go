package extract

import (
	"bytes"
	"math"

	"golang.org/x/net/html"
)

// Limits on what is kept of a document at a time. Longer text is skipped and
// reported.
const (
	maxValue = 16 << 20 // octets of the attributes of a tag, and of a style sheet or block of JSON
	maxAttrs = 1 << 10  // attributes per tag
	maxName  = 32       // octets of a significant tag or attribute name
	maxRef   = 40       // more than the octets of a character reference
)

// An htmlLexer splits HTML into tokens as in the tokenization of the HTML
// Standard (13.2.5), with these differences: the content of NOSCRIPT, NOFRAMES,
// NOEMBED and IFRAME is markup, because it is meant for readers without those
// features; and a tag that is cut off by the end of the document counts as far
// as it goes.
type htmlLexer struct {
	window
	i       int   // text[i:] is the rest
	tape    *tape // nil in a document within an attribute
	hold    int64 // octets of the file from here on are needed
	to      htmlTokens
	foreign int // open SVG and MathML elements
	err     func(at int64, what string)
	tag     htmlTag
	inTag   bool // in a start tag that has not been delivered
	stop    bool
}

// htmlTokens receives the tokens. The text consists of octets of the lexer's
// rest, or is a mapped text of its own.
type htmlTokens interface {
	wants(tag, attr []byte) attrKind
	chars(n int, references bool)
	startTag(t *htmlTag)
	endTag(name []byte)
	rawText(name string, content *mapped)
	readsRaw(t *htmlTag) bool
	holds() int64 // octets of the file from here on are needed
}

const noHold = math.MaxInt64

// An htmlTag is a start tag with the attributes of interest.
type htmlTag struct {
	name        []byte // in lower case; empty if it is longer than maxName
	attrs       []htmlAttr
	size        int // octets of the values
	selfClosing bool
	complete    bool  // whether its ">" has been read
	start, end  int64 // octets of the file
}

type htmlAttr struct {
	name  []byte
	kind  attrKind
	value mapped
}

// get returns the value of an attribute.
func (t *htmlTag) get(name string) (*mapped, bool) {
	for i := range t.attrs {
		if string(t.attrs[i].name) == name {
			return &t.attrs[i].value, true
		}
	}
	return nil, false
}

func (t *htmlTag) reset() {
	t.name, t.attrs, t.size, t.selfClosing, t.complete = t.name[:0], t.attrs[:0], 0, false, false
}

// add returns the next attribute, reusing the memory of an earlier tag.
func (t *htmlTag) add() *htmlAttr {
	if n := len(t.attrs); n < cap(t.attrs) {
		t.attrs = t.attrs[:n+1]
	} else {
		t.attrs = append(t.attrs, htmlAttr{})
	}
	a := &t.attrs[len(t.attrs)-1]
	if cap(a.value.text) > blockSize {
		a.value.text = nil
	}
	a.value.reset()
	return a
}

func (l *htmlLexer) rest() []byte { return l.text[l.i:] }

// fill extends the rest, or returns false at the end. Offsets relative to the
// rest stay valid.
func (l *htmlLexer) fill() bool {
	if l.i >= len(l.text)/2 {
		l.drop(l.i)
		l.i = 0
		if l.inTag && l.end-l.tag.start > maxKept/2 {
			l.deliver()
		}
		l.release(l.end)
	}
	return l.window.fill()
}

func (l *htmlLexer) release(to int64) {
	if l.tape != nil {
		l.tape.release(min(to, l.hold, l.to.holds()))
	}
}

// peek returns octet k of the rest.
func (l *htmlLexer) peek(k int) (byte, bool) {
	for len(l.text)-l.i <= k {
		if !l.fill() {
			return 0, false
		}
	}
	return l.text[l.i+k], true
}

// hasPrefix reports whether the rest begins with s, ignoring case.
func (l *htmlLexer) hasPrefix(s string) bool {
	_, ok := l.peek(len(s) - 1)
	return ok && equalFold(l.rest()[:len(s)], s)
}

// place returns the offset in the file at which the rest begins.
func (l *htmlLexer) place() int64 {
	at, _ := l.span(l.i, l.i)
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

// chars consumes n octets of text from the rest.
func (l *htmlLexer) chars(n int, references bool) {
	l.to.chars(n, references)
	l.i += n
}

// unfinishedRef returns the length of a character reference at the end of b
// that may continue after it.
func unfinishedRef(b []byte) int {
	tail := b[max(0, len(b)-maxRef):]
	amp := bytes.LastIndexByte(tail, '&')
	if amp < 0 || bytes.IndexByte(tail[amp:], ';') >= 0 {
		return 0
	}
	return len(tail) - amp
}

// markup reads a token that begins with "<".
func (l *htmlLexer) markup() {
	c, ok := l.peek(1)
	switch {
	case ok && isLetter(c):
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
	case !isLetter(c):
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

// declaration reads a token that begins with "<!": a comment, a CDATA section,
// a document type or a bogus comment.
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

// skipThrough skips the rest up to and including the first c.
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

// until consumes the rest up to an end by calling takes, which must advance,
// and skips the end.
func (l *htmlLexer) until(end string, take func(n int)) {
	for !l.stop {
		rest := l.rest()
		n := bytes.Index(rest, []byte(end))
		if n >= 0 {
			take(n)
			l.i += len(end)
			return
		}
		if n = len(rest) - len(end) + 1; n > 0 {
			take(n)
		}
		if !l.fill() {
			take(len(l.rest()))
			return
		}
	}
}

// comment skips a comment after "<!--".
func (l *htmlLexer) comment() {
	if c, ok := l.peek(0); ok && c == '>' {
		l.i++
		return
	}
	if l.hasPrefix("->") {
		l.i += len("->")
		return
	}
	for looked := 0; ; { // rest[:looked] has no ">"
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

// endsComment reports whether a ">" after b ends a comment.
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

// deliver passes the start tag on: at its end, or when it is too long for more
// attributes to be read.
func (l *htmlLexer) deliver() {
	l.tag.end = l.place()
	l.to.startTag(&l.tag)
	l.hold, l.inTag = noHold, false
}

// rawElement reports whether the content of an element is text without markup.
func rawElement(name string) bool {
	switch name {
	case "script", "style", "title", "textarea", "xmp", "plaintext":
		return true
	}
	return false
}

// raw reads the content of a raw text element up to its end tag.
func (l *htmlLexer) raw(name string, keep bool) {
	switch name {
	case "title", "textarea":
		l.rawText(name, func(n int) { l.chars(n, true) })
	case "xmp":
		l.rawText(name, func(n int) { l.chars(n, false) })
	case "plaintext":
		for l.chars(len(l.rest()), false); !l.stop && l.fill(); {
			l.chars(len(l.rest()), false)
		}
	default:
		var content mapped
		start := l.place()
		if keep {
			l.hold = start
		}
		l.rawText(name, func(n int) {
			if keep && n > 0 && len(content.text)+n > maxValue {
				l.err(l.place(), name+" element too long: the rest of it is skipped")
				l.to.rawText(name, &content)
				content.reset()
				l.hold, keep = noHold, false
			}
			if keep {
				l.pieces(&content, l.i, l.i+n)
			}
			l.i += n
		})
		if len(content.text) > 0 {
			l.to.rawText(name, &content)
		}
		l.hold = noHold
	}
}

// rawText consumes the rest up to the end tag of an element by calling takes,
// which must advance. In a script, "<!--" and "<script" hide end tags
// (13.2.5.17 ff.).
func (l *htmlLexer) rawText(name string, take func(n int)) {
	script := scriptState{on: name == "script"}
	for !l.stop {
		rest := l.rest()
		n := script.next(rest)
		if n == len(rest) {
			take(n - unfinishedRef(rest))
			if !l.fill() {
				take(len(l.rest()))
				return
			}
			continue
		}
		take(n)
		l.peek(len("</") + maxName) // fewer at the end
		rest = l.rest()
		if l.isEnd(rest, name) && !script.double {
			return
		}
		take(script.step(rest))
	}
}

// isEnd reports whether b begins with the end tag of an element.
func (l *htmlLexer) isEnd(b []byte, name string) bool {
	n := len("</") + len(name)
	return len(b) > n && b[0] == '<' && b[1] == '/' && equalFold(b[2:n], name) && endsName(b[n])
}

// A scriptState tracks where in a script an end tag counts.
type scriptState struct {
	on, escaped, double bool
}

// next returns how many octets of b are irrelevant.
func (s *scriptState) next(b []byte) int {
	n := -1
	if s.escaped {
		n = bytes.IndexAny(b, "<-")
	} else {
		n = bytes.IndexByte(b, '<')
	}
	if n < 0 {
		return len(b)
	}
	return n
}

// step updates the state for the beginning of b and returns how many octets it
// has read.
func (s *scriptState) step(b []byte) int {
	if !s.on {
		return 1
	}
	switch {
	case bytes.HasPrefix(b, []byte("<!--")) && !s.escaped:
		s.escaped = true
		return len("<!") // its dashes may end it, as in "<!-->"
	case s.escaped && bytes.HasPrefix(b, []byte("-->")):
		s.escaped, s.double = false, false
		return len("-->")
	case s.escaped && !s.double && namesElement(b, "<script"):
		s.double = true
	case s.double && namesElement(b, "</script"):
		s.double = false
	}
	return 1
}

// namesElement reports whether b begins with s and the end of the name.
func namesElement(b []byte, s string) bool {
	return len(b) > len(s) && equalFold(b[:len(s)], s) && endsName(b[len(s)])
}

// readName reads the name of a tag.
func (l *htmlLexer) readName() {
	n := l.scanName(false)
	l.tag.name = appendName(l.tag.name[:0], l.rest(), n)
	l.i += n
}

// scanName returns the length of the name at the beginning of the rest. It
// keeps only the last part of a very long name.
func (l *htmlLexer) scanName(attribute bool) int {
	for n := 0; ; n++ {
		c, ok := l.peek(n)
		if !ok || endsName(c) || attribute && c == '=' && n > 0 {
			return n
		}
		if n > 2*blockSize {
			l.i += n - maxName - 1
			n = maxName + 1
		}
	}
}

// appendName appends a name in lower case, or nothing if it is too long.
func appendName(to, b []byte, n int) []byte {
	if n > maxName {
		return to
	}
	for _, c := range b[:n] {
		to = append(to, lower(c))
	}
	return to
}

// readAttrs reads attributes up to and including the ">" of the tag, and
// reports whether that was found.
func (l *htmlLexer) readAttrs(wanted bool) bool {
	for {
		c, ok := l.peek(0)
		switch {
		case !ok:
			return false
		case c == '>':
			l.i++
			return true
		case isSpace(c) || c == '/':
			l.i++
			next, ok := l.peek(0)
			l.tag.selfClosing = c == '/' && ok && next == '>'
		default:
			if !l.readAttr(wanted) {
				return false
			}
		}
	}
}

func (l *htmlLexer) readAttr(wanted bool) bool {
	n := l.scanName(true)
	var buf [maxName]byte
	name := appendName(buf[:0], l.rest(), n)
	l.i += n
	var kind attrKind
	if wanted && len(name) > 0 && l.inTag {
		kind = l.to.wants(l.tag.name, name)
	}
	if !l.skipSpace() {
		return false
	}
	if l.rest()[0] != '=' {
		l.addAttr(name, kind, 0)
		return true
	}
	l.i++
	if !l.skipSpace() {
		return false
	}
	if kind == attrNone || l.has(name) {
		return l.skipValue()
	}
	return l.readValue(name, kind)
}

// has reports whether the tag has the attribute already: only the first one
// counts.
func (l *htmlLexer) has(name []byte) bool {
	if len(l.tag.attrs) >= maxAttrs {
		return true
	}
	for i := range l.tag.attrs {
		if bytes.Equal(l.tag.attrs[i].name, name) {
			return true
		}
	}
	return false
}

func (l *htmlLexer) skipSpace() bool {
	for {
		c, ok := l.peek(0)
		if !ok || !isSpace(c) {
			return ok
		}
		l.i++
	}
}

func (l *htmlLexer) skipValue() bool {
	quote := l.rest()[0]
	if quote == '"' || quote == '\'' {
		l.i++
		return l.skipThrough(quote)
	}
	for {
		rest := l.rest()
		if n := bytes.IndexAny(rest, unquotedEnds); n >= 0 {
			l.i += n
			return true
		}
		l.i += len(rest)
		if !l.fill() {
			return false
		}
	}
}

const tooLong = "attributes of a tag too long: this attribute is skipped"

const unquotedEnds = " \t\n\f\r>"

func (l *htmlLexer) readValue(name []byte, kind attrKind) bool {
	quote := l.rest()[0]
	quoted := quote == '"' || quote == '\''
	if quoted {
		l.i++
	}
	from := 0
	for {
		rest := l.rest()
		n := -1
		if quoted {
			n = bytes.IndexByte(rest[from:], quote)
		} else {
			n = bytes.IndexAny(rest[from:], unquotedEnds)
		}
		if n >= 0 {
			n += from
			l.addAttr(name, kind, n)
			l.i += n
			if quoted {
				l.i++
			}
			return true
		}
		from = len(rest)
		if l.tag.size+from > maxValue {
			l.err(l.place(), tooLong)
			if quoted {
				return l.skipThrough(quote)
			}
			return l.skipValue()
		}
		if !l.fill() {
			l.i += from
			return false
		}
	}
}

// addAttr adds an attribute whose value is the next n octets of the rest. An
// attribute without a value counts, because later ones of that name are
// ignored.
func (l *htmlLexer) addAttr(name []byte, kind attrKind, n int) {
	if kind == attrNone || l.has(name) {
		return
	}
	if l.tag.size+n > maxValue {
		l.err(l.place(), tooLong)
		return
	}
	l.tag.size += n
	a := l.tag.add()
	a.name, a.kind = append(a.name[:0], name...), kind
	l.decode(&a.value, n, true, true)
}

// decode appends n octets of the rest to a text, decoding character references
// (13.2.5.72 ff.).
func (l *htmlLexer) decode(to *mapped, n int, references, attribute bool) {
	for i := 0; i < n; {
		rest := l.rest()[i:n]
		amp := -1
		if references {
			amp = bytes.IndexByte(rest, '&')
		}
		if amp < 0 {
			l.pieces(to, l.i+i, l.i+n)
			return
		}
		if amp > 0 {
			l.pieces(to, l.i+i, l.i+i+amp)
			i += amp
		}
		switch size, text := characterReference(rest[amp:], attribute); {
		case text == "":
			l.pieces(to, l.i+i, l.i+i+size)
			i += size
		case !attribute && (text == softHyphen || text == zeroWidthSpace):
			i += size // a possible line break, as from WBR
		default:
			start, end := l.span(l.i+i, l.i+i+size)
			to.add(unit([]byte(text), start, end))
			i += size
		}
	}
}

const (
	softHyphen     = "\u00AD"
	zeroWidthSpace = "\u200B"
)

// characterReference returns the length of the character reference at the
// beginning of b and the text it stands for. The length is 0 if there is none.
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
	for n < len(b) && n < maxRef && (isLetter(b[n]) || isDigit(b[n])) {
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

// commonReferences are the references in most documents.
var commonReferences = [...]struct{ source, text string }{
	{"&amp;", "&"}, {"&nbsp;", "\u00A0"}, {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", `"`},
}

// numericReference is characterReference for references that begin with "&#".
func numericReference(b []byte) (int, string) {
	n := len("&#")
	hex := n < len(b) && lower(b[n]) == 'x'
	if hex {
		n++
	}
	digits := n
	for n < len(b) && n < maxRef && (isDigit(b[n]) || hex && 'a' <= lower(b[n]) && lower(b[n]) <= 'f') {
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

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isSpace(c byte) bool  { return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r' }
func endsName(c byte) bool { return isSpace(c) || c == '/' || c == '>' }

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

// equalFold reports whether b equals s, which is in lower case, ignoring case.
func equalFold(b []byte, s string) bool {
	if len(b) != len(s) {
		return false
	}
	for i := range b {
		if lower(b[i]) != lower(s[i]) {
			return false
		}
	}
	return true
}
