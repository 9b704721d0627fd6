package extract

import (
	"bytes"
	"io"
	"iter"
	"net/textproto"
	"strconv"
	"strings"

	"github.com/nomen-project/nomen/uri"

	"github.com/nomen-project/nomen/extract/internal/source"
	"github.com/nomen-project/nomen/extract/mime"
	"github.com/nomen-project/nomen/internal/ascii"
)

// MIME returns an iterator over the identifiers in a message, or in all messages of a mailbox in
// mbox format (RFC 4155), in document order. It reads
//
//   - the fields of all headers except DKIM and ARC signatures, with encoded words decoded;
//   - the text and HTML parts at any depth of multiparts and messages, with transfer
//     encodings, charsets and flowed text decoded.
//
// If o.Mail is true, MIME also finds the message identifiers in References and similar fields.
// Message identifiers are mid and cid URLs without the scheme (RFC 2392).
//
// Start, End and Text refer to the file as stored. In quoted-printable, Text includes escapes and
// soft line breaks. In base64, Text consists of the groups of four octets that contain the
// identifier. The same holds for encoded words. Spelling is the decoded identifier. For a part of a
// multipart, Where contains the number of the part, as in "part 2.1 a href".
//
// Relative references in HTML parts and in Link fields are resolved against the base of the part.
// This base is the first of these that exists: the BASE element, the Content-Base field, the
// Content-Location field, the base of the enclosing entity, o.Base, o.Default (RFC 3986, section
// 5.1).
//
// The iterator continues after a [*DocumentError] and ends after an error of the reader. MIME takes
// linear time, and its memory has a fixed limit. It skips and reports entities that are nested more
// than 100 deep, and the part of a header beyond 1 MiB.
func MIME(r io.Reader, o Options) iter.Seq2[Finding, error] {
	return func(yield func(Finding, error) bool) {
		t := source.NewTape(r)
		m := &mimeScan{tape: t, options: o, queue: newQueue(t, o, yield), bases: []Base{outside(o)}}
		for p := range mime.Parts(t, m.fail) {
			if m.part(p); m.queue.stopped {
				return
			}
		}
		if m.queue.flush(true); !m.queue.stopped && t.Cause() != nil {
			yield(Finding{}, t.Cause())
		}
	}
}

type mimeScan struct {
	tape    *source.Tape
	options Options
	queue   *queue
	bases   []Base // of the enclosing entities
}

func (m *mimeScan) fail(at int64, what string) bool {
	m.queue.add(held{err: &DocumentError{Offset: at, Message: what}})
	return !m.queue.stopped
}

// part searches a header, and the body if it is text.
func (m *mimeScan) part(p *mime.Part) {
	outer := m.bases[p.Depth]
	own := EntityBase(uri.Latest, p.Mail)(outer)
	m.queue.prefix = place(p)
	if m.headerFields(p.Header, outer, own); m.queue.stopped {
		return
	}
	inside := own
	if own != outer {
		inside.Rule = BaseEncapsulating
	}
	m.bases = append(m.bases[:p.Depth+1], inside)
	text, ok := p.Text()
	switch {
	case !ok:
	case p.IsHTML():
		scanHTML(m.tape, text, m.queue, newScope(own))
		m.queue.flush(true)
	default:
		m.queue.stream(text, knownScope(own), p.HasWholeLines())
	}
}

// place returns the start of Finding.Where for a part.
func place(p *mime.Part) string {
	var s string
	if p.Message > 0 {
		s = "message " + strconv.Itoa(p.Message) + " "
	}
	if p.Number != "" {
		s += "part " + p.Number + " "
	}
	return s
}

// headerFields searches the fields of a header. A reference in Content-Location is relative to the
// base outside the part. A reference in any other field is relative to the base that the header
// sets (draft of 1997, section 5.1.1).
func (m *mimeScan) headerFields(fs mime.Fields, outer, own Base) {
	outside, inside := knownScope(outer), knownScope(own)
	for i := range fs {
		f := &fs[i]
		where := "header " + textproto.CanonicalMIMEHeaderKey(f.Name)
		switch strings.ToLower(f.Name) {
		case "content-base", "content-location":
			v := mime.Without(mime.DecodedWords(&f.Value), " \t")
			m.queue.reference(v, 0, len(v.Text), outside, where)
		case "content-type":
			v := mime.DecodedWords(&f.Value)
			if isExternalBody(v.Text) { // white space in the URL of an external body is ignored (RFC 2017, section 3.1)
				v = mime.Without(v, " \t")
			}
			m.queue.text(v, inside, where)
		case "link":
			m.links(mime.Unfolded(&f.Value), inside, where)
		case "message-id", "references", "in-reply-to", "content-id", "resent-message-id", "supersedes":
			if m.options.Mail {
				m.messageIDs(f, inside, where)
			}
		case "dkim-signature", "arc-seal", "arc-message-signature", "content-type-encoding", "mime-version":
		default:
			m.queue.text(mime.DecodedWords(&f.Value), inside, where)
		}
		if m.queue.stopped {
			return
		}
	}
}

func isExternalBody(value []byte) bool {
	kind, _, _ := bytes.Cut(value, []byte(";"))
	return ascii.EqualFold(bytes.TrimSpace(kind), "message/external-body")
}

// links parses a Link field (RFC 8288, section 3). The references of the field are in angle
// brackets, outside quoted strings.
func (m *mimeScan) links(v *source.Mapped, s *scope, where string) {
	quoted := false
	for i := 0; i < len(v.Text); i++ {
		switch c := v.Text[i]; {
		case c == '\\' && quoted:
			i++
		case c == '"':
			quoted = !quoted
		case c == '<' && !quoted:
			n := bytes.IndexByte(v.Text[i:], '>')
			if n < 0 {
				return
			}
			m.queue.reference(v, i+1, i+n, s, where)
			i += n
		}
	}
}

// messageIDs parses identifiers of messages or body parts, in angle brackets, as locators (RFC
// 2392).
func (m *mimeScan) messageIDs(f *mime.Field, s *scope, where string) {
	scheme := "mid:"
	if strings.EqualFold(f.Name, "content-id") {
		scheme = "cid:"
	}
	v := mime.Unfolded(&f.Value)
	for i := 0; i < len(v.Text); {
		open := bytes.IndexByte(v.Text[i:], '<')
		if open < 0 {
			return
		}
		i += open + 1
		n := bytes.IndexByte(v.Text[i:], '>')
		if n < 0 {
			return
		}
		id := string(v.Text[i : i+n])
		u, err := uri.Parse(scheme + uri.EscapePathSegment(id))
		if err == nil && strings.Contains(id, "@") && !strings.ContainsAny(id, " \t<") {
			start, end := v.Span(i, i+n)
			m.queue.add(held{finding: Finding{
				Kind: URI, Text: m.tape.Cut(start, end), Start: start, End: end,
				Spelling: u.String(), URI: u, Where: where,
			}, scope: s})
		}
		i += n + 1
	}
}

func knownScope(b Base) *scope { return &scope{known: true, done: true, base: b} }
