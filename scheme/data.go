package scheme

import (
	"strings"

	"github.com/nomen-project/nomen/uri"
)

var data = Scheme{
	Name: "data", Kind: KindOther,
	Reference:  "RFC 2397",
	Example:    "data:text/plain;charset=UTF-8,a%20note",
	Note:       "the default media type is text/plain;charset=US-ASCII; white space in base64 must be percent-encoded",
	Security:   "HTML, SVG and scripts run in the context of the document that opens them",
	Special:    []Special{{uri.ComponentPath, ",", "the first comma precedes the data"}, {uri.ComponentPath, ";", "precedes a parameter"}},
	Properties: "contains the data itself",
	Rules:      RuleSet{Check: checkData, Parts: partsData},
}

// The grammar rules of data URLs.
const (
	ruleData       = "RFC 2397, 3: dataurl"
	ruleDataType   = "RFC 2397, 3: mediatype"
	ruleDataBase64 = "RFC 2397, 2: base64"
)

// dataHead holds the offsets of the pieces before the comma.
type dataHead struct {
	typeEnd int // of type/subtype
	comma   int // -1 if there is no comma
	base64  int // of ";base64", -1 if absent
}

// dataHead returns the offsets. Query and data are one, as the scheme has no
// queries.
func (l *layout) dataHead() dataHead {
	h := dataHead{comma: until(l.s, l.path, l.end(), ','), base64: -1}
	end := h.comma
	if h.comma == l.end() {
		h.comma = -1
	}
	h.typeEnd = until(l.s, l.path, end, ';')
	const mark = ";base64"
	if at := end - len(mark); at >= l.path && equalFold(l.s[at:end], mark) {
		h.base64 = at
	}
	return h
}

// checkData checks a data URL.
//
//	dataurl   = "data:" [ mediatype ] [ ";base64" ] "," data
//	mediatype = [ type "/" subtype ] *( ";" parameter )
//	parameter = attribute "=" value
func checkData(u uri.URI) []Finding {
	l := layoutOf(u)
	h := l.dataHead()
	if h.comma < 0 {
		return refuse(l.end(), l.end(), ruleData, "a comma must precede the data")
	}
	if bad := l.checkMediaType(h); bad != nil {
		return bad
	}
	if h.base64 >= 0 {
		if bad := checkBase64(l.s, h.comma+1, l.end()); bad != nil {
			return bad
		}
	}
	if t := l.s[l.path:h.typeEnd]; isActive(t) {
		return []Finding{warn(CodeDanger, l.path, h.typeEnd, "RFC 2397, 6", "content of this type can run scripts when opened")}
	}
	return nil
}

// checkMediaType checks the text before the comma.
func (l *layout) checkMediaType(h dataHead) []Finding {
	end := h.comma
	if h.base64 >= 0 {
		end = h.base64
	}
	if h.typeEnd > l.path {
		slash := until(l.s, l.path, h.typeEnd, '/')
		switch {
		case slash == h.typeEnd:
			return refuse(l.path, h.typeEnd, ruleDataType, "a media type must have the form type/subtype")
		case run(l.s, l.path, isToken) != slash || slash == l.path:
			return refuse(l.path, slash, ruleDataType, "the type must be a token: letters, digits and ! # $ & ' * + - . ^ _ ` | ~")
		case run(l.s, slash+1, isToken) < h.typeEnd || slash+1 == h.typeEnd:
			return refuse(slash+1, h.typeEnd, ruleDataType, "the subtype must be a token: letters, digits and ! # $ & ' * + - . ^ _ ` | ~")
		}
	}
	for at := h.typeEnd; at < end; {
		next := until(l.s, at+1, end, ';')
		equals := until(l.s, at+1, next, '=')
		switch {
		case equals == next:
			return refuse(at+1, next, "RFC 2397, 3: parameter", "a parameter must have the form attribute=value")
		case run(l.s, at+1, isToken) != equals || equals == at+1:
			return refuse(at+1, equals, "RFC 2397, 3: parameter", "the attribute must be a token: letters, digits and ! # $ & ' * + - . ^ _ ` | ~")
		}
		at = next
	}
	return nil
}

// isToken reports whether c is allowed in a type or attribute (RFC 2045, 5.1).
// It accepts the percent sign, which begins a percent-encoding.
func isToken(c byte) bool { return isAlnum(c) || strings.IndexByte("!#$%&'*+-.^_`{|}~", c) >= 0 }

// checkBase64 checks the alphabet, length and padding of the decoded bytes
// s[from:to].
func checkBase64(s string, from, to int) []Finding {
	n, padding := 0, 0
	for i := from; i < to; {
		c, size := s[i], 1
		if c == '%' {
			c, size = unhex(s[i+1])<<4|unhex(s[i+2]), 3
		}
		switch {
		case c == '=':
			padding++
		case padding > 0:
			return refuse(i, i+size, ruleDataBase64, "unexpected character after the padding")
		case isAlnum(c), c == '+', c == '/':
			n++
		case size == 3 && (c == ' ' || c == '\t' || c == '\r' || c == '\n'): // decoders skip it
		default:
			return refuse(i, i+size, ruleDataBase64, "invalid base64 character")
		}
		i += size
	}
	const group = 4
	switch rest := n % group; {
	case rest == 1, padding > 0 && (n+padding)%group != 0, padding > 2:
		return refuse(to, to, ruleDataBase64, "the length of base64 data must be a multiple of four")
	case rest != 0 && padding == 0:
		return []Finding{instead(remark(CodeForm, to, to, "RFC 4648, 3.2", "missing base64 padding"), strings.Repeat("=", group-rest))}
	}
	return nil
}

// isActive reports whether content of the media type can contain scripts.
func isActive(mediatype string) bool {
	for _, active := range [...]string{
		"text/html", "application/xhtml+xml", "image/svg+xml", "text/xml", "application/xml",
		"text/javascript", "application/javascript", "application/ecmascript", "text/ecmascript",
	} {
		if equalFold(mediatype, active) {
			return true
		}
	}
	return false
}

// partsData adds the media type, parameters, the base64 marker and the data.
func partsData(dst []Part, u uri.URI) []Part {
	t := take(dst, u)
	h := t.dataHead()
	end := h.comma
	if end < 0 {
		end = t.end()
	}
	if h.base64 >= 0 {
		end = h.base64
	}
	if h.typeEnd = min(h.typeEnd, end); h.typeEnd > t.path {
		t.part("mediatype", t.path, h.typeEnd)
	}
	for at := h.typeEnd; at < end; {
		next := until(t.s, at+1, end, ';')
		t.data("parameter", at+1, next)
		at = next
	}
	if h.base64 >= 0 {
		t.part("encoding", h.base64+1, h.base64+len(";base64"))
	}
	if h.comma >= 0 {
		t.data("data", h.comma+1, t.end())
	}
	t.fragment()
	return t.parts
}
