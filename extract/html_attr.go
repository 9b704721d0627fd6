package extract

import (
	"bytes"

	"github.com/nomen-project/nomen/internal/ascii"
)

type attrKind uint8

const (
	attrNone    attrKind = iota
	attrURL              // a reference
	attrSpaces           // references separated by white space
	attrCommas           // references separated by commas
	attrSrcset           // references with descriptors, separated by commas
	attrCSS              // style sheet declarations
	attrSrcdoc           // a document
	attrRDFa             // a reference, or a CURIE in brackets
	attrText             // text for people, which may contain identifiers
	attrKept             // no reference, but it determines the meaning of other attributes
	attrContent          // the content attribute of META, whose type depends on its other attributes
	attrParam            // the value attribute of PARAM, whose type depends on its name attribute
)

// attributeKind returns the type of an attribute's value. It follows the HTML Standard. For
// attributes that are not in this standard, it follows HTML 2.0 to 4.01, SVG 1.1 and RDFa 1.1. Both
// names must be in lower case.
func attributeKind(tag, attr []byte) attrKind {
	switch string(attr) {
	case "href", "src", "xlink:href", "formaction", "cite", "longdesc", "poster", "background", "usemap",
		"codebase", "itemid", "dynsrc", "lowsrc", "vocab", "data-src", "data-href":
		return attrURL
	case "srcset", "imagesrcset", "data-srcset":
		return attrSrcset
	case "ping", "itemtype", "attributionsrc":
		return attrSpaces
	case "style", "fill", "stroke", "filter", "clip-path", "mask", "cursor", "marker", "marker-start", "marker-mid", "marker-end":
		return attrCSS
	case "about", "resource":
		return attrRDFa
	case "title", "alt", "summary", "placeholder", "label", "abbr", "standby", "aria-label", "aria-description":
		return attrText
	case "type", "http-equiv", "name", "property", "itemprop", "rel":
		return attrKept
	}
	if kind := elementAttribute(string(tag), string(attr)); kind != attrNone {
		return kind
	}
	if bytes.HasPrefix(attr, []byte("data-")) {
		return attrText
	}
	return attrNone
}

// elementAttribute is like [attributeKind], for attributes whose meaning depends on the element.
func elementAttribute(tag, attr string) attrKind {
	switch attr {
	case "action":
		return only(attrURL, tag == "form")
	case "data", "classid":
		return only(attrURL, tag == "object")
	case "archive":
		if tag == "applet" {
			return attrCommas
		}
		return only(attrSpaces, tag == "object")
	case "profile":
		return only(attrSpaces, tag == "head")
	case "manifest":
		return only(attrURL, tag == "html")
	case "icon":
		return only(attrURL, tag == "menuitem" || tag == "command")
	case "srcdoc":
		return only(attrSrcdoc, tag == "iframe")
	case "content":
		return only(attrContent, tag == "meta")
	case "value":
		if tag == "param" {
			return attrParam
		}
		return attrText
	}
	return attrNone
}

func only(kind attrKind, if_ bool) attrKind {
	if if_ {
		return kind
	}
	return attrNone
}

func paramIsURL(name string) bool {
	switch name {
	case "movie", "src", "url", "href", "data", "filename":
		return true
	}
	return false
}

func trimmed(b []byte) (i, j int) {
	j = len(b)
	for i < j && b[i] <= ' ' {
		i++
	}
	for i < j && b[j-1] <= ' ' {
		j--
	}
	return i, j
}

func listed(b []byte, isSeparator func(byte) bool, yield func(i, j int)) {
	for i := 0; i < len(b); {
		if isSeparator(b[i]) {
			i++
			continue
		}
		j := i
		for j < len(b) && !isSeparator(b[j]) {
			j++
		}
		yield(i, j)
		i = j
	}
}

func isComma(c byte) bool { return c == ',' || isSpace(c) }

// srcset yields the bounds of the references in a srcset attribute (HTML Standard, section
// 4.8.4.2.2). A comma belongs to a reference unless it is the last character.
func srcset(b []byte, yield func(i, j int)) {
	for i := 0; i < len(b); {
		if isComma(b[i]) {
			i++
			continue
		}
		j := i
		for j < len(b) && !isSpace(b[j]) {
			j++
		}
		end := j
		for b[end-1] == ',' {
			end--
		}
		yield(i, end)
		if i = j; end == j {
			i = descriptorsEnd(b, j)
		}
	}
}

func descriptorsEnd(b []byte, i int) int {
	for inside := false; i < len(b); i++ {
		switch b[i] {
		case '(':
			inside = true
		case ')':
			inside = false
		case ',':
			if !inside {
				return i
			}
		}
	}
	return i
}

// refresh returns the bounds of the reference in a META refresh (HTML Standard, section 4.2.5.3).
func refresh(b []byte) (i, j int, ok bool) {
	skip := func(in func(byte) bool) {
		for i < len(b) && in(b[i]) {
			i++
		}
	}
	skip(isSpace)
	skip(func(c byte) bool { return ascii.IsDigit(c) || c == '.' })
	before := i
	skip(isSpace)
	if i < len(b) && (b[i] == ';' || b[i] == ',') {
		i++
		skip(isSpace)
	}
	if i == before || i == len(b) {
		return 0, 0, false
	}
	if rest := b[i:]; len(rest) > 3 && ascii.EqualFold(rest[:3], "url") {
		start := i
		i += 3
		skip(isSpace)
		if i < len(b) && b[i] == '=' {
			i++
			skip(isSpace)
		} else {
			i = start
		}
	}
	j = len(b)
	if i < j && (b[i] == '"' || b[i] == '\'') {
		quote := b[i]
		i++
		if n := bytes.IndexByte(b[i:], quote); n >= 0 {
			j = i + n
		}
	}
	return i, j, true
}
