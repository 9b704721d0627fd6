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

// Limits on what is remembered of a document.
const (
	maxNames  = 1 << 10 // names of locations
	maxSrcdoc = 4       // nested documents
	maxSpread = 1 << 20 // octets of the file over which a single text may be spread
)

// A DocumentError reports a problem in a document, with its offset. Findings before the error
// remain valid, and reading continues after it.
type DocumentError struct {
	Offset  int64 // in octets
	Message string
	Err     error // cause of an invalid reference, usually a *uri.Error; otherwise nil
}

// Error returns the offset and the problem.
func (e *DocumentError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("offset %d: %s: %v", e.Offset, e.Message, e.Err)
	}
	return fmt.Sprintf("offset %d: %s", e.Offset, e.Message)
}

// Unwrap returns the cause.
func (e *DocumentError) Unwrap() error { return e.Err }

// HTML yields the identifiers in an HTML document in document order. It finds
// the references in attributes (also in lists of references, such as srcset and
// ping), in style sheets, META refresh, JSON-LD and documents in srcdoc. It also
// finds what [Text] finds in the visible text and in attributes that contain
// text, such as alt. Visible text continues across inline elements (B, SPAN,
// WBR) and character references, and line breaks count as spaces, except in PRE
// and similar elements. HTML skips empty references, scripts, comments, document
// types and namespaces. The document may be in any charset of the Encoding
// Standard.
//
// Start and End are offsets in the file as stored, and Text is the octets
// there, including character references. Spelling is the decoded text. An
// invalid reference is repaired as browsers do; if that is not possible, it is
// yielded without a URI, together with an error.
//
// Relative references are resolved against the first BASE with an HREF, which
// is itself relative to o.Base (RFC 3986, 5.1.1). That BASE applies to the
// whole document. Findings are therefore held back until the BASE or the end
// of the document is read, or until 16,384 findings or 8 MiB are held. If the
// first BASE comes later, it applies only to the references that follow it, and
// is reported as an error.
//
// After a [*DocumentError], the sequence continues. An error of the reader ends it. Time is linear
// and memory bounded.
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

// An htmlScan finds identifiers in the tokens of an HTML document.
type htmlScan struct {
	lexer     htmlLexer
	queue     *queue
	scope     *scope
	around    *scope  // scope of the document, in which its BASE is read
	where     string  // place of this document in the enclosing document
	stretch   stretch // visible text without a break
	templates int     // open TEMPLATE elements, in which a BASE is ignored
	lines     int     // open elements in which line breaks are visible
	depth     int
	name      []byte
	names     map[string]string // names of the places of references
}

// scanHTML finds the identifiers in a document. At the end of the document, its scope is final.
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

// inText returns the place (Finding.Where) of the visible text.
func (h *htmlScan) inText() string { return strings.TrimSuffix(h.where, " ") }

func (h *htmlScan) holds() int64 {
	if at, ok := h.stretch.First(); ok {
		return at
	}
	return noHold
}

func (h *htmlScan) wants(tag, attr []byte) attrKind { return attributeKind(tag, attr) }

// readsRaw reports whether the content of a SCRIPT or STYLE is examined.
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

// chars adds the next n octets to the visible text. If references is set, it decodes character
// references.
func (h *htmlScan) chars(n int, references bool) {
	h.lexer.decode(&h.stretch.Mapped, n, references, false)
	h.readText()
}

// readText searches the visible text if enough of it has been read, or if it is spread over too
// much of the file.
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

// breakText ends a stretch of text.
func (h *htmlScan) breakText() {
	if len(h.stretch.Text) > 0 {
		h.stretch.flush(h.queue, h.scope, true, h.inText())
	}
}

// inline reports whether an element is inline: if there is no space around its tags, the text
// before and after them is one word.
func inline(name []byte) bool {
	switch string(name) {
	case "b", "i", "em", "strong", "u", "s", "span", "font", "mark", "small", "big", "tt", "code", "wbr", "bdi", "bdo",
		"nobr", "abbr", "acronym", "kbd", "samp", "var", "dfn", "strike":
		return true
	}
	return false
}

// hasLines reports whether line breaks in the text of an element are visible. Only such text can be
// wrapped.
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

// whereIs returns the place (Finding.Where) of an attribute. It builds the name of each place only
// once.
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

// codebase returns the scope of the references of an OBJECT or APPLET (HTML
// 4.01, 13.3.2, 13.4).
func (h *htmlScan) codebase(value *source.Mapped) *scope {
	if u, err := readReference(spelled(value.Text)); err == nil {
		return h.scope.inner(u)
	}
	return h.scope
}

// base reads the first BASE with an HREF (4.2.3 of the HTML Standard). It ignores an HREF that is
// not a reference, and one whose scheme cannot be that of a base.
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

// metaContent reads the content of a META: a refresh, or metadata about the
// document, such as og:url.
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

// textAttribute reads a text that may be an identifier, or may contain identifiers.
func (h *htmlScan) textAttribute(v *source.Mapped, s *scope, where string) {
	if isWhole(v.Text) {
		h.queue.reference(v, 0, len(v.Text), s, where)
		return
	}
	h.queue.text(v, s, where)
}

// isWhole reports whether a text is one URI with an authority.
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

// srcdoc reads a document in an attribute. If that document has no BASE, its base
// is the base of the enclosing document.
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

// spelled returns a reference as HTML reads it: without surrounding white
// space, tabs and line breaks.
func spelled(text []byte) string {
	i, j := trimmed(text)
	s := string(text[i:j])
	if strings.ContainsAny(s, "\t\n\r") {
		s = strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(s)
	}
	return s
}
