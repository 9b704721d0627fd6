package extra

import (
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/scheme"
	"github.com/nomen-project/nomen/scheme/internal/layout"
	"github.com/nomen-project/nomen/uri"
)

var data = scheme.Scheme{
	Name: "data", Kind: scheme.KindOther,
	Reference:  "RFC 2397",
	Example:    "data:text/plain;charset=UTF-8,a%20note",
	Note:       "the default media type is text/plain;charset=US-ASCII; white space in base64 must be percent-encoded",
	Security:   "HTML, SVG and scripts run in the context of the document that opens them",
	Special:    []scheme.Special{inPath(",", "the first comma precedes the data"), inPath(";", "precedes a parameter")},
	Properties: "contains the data itself",
	Rules:      scheme.RuleSet{Check: checkData, Parts: partsData},
}

const (
	ruleData       = "RFC 2397, 3: dataurl"
	ruleDataType   = "RFC 2397, 3: mediatype"
	ruleDataBase64 = "RFC 2397, 2: base64"
)

// A dataHead holds the offsets of the components of a data URL that come before the data.
type dataHead struct {
	typeEnd int
	comma   int // offset of the comma before the data, or -1
	base64  int // offset of ";base64", or -1
}

// dataHeadOf finds the pieces of a data URL. The scheme does not have queries, so a question mark
// and the text after it belong to the data.
func dataHeadOf(l *layout.Layout) dataHead {
	h := dataHead{comma: ascii.Until(l.Text, l.Path, l.End(), ','), base64: -1}
	end := h.comma
	if h.comma == l.End() {
		h.comma = -1
	}
	h.typeEnd = ascii.Until(l.Text, l.Path, end, ';')
	const mark = ";base64"
	if at := end - len(mark); at >= l.Path && ascii.EqualFold(l.Text[at:end], mark) {
		h.base64 = at
	}
	return h
}

// checkData checks a data URL.
//
//	dataurl   = "data:" [ mediatype ] [ ";base64" ] "," data
//	mediatype = [ type "/" subtype ] *( ";" parameter )
//	parameter = attribute "=" value
func checkData(u uri.URI) []scheme.Finding {
	l := layout.Of(u)
	h := dataHeadOf(&l)
	if h.comma < 0 {
		return layout.Refuse(l.End(), l.End(), ruleData, "a comma must precede the data")
	}
	if bad := checkMediaType(&l, h); bad != nil {
		return bad
	}
	if h.base64 >= 0 {
		if bad := checkBase64(l.Text, h.comma+1, l.End()); bad != nil {
			return bad
		}
	}
	if t := l.Text[l.Path:h.typeEnd]; isActive(t) {
		return []scheme.Finding{layout.Warn(scheme.CodeDanger, l.Path, h.typeEnd, "RFC 2397, 6", "content of this type can run scripts when opened")}
	}
	return nil
}

func checkMediaType(l *layout.Layout, h dataHead) []scheme.Finding {
	end := h.comma
	if h.base64 >= 0 {
		end = h.base64
	}
	if h.typeEnd > l.Path {
		slash := ascii.Until(l.Text, l.Path, h.typeEnd, '/')
		switch {
		case slash == h.typeEnd:
			return layout.Refuse(l.Path, h.typeEnd, ruleDataType, "a media type must have the form type/subtype")
		case ascii.Run(l.Text, l.Path, isToken) != slash || slash == l.Path:
			return layout.Refuse(l.Path, slash, ruleDataType, "the type must be a token: letters, digits and ! # $ & ' * + - . ^ _ ` | ~")
		case ascii.Run(l.Text, slash+1, isToken) < h.typeEnd || slash+1 == h.typeEnd:
			return layout.Refuse(slash+1, h.typeEnd, ruleDataType, "the subtype must be a token: letters, digits and ! # $ & ' * + - . ^ _ ` | ~")
		}
	}
	for at := h.typeEnd; at < end; {
		next := ascii.Until(l.Text, at+1, end, ';')
		equals := ascii.Until(l.Text, at+1, next, '=')
		switch {
		case equals == next:
			return layout.Refuse(at+1, next, "RFC 2397, 3: parameter", "a parameter must have the form attribute=value")
		case ascii.Run(l.Text, at+1, isToken) != equals || equals == at+1:
			return layout.Refuse(at+1, equals, "RFC 2397, 3: parameter", "the attribute must be a token: letters, digits and ! # $ & ' * + - . ^ _ ` | ~")
		}
		at = next
	}
	return nil
}

// isToken reports whether a type or attribute may contain c (RFC 2045, section 5.1). It accepts the
// percent sign, which begins a percent-encoding.
func isToken(c byte) bool { return ascii.IsAlnum(c) || strings.IndexByte("!#$%&'*+-.^_`{|}~", c) >= 0 }

// checkBase64 checks the alphabet, the length and the padding of s[from:to] after percent-decoding.
func checkBase64(s string, from, to int) []scheme.Finding {
	n, padding := 0, 0
	for i := from; i < to; {
		c, size := s[i], 1
		if c == '%' {
			c, size = ascii.Unhex(s[i+1])<<4|ascii.Unhex(s[i+2]), 3
		}
		switch {
		case c == '=':
			padding++
		case padding > 0:
			return layout.Refuse(i, i+size, ruleDataBase64, "unexpected character after the padding")
		case ascii.IsAlnum(c), c == '+', c == '/':
			n++
		case size == 3 && (c == ' ' || c == '\t' || c == '\r' || c == '\n'): // decoders skip white space
		default:
			return layout.Refuse(i, i+size, ruleDataBase64, "invalid base64 character")
		}
		i += size
	}
	const group = 4
	switch rest := n % group; {
	case rest == 1, padding > 0 && (n+padding)%group != 0, padding > 2:
		return layout.Refuse(to, to, ruleDataBase64, "the length of base64 data must be a multiple of four")
	case rest != 0 && padding == 0:
		return []scheme.Finding{layout.Instead(layout.Remark(scheme.CodeForm, to, to, "RFC 4648, 3.2", "missing base64 padding"), strings.Repeat("=", group-rest))}
	}
	return nil
}

func isActive(mediatype string) bool {
	return ascii.IsOneOf(mediatype,
		"text/html", "application/xhtml+xml", "image/svg+xml", "text/xml", "application/xml",
		"text/javascript", "application/javascript", "application/ecmascript", "text/ecmascript")
}

func partsData(dst []scheme.Part, u uri.URI) []scheme.Part {
	t := layout.Take(dst, u)
	h := dataHeadOf(&t.Layout)
	end := h.comma
	if end < 0 {
		end = t.End()
	}
	if h.base64 >= 0 {
		end = h.base64
	}
	if h.typeEnd = min(h.typeEnd, end); h.typeEnd > t.Path {
		t.Part("mediatype", t.Path, h.typeEnd)
	}
	for at := h.typeEnd; at < end; {
		next := ascii.Until(t.Text, at+1, end, ';')
		t.Data("parameter", at+1, next)
		at = next
	}
	if h.base64 >= 0 {
		t.Part("encoding", h.base64+1, h.base64+len(";base64"))
	}
	if h.comma >= 0 {
		t.Data("data", h.comma+1, t.End())
	}
	t.Fragment()
	return t.Parts
}
