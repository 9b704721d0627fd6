package format

import (
	"bytes"
	"io"
	"strconv"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/shown"
	"github.com/nomen-project/nomen/name"
)

// writeURIList writes the locations of an answer, or its names, as text/uri-list (RFC 2483, section
// 5). The first line is a comment with the name. More comments have locations that are not URIs,
// the reason and successors of a retired name, and the answer to I=I. The output is ASCII. All
// other characters are escaped as in text/urc-0.
func writeURIList(w io.Writer, a *nomen.Answer) error {
	var b bytes.Buffer
	comment(&b, a.Name.Key())
	if a.Status == nomen.Retired {
		comment(&b, strings.TrimRight("retired: "+a.Reason, ": "))
	}
	for _, s := range a.Successors {
		comment(&b, "successor: "+s.Key())
	}
	if a.Redirect != "" {
		comment(&b, "ask instead: "+a.Redirect)
	}
	if a.Same || a.Service == nomen.IisI {
		comment(&b, sameComment+strings.ToUpper(strconv.FormatBool(a.Same)))
	}
	for _, s := range listed(a) {
		if isAbsolute(s) {
			b.WriteString(s + crlf)
			continue
		}
		comment(&b, "not a URI: "+s)
	}
	_, err := w.Write(b.Bytes())
	return err
}

const crlf = "\r\n"

const sameComment = "same: "

func comment(b *bytes.Buffer, s string) {
	if s != "" {
		b.WriteString("# " + charsets[0].escape(shown.Inline(s)) + crlf)
	}
}

// readURIList reads text/uri-list. The URIs are locations, or names if the service is about names.
// readURIList takes the name from a comment on the first line, and the answer to I=I from any
// comment. Lines may end in CRLF, LF or CR. If a line is neither a URI nor a comment, readURIList
// returns an [*Error] together with the answer up to this line.
func readURIList(r io.Reader, asked nomen.Service) (*nomen.Answer, error) {
	b, err := readAll(r, TypeURIList)
	if err != nil {
		return nil, err
	}
	a := &nomen.Answer{Service: asked}
	in := splitter{data: b}
	for count := 0; ; {
		offset := in.pos
		raw, ok := in.next()
		if !ok {
			return a, nil
		}
		line := strings.TrimSpace(string(raw))
		switch {
		case line == "":
			continue
		case line[0] == '#':
			if offset == 0 {
				nameFromComment(a, line)
			}
			a.Same = a.Same || asked == nomen.IisI && line == "# "+sameComment+"TRUE"
			continue
		case !isAbsolute(line):
			return a, &Error{Format: TypeURIList, Offset: offset, Rule: "URI", Message: "line is neither a URI nor a comment"}
		case count == maxItems:
			return a, tooMany(TypeURIList, offset)
		}
		count++
		if aboutNames(asked) {
			a.Names = append(a.Names, line)
			continue
		}
		a.Locations = append(a.Locations, nomen.Location{URL: line})
	}
}

func nameFromComment(a *nomen.Answer, line string) {
	s := strings.TrimSpace(strings.TrimLeft(line, "#"))
	if n, err := name.Parse(s); err == nil {
		a.Name = n
	}
}

// A splitter splits data into lines, which end in CRLF, LF or CR.
type splitter struct {
	data []byte
	pos  int // where the next line starts
}

func (s *splitter) next() ([]byte, bool) {
	if s.pos >= len(s.data) {
		return nil, false
	}
	rest := s.data[s.pos:]
	n := bytes.IndexAny(rest, crlf)
	switch {
	case n < 0:
		s.pos = len(s.data)
		return rest, true
	case bytes.HasPrefix(rest[n:], []byte(crlf)):
		s.pos += n + len(crlf)
	default:
		s.pos += n + 1
	}
	return rest[:n], true
}
