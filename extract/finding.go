package extract

import (
	"strings"

	"github.com/nomen-project/nomen/iri"
	"github.com/nomen-project/nomen/uri"
	"github.com/nomen-project/nomen/urn"
)

// appendSpelling appends the spelling of the hit. If hyphens is false, it omits hyphens before line
// breaks.
func (s *scanner) appendSpelling(b []byte, hyphens bool) []byte {
	for _, g := range s.segs {
		end := g.end
		if g.hyphen && !hyphens {
			end--
		}
		b = append(append(b, g.escape...), s.b[g.start:end]...)
	}
	return b
}

func (s *scanner) finding() (f Finding, ok bool) {
	ok = s.describe(&f)
	return f, ok
}

func (s *scanner) describe(f *Finding) bool {
	h := &s.hit
	f.Kind, f.Start, f.End, f.Other = h.kind, s.off+int64(h.start), s.off+int64(h.end), ""
	f.Base, f.BaseRule = s.base.URI.String(), s.base.Rule
	if h.uri.IsValid() {
		f.Text = h.uri.String()
		f.Spelling, f.URI, f.Target = f.Text, h.uri, h.uri
		return true
	}
	f.Text = s.texts.add(s.b[h.start:h.end])
	f.Spelling = f.Text
	if len(s.segs) > 1 {
		s.texts.scratch = s.appendSpelling(s.texts.scratch[:0], true)
		f.Spelling = s.texts.add(s.texts.scratch)
		n := len(f.Spelling)
		s.texts.scratch = s.appendSpelling(s.texts.scratch[:0], false)
		if len(s.texts.scratch) < n {
			f.Other = s.texts.add(s.texts.scratch)
		}
	}
	return s.read(f)
}

func (s *scanner) read(f *Finding) bool {
	var err error
	if s.hit.target != "" {
		f.URI, err = uri.Parse(s.hit.target)
		f.Target = f.URI
		return err == nil
	}
	switch f.Kind {
	case Mail:
		f.URI, err = uri.Parse("mailto:" + uri.EscapePath(f.Spelling))
	case Abbreviated:
		return s.readAbbreviated(f)
	default:
		var isIRI bool
		f.URI, isIRI, err = s.parse(f.Spelling)
		if isIRI {
			f.Kind = IRI
		} else if isURN(f.Spelling) {
			return s.readURN(f, err == nil)
		}
	}
	f.Target = f.URI
	return err == nil
}

func (s *scanner) parse(spelling string) (u uri.URI, isIRI bool, err error) {
	u, err = uri.Parse(spelling)
	if err != nil && s.o.IRI {
		if i, err := iri.Parse(spelling); err == nil {
			return i.LookupURI(), true, nil
		}
	}
	return u, false, err
}

func isURN(spelling string) bool {
	return len(spelling) > 4 && spelling[3] == ':' && strings.EqualFold(spelling[:3], "urn")
}

// readURN ends the finding where the URN ends. In the dialects of RFC 2141 and the draft of 2012, a
// URN ends before the first character that an NSS cannot contain, even between delimiters (RFC
// 2141, section 2.4; draft of 2012, section 2.5.3: N12-22). In the other dialects, delimited text
// that is a URI but not a URN remains a single finding.
func (s *scanner) readURN(f *Finding, isURI bool) bool {
	f.Kind = URN
	d := s.o.URN
	if !d.IsValid() {
		d = urn.Latest
	}
	n := d.EndInText(f.Spelling)
	if n == 0 {
		return false
	}
	f.Target = f.URI
	if n == len(f.Spelling) {
		return isURI
	}
	if s.hit.delimiter != 0 && isURI && d != urn.RFC2141 && d != urn.Draft2012 {
		f.Kind = URI // as a whole, the delimited text is not a URN
		return true
	}
	f.Spelling = f.Spelling[:n]
	f.Text = s.cut(n)
	f.End = f.Start + int64(len(f.Text))
	f.Other = ""
	var err error
	f.URI, err = uri.Parse(f.Spelling)
	f.Target = f.URI
	return err == nil
}

// cut returns the part of the document from which the first n octets of the spelling were made.
func (s *scanner) cut(n int) string {
	for _, g := range s.segs {
		if n <= g.end-g.start {
			return s.texts.add(s.b[s.hit.start : g.start+n])
		}
		n -= g.end - g.start
	}
	return ""
}
