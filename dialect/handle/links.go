package handle

import (
	"net/http"
	"slices"
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
)

// The types of values that add header fields to a redirect.
const (
	typeLinks   = "10320/links"
	typeHeaders = "10320/headers"
)

// maxFields is the maximum total length of the header fields that values add, in bytes.
const maxFields = 4 << 10

// addFields adds the links and header fields of a handle to a redirect. It leaves out fields that
// could be harmful.
func addFields(h http.Header, p *places) {
	n := 0
	add := func(key, value string) {
		if n += len(key) + len(value); n <= maxFields && isFieldValue(value) {
			h.Add(key, value)
		}
	}
	for _, text := range p.fields {
		addLines(text, add)
	}
	for _, l := range slices.Concat(p.all, p.links) {
		if isFieldValue(l.attributes["rel"]) && !l.unlinked {
			add("Link", l.link())
		}
	}
}

// addLines adds the header fields in a text with lines of the form "Name: value". It adds only
// fields that describe the handle. Other fields would let an editor of handles control the cookies,
// caches and scripts of the server. Lines that are not header fields are ignored.
func addLines(text string, add func(key, value string)) {
	for line := range strings.Lines(text) {
		key, value, ok := strings.Cut(strings.TrimSpace(line), ":")
		if ok && ascii.IsOneOf(key, "Link", "Deprecation", "Sunset", "X-Robots-Tag") {
			add(http.CanonicalHeaderKey(key), strings.TrimSpace(value))
		}
	}
}

func isFieldValue(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r >= 0x7F })
}

// link formats the place as a value of the field Link (RFC 8288).
func (p *place) link() string {
	var b strings.Builder
	b.WriteString("<" + p.url + ">")
	for _, a := range [...]struct{ attribute, parameter string }{
		{"anchor", "anchor"}, {"rel", "rel"}, {"media-type", "type"}, {"target-type", "target-type"}, {"media", "media"}, {"hreflang", "hreflang"}, {"title", "title"},
	} {
		switch value := p.attributes[a.attribute]; {
		case value == "":
		case isFieldValue(value):
			b.WriteString("; " + a.parameter + `="` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`)
		case a.parameter == "title":
			b.WriteString("; title*=UTF-8'" + languageTag(p.attributes["language"]) + "'" + extended(value))
		}
	}
	return b.String()
}

func languageTag(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return r >= 0x80 || r != '-' && !ascii.IsLetter(byte(r)) && !ascii.IsDigit(byte(r)) }) {
		return ""
	}
	return s
}

// extended escapes a text for a parameter of a header field (RFC 8187).
func extended(s string) string {
	return ascii.EscapeUnless(s, func(c byte) bool {
		return ascii.IsLetter(c) || ascii.IsDigit(c) || strings.IndexByte("!#$&+-.^_`|~", c) >= 0
	})
}
