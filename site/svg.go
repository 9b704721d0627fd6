package site

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
)

// These are the XML namespaces that browsers interpret in SVG.
const (
	svgSpace   = "http://www.w3.org/2000/svg"
	xlinkSpace = "http://www.w3.org/1999/xlink"
	xmlSpace   = "http://www.w3.org/XML/1998/namespace"
)

// svgElements are the SVG elements that a logo may contain. None of them can run scripts, load
// files, or animate the picture.
const svgElements = ` svg g defs symbol use title desc metadata style path rect circle ellipse line polyline polygon
	text tspan textPath linearGradient radialGradient stop pattern clipPath mask marker switch view
	filter feBlend feColorMatrix feComponentTransfer feComposite feConvolveMatrix feDiffuseLighting feDisplacementMap
	feDistantLight feDropShadow feFlood feFuncA feFuncB feFuncG feFuncR feGaussianBlur feMerge feMergeNode feMorphology
	feOffset fePointLight feSpecularLighting feSpotLight feTile feTurbulence `

// editorSpaces contains the prefixes of XML namespaces that drawing programs use for their own
// data. Browsers ignore this data.
var editorSpaces = [...]string{
	"http://www.inkscape.org/", "http://sodipodi.sourceforge.net/", "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
	"http://purl.org/dc/", "http://creativecommons.org/ns#", "http://web.resource.org/cc/", "http://www.serif.com/",
}

// checkSVG checks that a file is an SVG picture. The picture must not contain scripts, event
// attributes, references to other files, or external definitions.
func checkSVG(b []byte) error {
	c := svgChecker{Decoder: xml.NewDecoder(bytes.NewReader(b))}
	c.CharsetReader = func(string, io.Reader) (io.Reader, error) { return nil, errors.New("the file must be in UTF-8") }
	for {
		token, err := c.Token()
		if err == io.EOF && c.seen {
			return nil
		}
		if err == nil && !c.seen {
			err = checkBefore(token)
		}
		if err != nil {
			return notSVG(c.Decoder, err.Error())
		}
		if fault := c.fault(token); fault != "" {
			return notSVG(c.Decoder, fault)
		}
	}
}

// An svgChecker checks the XML tokens of a file one after another.
type svgChecker struct {
	*xml.Decoder
	depth int
	seen  bool             // an element has begun
	style *strings.Builder // text of the current style element, or nil
}

func (c *svgChecker) fault(token xml.Token) string {
	switch t := token.(type) {
	case xml.StartElement:
		return c.begin(t)
	case xml.EndElement:
		return c.end()
	case xml.CharData:
		if c.style != nil {
			c.style.Write(t) // a comment in the text
		}
	case xml.Directive:
		if !isPlainDoctype(string(t)) {
			return "definitions of entities are not allowed"
		}
	case xml.ProcInst:
		if t.Target != "xml" {
			return "the instruction " + t.Target + " is not allowed"
		}
	}
	return ""
}

func (c *svgChecker) begin(e xml.StartElement) string {
	if c.style != nil {
		return "a style element must have only text"
	}
	c.depth++
	if c.seen = true; e.Name.Local == "style" {
		c.style = &strings.Builder{}
	}
	return elementFault(e, c.depth)
}

func (c *svgChecker) end() string {
	c.depth--
	if c.style == nil {
		return ""
	}
	text := c.style.String()
	c.style = nil
	return styleFault(text)
}

// checkBefore checks a token that precedes the first element.
func checkBefore(token xml.Token) error {
	switch t := token.(type) {
	case xml.StartElement:
		if t.Name != (xml.Name{Space: svgSpace, Local: "svg"}) {
			return errors.New("the first element is not svg of the namespace " + svgSpace)
		}
	case xml.CharData:
		if len(bytes.Trim(t, " \t\r\n\ufeff")) > 0 {
			return errors.New("the file does not begin with an element")
		}
	}
	return nil
}

func notSVG(d *xml.Decoder, fault string) error {
	line, column := d.InputPos()
	return logoErrorf("the file is neither a PNG nor a safe SVG picture: line %d, column %d: %s", line, column, fault)
}

// isPlainDoctype reports whether a directive is a DOCTYPE without definitions.
func isPlainDoctype(text string) bool {
	return strings.HasPrefix(text, "DOCTYPE svg") && !strings.ContainsAny(text, "[<")
}

func elementFault(e xml.StartElement, depth int) string {
	const maxDepth = 100
	switch {
	case depth > maxDepth:
		return "the elements are nested too deeply"
	case isEditors(e.Name.Space):
	case e.Name.Space != svgSpace || !strings.Contains(spaced(svgElements), " "+e.Name.Local+" "):
		return "the element " + e.Name.Local + " is not allowed; save the picture as plain SVG, without scripts, links and pictures of other files"
	}
	for _, a := range e.Attr {
		if fault := svgAttributeFault(a); fault != "" {
			return fault
		}
	}
	return ""
}

func spaced(list string) string { return " " + strings.Join(strings.Fields(list), " ") + " " }

func isEditors(space string) bool {
	for _, s := range editorSpaces {
		if strings.HasPrefix(space, s) {
			return true
		}
	}
	return false
}

func svgAttributeFault(a xml.Attr) string {
	name := strings.ToLower(a.Name.Local)
	switch {
	case isEditors(a.Name.Space), a.Name.Space == "xmlns", a.Name.Space == "" && name == "xmlns":
		return ""
	case strings.HasPrefix(name, "on"):
		return "the event attribute " + a.Name.Local + " is not allowed"
	case name == "base", name == "src":
		return "the attribute " + a.Name.Local + " is not allowed"
	case name == "href":
		if !strings.HasPrefix(a.Value, "#") {
			return "a reference to another file is not allowed: " + a.Value
		}
	case a.Name.Space != "" && a.Name.Space != xmlSpace && a.Name.Space != xlinkSpace:
		return "the attribute " + a.Name.Local + " of the namespace " + a.Name.Space + " is not allowed"
	}
	return styleFault(a.Value)
}

// styleFault returns the reason why a style sheet or an attribute value is not allowed, or "".
// Escapes are not allowed, because they could hide a forbidden reference. The CSS function url()
// may only refer to parts of the picture itself.
func styleFault(text string) string {
	text = strings.ToLower(text)
	switch {
	case strings.ContainsAny(text, `\@`):
		return "the characters \\ and @ are not allowed in styles and attributes"
	case strings.Contains(text, "javascript:"), strings.Contains(text, "image("), strings.Contains(text, "image-set("), strings.Contains(text, "src("):
		return "a reference to another file is not allowed"
	}
	for _, after := range strings.Split(text, "url(")[1:] {
		if !strings.HasPrefix(strings.TrimLeft(after, " \t\r\n'\""), "#") {
			return "a reference to another file is not allowed"
		}
	}
	return ""
}
