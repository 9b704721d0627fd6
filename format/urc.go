package format

import (
	"bytes"
	"io"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/shown"
)

// WriteURC writes an answer as text/urc-0, with a part for each location and its note. The comment
// of the package describes this format.
func WriteURC(w io.Writer, a *nomen.Answer) error { return writeURC(w, a, charset{}) }

// writeURC writes a as text/urc-0. If no charset of the draft of 1995 has all characters of a part,
// and the fallback is not zero, the part is written in the fallback.
func writeURC(w io.Writer, a *nomen.Answer, fallback charset) error {
	var b bytes.Buffer
	for i, p := range answerParts(a) {
		if err := p.write(&b, i == 0 && p.describes(a), fallback); err != nil {
			return err
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

type urcPart struct {
	location    *nomen.Location // may be nil
	description []field         // nil except in the first part
}

// answerParts returns the parts of an answer, which are at least one.
func answerParts(a *nomen.Answer) []urcPart {
	parts := make([]urcPart, max(1, len(a.Locations)))
	for i := range a.Locations {
		parts[i].location = &a.Locations[i]
	}
	parts[0].description = describe(a)
	return parts
}

// describes reports whether to write the description. The description is written unless the service
// is I2L or I2Ls and the answer has a location. It is also written if the note of the location
// could be mistaken for a description.
func (p urcPart) describes(a *nomen.Answer) bool {
	if a.Service != nomen.I2L && a.Service != nomen.I2Ls || p.location == nil {
		return true
	}
	note := shown.Lines(p.location.Note)
	return strings.HasPrefix(note, firstField) || strings.Contains(note, "\n\n"+firstField)
}

// write writes the part. If the location is not a URL, it is written as metainformation.
func (p urcPart) write(w io.Writer, described bool, fallback charset) error {
	fields := p.description
	if !described {
		fields = nil
	}
	var l nomen.Location
	if p.location != nil {
		l = *p.location
		if !isAbsolute(l.URL) {
			l.Note = "not a URL: \"" + l.URL + "\"\n" + l.Note
			l.URL = ""
		}
	}
	c := bestCharset(l.Charset, l.Note, text(fields), fallback)
	part := Part{URL: l.URL, Meta: indent(c.escape(l.Note))}
	if isLanguage(l.Lang) {
		part.Language = l.Lang
	}
	if len(fields) > 0 {
		if part.Meta != "" {
			part.Meta += "\n\n"
		}
		part.Meta += writeFields(fields, c)
	}
	return part.writeIn(w, c)
}

// indent adds a space to each line that begins with "=====" (draft of 1995, section 3.4.2). It also
// adds a space to each line that begins with spaces and "=====", so that outdent can restore s
// exactly.
func indent(s string) string {
	return eachLine(s, func(line string) string {
		if strings.HasPrefix(strings.TrimLeft(line, " "), mark) {
			return " " + line
		}
		return line
	})
}

func outdent(s string) string {
	return eachLine(s, func(line string) string {
		if strings.HasPrefix(strings.TrimLeft(line, " "), mark) {
			return strings.TrimPrefix(line, " ")
		}
		return line
	})
}

func eachLine(s string, change func(string) string) string {
	if !strings.Contains(s, mark) {
		return s
	}
	all := strings.Split(s, "\n")
	for i, line := range all {
		all[i] = change(line)
	}
	return strings.Join(all, "\n")
}

// readURC reads text/urc-0 from any server. A part with a URL becomes a location. The text of a
// part without a URL becomes part of the description in the metadata. Text in an unknown charset is
// read as UTF-8, with U+FFFD for invalid bytes.
func readURC(r io.Reader, asked nomen.Service) (*nomen.Answer, error) {
	parts, err := ReadParts(r)
	if err != nil {
		return nil, err
	}
	a := &nomen.Answer{Service: asked}
	for i, p := range parts {
		text := p.text()
		if i == 0 {
			text = readDescription(a, text)
		}
		note := unescape(outdent(text))
		switch {
		case p.URL != "":
			a.Locations = append(a.Locations, p.asLocation(note))
		case strings.TrimSpace(note) != "":
			addMetadata(a, "description", note)
		}
	}
	return a, nil
}

func (p Part) text() string {
	if p.Meta == "" {
		return strings.ToValidUTF8(string(p.Raw), "\uFFFD")
	}
	return p.Meta
}

func (p Part) asLocation(note string) nomen.Location {
	l := nomen.Location{URL: p.URL, Lang: p.Language, Charset: p.Charset, Note: note}
	if l.Lang == defaultLanguage {
		l.Lang = ""
	}
	if l.Charset == defaultCharset {
		l.Charset = ""
	}
	return l
}

func addMetadata(a *nomen.Answer, element, value string) {
	if a.Metadata == nil {
		a.Metadata = nomen.Metadata{}
	}
	a.Metadata[element] = append(a.Metadata[element], value)
}

// WriteProblemURC writes p as text/urc-0. If p has an answer, WriteProblemURC writes the answer.
// Otherwise it writes a part without a URL, whose metainformation is "problem: " and the text for
// people.
func WriteProblemURC(w io.Writer, p *Problem) error { return writeProblemURC(w, p, charset{}) }

func writeProblemURC(w io.Writer, p *Problem, fallback charset) error {
	if p.Answer != nil {
		return writeURC(w, p.Answer, fallback)
	}
	var b bytes.Buffer
	if err := writeProblemText(&b, p); err != nil {
		return err
	}
	plain := "problem: " + strings.TrimRight(b.String(), "\n")
	c := bestCharset("", plain, "", fallback)
	return Part{Meta: indent(c.escape(plain))}.writeIn(w, c)
}
