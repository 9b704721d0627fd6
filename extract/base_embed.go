package extract

import (
	"bytes"
	"errors"
	"io"
	"net/textproto"
	"strings"

	"golang.org/x/text/encoding/htmlindex"

	"github.com/nomen-project/nomen/uri"
)

// maxHead is how much of an HTML document is looked at for a BASE before another
// is written.
const maxHead = 8 << 20

// ErrEmbeddedBase is the error of a base that cannot be embedded, because it is
// no URI itself.
var ErrEmbeddedBase = errors.New("extract: a base that is embedded has to be absolute")

// EmbedBase copies an HTML document, so that its relative references mean the
// same wherever the copy is kept (1997 and 2003, 5.1.4): it puts in a BASE with
// the base of the document, which is base unless the document has a BASE, and
// one that is relative is made absolute. Nothing else is changed, and nothing at
// all if the document has an absolute BASE. A BASE that comes after the first
// 8 MiB is not seen, and no longer counts in the copy.
func EmbedBase(w io.Writer, r io.Reader, base uri.URI) error {
	if base.IsReference() || !base.IsValid() {
		return ErrEmbeddedBase
	}
	t := newTape(r)
	charset := htmlCharset(t.peek(sniffLength), "")
	f, _ := inCharset(plainFeed{t}, charset)
	e := &embedding{tape: t, base: Base{base.WithoutFragment(), BaseRetrieval}, at: -1}
	e.lexer = htmlLexer{window: window{feed: f}, hold: noHold, to: e, err: func(int64, string) {}}
	e.lexer.lex()
	if e.at < 0 {
		e.at = e.lexer.place()
	}
	tag := ""
	if !e.absolute {
		tag = `<base href="` + strings.NewReplacer("&", "&amp;", `"`, "&quot;").Replace(e.base.URI.String()) + `">`
	}
	text, err := encoded(tag, charset)
	if err != nil {
		return err
	}
	for _, part := range [][]byte{t.buf[:e.at], text, t.buf[e.at:]} {
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	if t.err != nil {
		return t.cause()
	}
	_, err = io.Copy(w, t.r)
	return err
}

// encoded returns a text of US-ASCII in the charset of a document.
func encoded(text, charset string) ([]byte, error) {
	if !strings.HasPrefix(charset, "utf-16") {
		return []byte(text), nil
	}
	enc, err := htmlindex.Get(charset)
	if err != nil {
		return nil, err
	}
	return enc.NewEncoder().Bytes([]byte(text))
}

// An embedding looks for the place of a BASE.
type embedding struct {
	lexer     htmlLexer
	tape      *tape
	base      Base  // of the document
	at        int64 // where a BASE belongs; -1 if that is not known yet
	begun     bool  // there has been more than HTML and HEAD
	absolute  bool  // there is one already
	templates int
}

func (e *embedding) wants(tag, _ []byte) attrKind {
	return only(attrKept, string(tag) == "base")
}

func (e *embedding) chars(n int, _ bool) {
	text := bytes.TrimPrefix(e.lexer.rest()[:n], []byte("\uFEFF"))
	if i, j := trimmed(text); i < j && !e.begun {
		e.begin(e.lexer.place() + int64(n-len(text)))
	}
	e.check()
}

// begin notes that the content begins, before which a BASE belongs.
func (e *embedding) begin(at int64) {
	if e.begun = true; e.at < 0 {
		e.at = at
	}
}

func (e *embedding) check() {
	e.lexer.stop = e.lexer.stop || e.tape.pos() > maxHead
}

func (e *embedding) endTag(name []byte) {
	if string(name) == "template" {
		e.templates--
	}
}

func (e *embedding) startTag(t *htmlTag) {
	switch string(t.name) {
	case "html", "head":
		if !e.begun && t.complete {
			e.at = t.end
			return
		}
	case "template":
		e.templates++
	case "base":
		if e.templates <= 0 && e.lexer.foreign == 0 && e.take(t) {
			return
		}
	}
	e.begin(t.start)
	e.check()
}

// take takes the BASE of the document, if a tag is that.
func (e *embedding) take(t *htmlTag) bool {
	href, ok := t.get("href")
	if !ok {
		return false
	}
	e.at, e.lexer.stop = t.start, true
	if ref := baseReference(href); ref.IsValid() {
		e.absolute = !ref.IsReference()
		e.base = e.base.inside(ref, BaseEmbedded)
	}
	return true
}

func (e *embedding) rawText(string, *mapped) {}
func (e *embedding) wantsRaw(*htmlTag) bool  { return false }
func (e *embedding) holds() int64            { return 0 }

// EmbedBaseMIME copies a message, so that the references in it mean the same
// wherever the copy is kept: it adds a Content-Location with the base to the
// header, unless that has an absolute Content-Base or Content-Location already; a
// relative Content-Location is made absolute (1997, 5.1.1; RFC 2557, 4.2). The
// parts inherit it. Of a mailbox, the first message gets it.
func EmbedBaseMIME(w io.Writer, r io.Reader, base uri.URI) error {
	if base.IsReference() || !base.IsValid() {
		return ErrEmbeddedBase
	}
	t := newTape(r)
	m := &mimeScan{tape: t, blank: true, queue: newQueue(t, Options{}, func(Finding, error) bool { return true })}
	if bytes.HasPrefix(t.peek(len("From ")), []byte("From ")) {
		m.skipLine()
	}
	fs, end := m.headerLines()
	if m.endless {
		return &DocumentError{Offset: end, Message: "the header is too long"}
	}
	h := fs.header()
	own := EntityBase(base.Dialect(), h)(Base{base.WithoutFragment(), BaseRetrieval})
	location := fieldURI(h, "Content-Location")
	from, to := end, end // what is replaced
	switch {
	case own.Rule == BaseContentBase, own.Rule == BaseContentLocation && schemeLength(location) > 0:
		_, err := io.Copy(w, io.MultiReader(bytes.NewReader(t.buf), t.r))
		return err
	case location != "":
		from, to = fs.extent("Content-Location", end)
	}
	line := locationField(own.URI.String(), lineEnd(t.buf))
	if from > 0 && t.buf[from-1] != '\n' {
		line = lineEnd(t.buf) + line
	}
	_, err := io.Copy(w, io.MultiReader(bytes.NewReader(t.buf[:from]), strings.NewReader(line), bytes.NewReader(t.buf[to:]), t.r))
	return err
}

// extent returns where a field begins and ends, if the header ends at end.
func (fs fields) extent(name string, end int64) (int64, int64) {
	for i := range fs {
		if textproto.CanonicalMIMEHeaderKey(fs[i].name) != name {
			continue
		}
		if i+1 < len(fs) {
			return fs[i].at, fs[i+1].at
		}
		return fs[i].at, end
	}
	return end, end
}

// lineEnd returns the end of the first line.
func lineEnd(b []byte) string {
	if n := bytes.IndexByte(b, '\n'); n > 0 && b[n-1] != '\r' {
		return "\n"
	}
	return "\r\n"
}

// locationField writes a Content-Location, folded where it is too long for a
// line of a message: white space in it is none.
func locationField(location, eol string) string {
	const first, more = 900, 76
	var b strings.Builder
	n := uri.LineBreak(location, first)
	b.WriteString("Content-Location: " + location[:n])
	for location = location[n:]; location != ""; location = location[n:] {
		n = uri.LineBreak(location, more)
		b.WriteString(eol + " " + location[:n])
	}
	return b.String() + eol
}
