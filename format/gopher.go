package format

import (
	"bytes"
	"io"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/shown"
	"github.com/nomen-project/nomen/uri"
)

// GopherMenu writes a menu of those locations of an answer that are gopher URLs (draft of 1995,
// section 4; RFC 1436, section 3.2 and appendix; RFC 4266). The title of an item is the first line
// of the note, or the URL if there is no note.
func GopherMenu(w io.Writer, a *nomen.Answer) error {
	var b bytes.Buffer
	for _, l := range a.Locations {
		item, ok := gopherItem(l)
		if !ok {
			continue
		}
		b.WriteString(item + crlf)
	}
	b.WriteString("." + crlf)
	_, err := w.Write(b.Bytes())
	return err
}

const gopherPort = "70"

// gopherItem returns the menu line for a location. It returns false unless the location is a gopher
// URL with a host, and with a selector without tabs and line breaks.
func gopherItem(l nomen.Location) (string, bool) {
	u, err := uri.Parse(l.URL)
	if err != nil {
		return "", false
	}
	scheme, _ := u.Scheme()
	host, _ := u.Host()
	if !strings.EqualFold(scheme, "gopher") || host == "" {
		return "", false
	}
	port, _ := u.Port()
	path := strings.TrimPrefix(u.Path(), "/")
	if query, ok := u.Query(); ok {
		path += "?" + query
	}
	kind, selector, ok := gopherSelector(path)
	if !ok {
		return "", false
	}
	return kind + gopherTitle(l) + "\t" + selector + "\t" + strings.Trim(host, "[]") + "\t" + orDefault(port, gopherPort), true
}

// gopherSelector parses [ gopher-type selector ]. For an empty path it returns the type of a menu.
func gopherSelector(path string) (kind, selector string, ok bool) {
	raw, ok := unpercent(path)
	if !ok || bytes.ContainsAny(raw, "\t\r\n\x00") {
		return "", "", false
	}
	if len(raw) == 0 {
		return "1", "", true
	}
	return string(raw[:1]), string(raw[1:]), raw[0] > ' ' && raw[0] <= '~'
}

// maxGopherTitle is the number of characters of a title that clients show (RFC 1436, section 3.9).
const maxGopherTitle = 70

func gopherTitle(l nomen.Location) string {
	note, _, _ := strings.Cut(strings.TrimSpace(shown.Lines(l.Note)), "\n")
	s := []rune(shown.Inline(orDefault(note, l.URL)))
	return string(s[:min(len(s), maxGopherTitle)])
}
