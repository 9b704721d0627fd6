package extract

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"golang.org/x/text/encoding/htmlindex"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/uri"

	"github.com/nomen-project/nomen/extract/internal/source"
	"github.com/nomen-project/nomen/extract/mime"
)

// maxHead is how many bytes [EmbedBase] searches for a BASE element.
const maxHead = 8 << 20

// ErrEmbeddedBase means that the base to embed is not absolute.
var ErrEmbeddedBase = errors.New("extract: the base to embed must be absolute")

// EmbedBase copies an HTML document and adds a BASE element. With this element, relative references
// in the copy have the same targets wherever the copy is stored (drafts of 1997 and 2003, section
// 5.1.4). If the document already has an absolute BASE, the copy is unchanged. If it has a relative
// BASE, EmbedBase makes it absolute.
//
// EmbedBase searches the first 8 MiB for an existing BASE. A later BASE stays in the copy, but the
// added BASE comes first and takes effect.
func EmbedBase(w io.Writer, r io.Reader, base uri.URI) error {
	if base.IsReference() || !base.IsValid() {
		return ErrEmbeddedBase
	}
	t := source.NewTape(r)
	charset := source.HTMLCharset(t.Peek(source.SniffLength), "")
	f, _ := source.InCharset(t.Feed(), charset)
	e := &embedding{tape: t, base: Base{base.WithoutFragment(), BaseRetrieval}, at: -1}
	e.lexer = htmlLexer{Window: source.Window{Feed: f}, hold: noHold, to: e, err: func(int64, string) {}}
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
	for _, part := range [][]byte{t.Kept()[:e.at], text, t.Kept()[e.at:]} {
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	_, err = io.Copy(w, t.Unread())
	return err
}

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

// An embedding finds the position in a document at which to insert the BASE element.
type embedding struct {
	lexer     htmlLexer
	tape      *source.Tape
	base      Base  // base of the document
	at        int64 // where to insert a BASE, or -1 if not yet known
	begun     bool  // an element other than HTML and HEAD has begun
	absolute  bool  // the document has an absolute BASE
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

// begin records that content begins at an offset. A BASE element must be inserted before the
// content.
func (e *embedding) begin(at int64) {
	if e.begun = true; e.at < 0 {
		e.at = at
	}
}

func (e *embedding) check() {
	e.lexer.stop = e.lexer.stop || e.tape.Pos() > maxHead
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

func (e *embedding) rawText(string, *source.Mapped) {}
func (e *embedding) readsRaw(*htmlTag) bool         { return false }
func (e *embedding) holds() int64                   { return 0 }

// EmbedBaseMIME copies a message and adds a Content-Location field with the base. With this field,
// relative references in the copy have the same targets wherever the copy is stored (draft of 1997,
// section 5.1.1; RFC 2557, section 4.2). The parts of the message inherit this base. If the header
// already has an absolute Content-Base or Content-Location, EmbedBaseMIME adds nothing. It makes a
// relative Content-Location absolute. In a mailbox, it changes only the first message.
func EmbedBaseMIME(w io.Writer, r io.Reader, base uri.URI) error {
	if base.IsReference() || !base.IsValid() {
		return ErrEmbeddedBase
	}
	t := source.NewTape(r)
	fs, end, problem := mime.ReadHeader(t)
	if problem != "" {
		return &DocumentError{Offset: end, Message: problem}
	}
	h := fs.Mail()
	own := EntityBase(base.Dialect(), h)(Base{base.WithoutFragment(), BaseRetrieval})
	location := fieldURI(h, "Content-Location")
	from, to := end, end // the bytes to replace
	switch {
	case own.Rule == BaseContentBase, own.Rule == BaseContentLocation && ascii.SchemeLength(location) > 0:
		_, err := io.Copy(w, io.MultiReader(bytes.NewReader(t.Kept()), t.Unread()))
		return err
	case location != "":
		from, to = fs.Extent("Content-Location", end)
	}
	line := locationField(own.URI.String(), lineEnd(t.Kept()))
	if from > 0 && t.Kept()[from-1] != '\n' {
		line = lineEnd(t.Kept()) + line
	}
	_, err := io.Copy(w, io.MultiReader(bytes.NewReader(t.Kept()[:from]), strings.NewReader(line), bytes.NewReader(t.Kept()[to:]), t.Unread()))
	return err
}

func lineEnd(b []byte) string {
	if n := bytes.IndexByte(b, '\n'); n > 0 && b[n-1] != '\r' {
		return "\n"
	}
	return "\r\n"
}

// locationField returns a Content-Location field, folded if it is too long for one line. Readers
// ignore white space in its value.
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
