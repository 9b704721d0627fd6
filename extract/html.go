package extract

import (
	"bytes"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/nomen-project/nomen/uri"

	"github.com/nomen-project/nomen/extract/internal/source"
	"github.com/nomen-project/nomen/internal/ascii"
)

// Limits on the memory of [HTML].
const (
	maxNames  = 1 << 10 // different values of Finding.Where
	maxSrcdoc = 4       // documents nested in srcdoc attributes
	maxSpread = 1 << 20 // octets of the file over which a single stretch of text may be spread
)

// A DocumentError reports a problem at an offset of a document. Reading continues after the
// problem, and earlier findings remain valid.
type DocumentError struct {
	Offset  int64 // in octets from the start of the document
	Message string
	Err     error // why a reference is invalid, usually a *uri.Error; nil for other problems
}

// Error returns the offset and the problem.
func (e *DocumentError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("offset %d: %s: %v", e.Offset, e.Message, e.Err)
	}
	return fmt.Sprintf("offset %d: %s", e.Offset, e.Message)
}

// Unwrap returns e.Err.
func (e *DocumentError) Unwrap() error { return e.Err }

// HTML returns an iterator over the identifiers in an HTML document, in document order. It finds
//
//   - references in attributes, including lists such as srcset and ping;
//   - references in style sheets, META refresh, JSON-LD and documents in srcdoc;
//   - everything that [Text] finds in visible text and in attributes such as alt.
//
// HTML ignores empty references, scripts, comments, document types and namespaces. An identifier in
// visible text can extend across inline elements (B, SPAN, WBR) and character references. Line
// breaks in visible text count as spaces, except in PRE and similar elements. The document may be
// in any charset of the Encoding Standard.
//
// The fields Start, End and Text refer to the file as stored, so Text still contains character
// references. Spelling is the decoded text. HTML repairs an invalid reference as browsers do. If a
// repair is not possible, HTML yields the reference without a URI, together with an error.
//
// Relative references are resolved against the HREF of the first BASE element that has one. This
// HREF is itself resolved against o.Base (RFC 3986, section 5.1.1). Because this base applies to
// the whole document, HTML holds findings back until it has read the BASE element or the end of the
// document. It holds back at most 16,384 findings or 8 MiB. A BASE element after this limit is
// reported as an error, and applies only to the references that follow it.
//
// The iterator continues after a [*DocumentError] and ends after an error of the reader. HTML takes
// linear time, and its memory has a fixed limit.
func HTML(r io.Reader, o Options) iter.Seq2[Finding, error] {
	return func(yield func(Finding, error) bool) {
		t := source.NewTape(r)
		var f source.Feed = t.Feed()
		f, _ = source.InCharset(f, source.HTMLCharset(t.Peek(source.SniffLength), ""))
		q := newQueue(t, o, yield)
		scanHTML(t, f, q, newScope(outside(o)))
		if q.flush(true); !q.stopped && t.Cause() != nil {
			yield(Finding{}, t.Cause())
		}
	}
}

type htmlScan struct {
	lexer     htmlLexer
	queue     *queue
	scope     *scope
	around    *scope  // the scope in which a BASE of this document is read
	where     string  // prefix of Finding.Where: the position of this document in the enclosing document
	stretch   stretch // the current visible text
	templates int     // open TEMPLATE elements; a BASE in them is ignored
	lines     int     // open elements with visible line breaks
	depth     int
	name      []byte
	names     map[string]string // all values of Finding.Where so far, so that each is built once
}

// scanHTML adds the identifiers in a document to q. When it returns, the base of the document is
// known.
func scanHTML(t *source.Tape, f source.Feed, q *queue, s *scope) {
	h := &htmlScan{queue: q, scope: s}
	h.run(t, f)
}

func (h *htmlScan) run(t *source.Tape, f source.Feed) {
	h.stretch.oneLine, h.around = true, h.scope.outer
	h.lexer = htmlLexer{Window: source.Window{Feed: f}, tape: t, hold: noHold, to: h, err: h.fail}
	h.lexer.lex()
	h.breakText()
	h.scope.known = true
	h.queue.flush(false)
}

func (h *htmlScan) fail(at int64, what string) {
	h.queue.add(held{err: &DocumentError{Offset: at, Message: what}, scope: h.scope})
	h.lexer.stop = h.queue.stopped
}

func (h *htmlScan) inText() string { return strings.TrimSuffix(h.where, " ") }

func (h *htmlScan) holds() int64 {
	if at, ok := h.stretch.First(); ok {
		return at
	}
	return noHold
}

func (h *htmlScan) wants(tag, attr []byte) attrKind { return attributeKind(tag, attr) }

func (h *htmlScan) readsRaw(t *htmlTag) bool {
	kind, ok := t.get("type")
	if string(t.name) == "style" {
		return !ok || ascii.EqualFold(bytes.TrimSpace(kind.Text), "text/css") || len(kind.Text) == 0
	}
	if !ok {
		return false
	}
	essence, _, _ := bytes.Cut(kind.Text, []byte(";"))
	return ascii.EqualFold(bytes.TrimSpace(essence), "application/ld+json")
}

// chars adds the next n octets to the visible text. If references is true, it decodes character
// references.
func (h *htmlScan) chars(n int, references bool) {
	h.lexer.decode(&h.stretch.Mapped, n, references, false)
	h.readText()
}

// readText searches the visible text if enough text has been collected, or if the text is spread
// over too much of the file.
func (h *htmlScan) readText() {
	if h.stretch.isFull() {
		h.stretch.flush(h.queue, h.scope, false, h.inText())
		h.lexer.stop = h.queue.stopped
	}
	if h.lexer.End-h.holds() > maxSpread {
		h.breakText()
		h.lexer.stop = h.queue.stopped
	}
}

func (h *htmlScan) breakText() {
	if len(h.stretch.Text) > 0 {
		h.stretch.flush(h.queue, h.scope, true, h.inText())
	}
}

// inline reports whether an element is inline, so that a word can continue across its tags.
func inline(name []byte) bool {
	switch string(name) {
	case "b", "i", "em", "strong", "u", "s", "span", "font", "mark", "small", "big", "tt", "code", "wbr", "bdi", "bdo",
		"nobr", "abbr", "acronym", "kbd", "samp", "var", "dfn", "strike":
		return true
	}
	return false
}

// hasLines reports whether an element preserves line breaks, so that its text can be wrapped text.
func hasLines(name []byte) bool {
	switch string(name) {
	case "pre", "listing", "xmp", "plaintext", "textarea":
		return true
	}
	return false
}

func (h *htmlScan) endTag(name []byte) {
	if !inline(name) {
		h.breakText()
	}
	h.readText()
	if string(name) == "template" && h.templates > 0 {
		h.templates--
	}
	if hasLines(name) && h.lines > 0 {
		h.lines--
		h.stretch.oneLine = h.lines == 0
	}
	h.lexer.stop = h.queue.stopped
}

func (h *htmlScan) startTag(t *htmlTag) {
	switch {
	case string(t.name) == "br":
		h.stretch.Add(source.Unit([]byte("\n"), t.start, t.end))
	case !inline(t.name):
		h.breakText()
	}
	if string(t.name) == "template" && !t.selfClosing {
		h.templates++
	}
	if hasLines(t.name) {
		h.lines++
		h.stretch.oneLine = false
	}
	scope := h.scope
	if base, ok := t.get("codebase"); ok && (string(t.name) == "object" || string(t.name) == "applet") {
		scope = h.codebase(base)
	}
	if string(t.name) == "base" {
		scope = h.around
		if h.templates == 0 && h.lexer.foreign == 0 {
			h.base(t)
		}
	}
	for i := range t.attrs {
		a := &t.attrs[i]
		s := scope
		if string(a.name) == "codebase" {
			s = h.scope
		}
		h.attribute(t, a, s, h.whereIs(t.name, a.name))
	}
	h.readText()
	h.lexer.stop = h.queue.stopped
}

func (h *htmlScan) whereIs(tag, attr []byte) string {
	h.name = append(append(append(h.name[:0], tag...), ' '), attr...)
	if s, ok := h.names[string(h.name)]; ok {
		return s
	}
	s := h.where + string(h.name)
	if h.names == nil {
		h.names = map[string]string{}
	}
	if len(h.names) < maxNames {
		h.names[string(h.name)] = s
	}
	return s
}

// codebase returns the scope of the references in an OBJECT or APPLET. The codebase attribute is
// the base of these references (HTML 4.01, sections 13.3.2 and 13.4).
func (h *htmlScan) codebase(value *source.Mapped) *scope {
	if u, err := readReference(spelled(value.Text)); err == nil {
		return h.scope.inner(u)
	}
	return h.scope
}

// base reads the first BASE element with an HREF (HTML Standard, section 4.2.3). It ignores an HREF
// that is not a reference, or whose scheme does not support relative references.
func (h *htmlScan) base(t *htmlTag) {
	href, ok := t.get("href")
	if !ok {
		return
	}
	if h.scope.taken {
		return
	}
	ref := baseReference(href)
	if h.scope.known {
		h.fail(t.start, "BASE too late to apply to the references before it")
		h.scope = h.scope.inner(ref)
	}
	h.scope.ref, h.scope.known, h.scope.taken = ref, true, true
	h.queue.flush(false)
}

func baseReference(href *source.Mapped) uri.URI {
	u, err := readReference(spelled(href.Text))
	if err != nil {
		return uri.URI{}
	}
	if scheme, ok := u.Scheme(); ok && (strings.EqualFold(scheme, "data") || strings.EqualFold(scheme, "javascript")) {
		return uri.URI{}
	}
	return u
}

func (h *htmlScan) attribute(t *htmlTag, a *htmlAttr, s *scope, where string) {
	v := &a.value
	switch a.kind {
	case attrURL:
		h.queue.reference(v, 0, len(v.Text), s, where)
	case attrRDFa:
		if i, _ := trimmed(v.Text); i == len(v.Text) || v.Text[i] != '[' {
			h.queue.reference(v, 0, len(v.Text), s, where)
		}
	case attrSpaces:
		listed(v.Text, isSpace, func(i, j int) { h.queue.reference(v, i, j, s, where) })
	case attrCommas:
		listed(v.Text, isComma, func(i, j int) { h.queue.reference(v, i, j, s, where) })
	case attrSrcset:
		srcset(v.Text, func(i, j int) { h.queue.reference(v, i, j, s, where) })
	case attrCSS:
		h.css(v, where)
	case attrSrcdoc:
		h.srcdoc(v, where)
	case attrText:
		h.textAttribute(v, s, where)
	case attrContent:
		h.metaContent(t, v, s, where)
	case attrParam:
		if name, ok := t.get("name"); ok && paramIsURL(strings.ToLower(string(name.Text))) {
			h.queue.reference(v, 0, len(v.Text), s, where)
		} else {
			h.textAttribute(v, s, where)
		}
	}
}

// metaContent reads the content attribute of a META element, which may be a refresh or metadata
// such as og:url.
func (h *htmlScan) metaContent(t *htmlTag, v *source.Mapped, s *scope, where string) {
	if equiv, ok := t.get("http-equiv"); ok {
		switch name := strings.ToLower(string(bytes.TrimSpace(equiv.Text))); {
		case name == "refresh":
			if i, j, ok := refresh(v.Text); ok {
				h.queue.reference(v, i, j, s, where)
			}
			return
		case strings.HasPrefix(name, "content-security-policy"):
			return
		}
	}
	h.textAttribute(v, s, where)
}

// textAttribute reads a text that may be or contain identifiers.
func (h *htmlScan) textAttribute(v *source.Mapped, s *scope, where string) {
	if isWhole(v.Text) {
		h.queue.reference(v, 0, len(v.Text), s, where)
		return
	}
	h.queue.text(v, s, where)
}

func isWhole(text []byte) bool {
	i, j := trimmed(text)
	text = text[i:j]
	if n := bytes.Index(text, []byte("://")); n <= 0 || n > maxName || ascii.SchemeLength(string(text[:n+1])) != n {
		return false
	}
	_, err := uri.Parse(string(text))
	return err == nil
}

func (h *htmlScan) css(v *source.Mapped, where string) {
	scanCSS(v, func(ref *source.Mapped, function string) {
		h.queue.reference(ref, 0, len(ref.Text), h.scope, where+" "+function)
	})
}

// srcdoc reads a document in an attribute. Without a BASE element, this document has the base of
// the enclosing document.
func (h *htmlScan) srcdoc(v *source.Mapped, where string) {
	if h.depth == maxSrcdoc {
		at, _ := v.Span(0, len(v.Text))
		h.fail(at, "too many nested documents: this one is skipped")
		return
	}
	inner := &htmlScan{
		queue: h.queue, depth: h.depth + 1, where: where + " ",
		scope: &scope{outer: h.scope, rule: BaseEmbedded},
	}
	inner.run(nil, &source.MappedFeed{Mapped: *v})
}

func (h *htmlScan) rawText(name string, content *source.Mapped) {
	if name == "style" {
		h.css(content, h.where+"style")
	} else {
		h.jsonLD(content)
	}
	h.lexer.stop = h.queue.stopped
}

// spelled removes the white space around a reference, and tabs and line breaks in it, as HTML
// requires.
func spelled(text []byte) string {
	i, j := trimmed(text)
	s := string(text[i:j])
	if strings.ContainsAny(s, "\t\n\r") {
		s = strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(s)
	}
	return s
}
