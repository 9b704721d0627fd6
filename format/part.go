package format

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/nomen-project/nomen/uri"

	"github.com/nomen-project/nomen/internal/shown"
)

// A Part is a part of an answer in text/urc-0 (draft of 1995, section 3.4.2).
type Part struct {
	Charset  string // US-ASCII or ISO-8859-1 to -9; "" means US-ASCII
	Language string // a language tag; "" means x-unspecified
	URL      string // an absolute URI, or ""
	Meta     string // metainformation, as lines separated by LF

	// ReadParts sets these fields, and WritePart ignores them.
	Raw       []byte // Meta before it was decoded
	Undecoded bool   // Meta lacks some of Raw; see ReadParts
}

// mark is the start of every header. No line of metainformation begins with mark.
const mark = "====="

// maxURLLine is the maximum length of a line with a URL. Longer URLs are folded.
const maxURLLine = 76

// WritePart writes p in its charset, with CRLF line endings. If p cannot be written without change,
// WritePart writes nothing and returns an [*Error], whose rule is the name of a field. The reasons
// are:
//
//   - the charset is not supported, or lacks a character of the metainformation;
//   - the language tag is invalid;
//   - the URL is not an absolute URI;
//   - a line of the metainformation begins with "=====";
//   - the part has no URL, and its first line of metainformation would be read as a URL;
//   - the metainformation has a control character other than a tab or a line break.
func WritePart(w io.Writer, p Part) error {
	c, ok := lookupCharset(orDefault(p.Charset, defaultCharset))
	if !ok {
		return &Error{Format: TypeURC, Rule: "charset", Message: fmt.Sprintf("unsupported charset %.40q: must be US-ASCII or ISO-8859-1 to ISO-8859-9", p.Charset)}
	}
	return p.writeIn(w, c)
}

// writeIn writes p in charset c instead of p.Charset.
func (p Part) writeIn(w io.Writer, c charset) error {
	if err := p.check(c); err != nil {
		return err
	}
	p.Charset = c.name
	var b bytes.Buffer
	p.writeHeader(&b)
	p.writeURL(&b)
	if p.Meta != "" {
		for _, r := range shown.Lines(p.Meta) {
			if r == '\n' {
				b.WriteByte('\r')
			}
			octets, _ := c.append(b.AvailableBuffer(), r)
			b.Write(octets)
		}
		b.WriteString(crlf)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// check returns an error if p cannot be written in charset c.
func (p Part) check(c charset) error {
	fail := func(rule string, offset int, message string) error {
		return &Error{Format: TypeURC, Offset: offset, Rule: rule, Message: message}
	}
	if p.Language != "" && !isLanguage(p.Language) {
		return fail("language", 0, fmt.Sprintf("invalid language tag %.40q", p.Language))
	}
	if p.URL != "" {
		if _, err := uri.Parse(p.URL); err != nil {
			return fail("url", 0, err.Error())
		}
	}
	if offset, message := p.metaFault(c); message != "" {
		return fail("meta", offset, message)
	}
	return nil
}

// metaFault returns the offset at which the metainformation cannot be written, and the reason. The
// reason is "" if the metainformation is valid.
func (p Part) metaFault(c charset) (int, string) {
	offset, first := 0, p.URL == ""
	for line := range strings.SplitSeq(shown.Lines(p.Meta), "\n") {
		if strings.HasPrefix(line, mark) {
			return offset, `a line begins with "` + mark + `"`
		}
		if blank := strings.TrimSpace(line) == ""; first && !blank {
			if first = false; beginsURL(line) {
				return offset, "the first line would be read as the URL, since the part has none"
			}
		}
		for i, r := range line {
			if !c.has(r) {
				return offset + i, fmt.Sprintf("%s does not contain %q", c.name, r)
			}
			if isControl(r) && r != '\t' {
				return offset + i, fmt.Sprintf("control character %q", r)
			}
		}
		offset += len(line) + 1
	}
	return 0, ""
}

func (p Part) writeHeader(b *bytes.Buffer) {
	b.WriteString(mark)
	if c := orDefault(p.Charset, defaultCharset); !strings.EqualFold(c, defaultCharset) {
		b.WriteString(";charset=" + strings.ToUpper(c))
	}
	if l := orDefault(p.Language, defaultLanguage); !strings.EqualFold(l, defaultLanguage) {
		b.WriteString(";language=" + l)
	}
	b.WriteString(crlf)
}

// writeURL writes the URL, folded if it is long. It puts a space before a folded line that begins
// with "=", because the line could otherwise be read as a header. No line ends in a hyphen, because
// readers could assume that the hyphen was inserted.
func (p Part) writeURL(b *bytes.Buffer) {
	if len(p.URL) <= maxURLLine || len(p.URL) > maxURL {
		if p.URL != "" {
			b.WriteString(p.URL + crlf)
		}
		return
	}
	rest := p.URL
	for first := true; rest != ""; first = false {
		before := ""
		switch {
		case first:
			before = openURL
		case rest[0] == '=':
			before = " "
		}
		n := uri.LineBreak(rest, maxURLLine-len(before)-len(closeURL))
		b.WriteString(before + rest[:n])
		if rest = rest[n:]; rest != "" {
			b.WriteString(crlf)
		}
	}
	b.WriteString(closeURL + crlf)
}

// The delimiters of a folded URL (RFC 1738, appendix).
const (
	openURL  = "<URL:"
	closeURL = ">"
)

func orDefault(s, def string) string {
	if s == "" {
		return def
	}
	return s
}
