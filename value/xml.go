package value

import (
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/ascii"
)

// An attribute is an attribute of an XML element. Its name has no colon.
type attribute struct{ name, value string }

// A locationSet is the content of a value of the type 10320/loc.
type locationSet struct {
	attributes []attribute
	locations  [][]attribute
}

// parseSet parses the XML of a value of the type 10320/loc. It returns false if a locationSet
// cannot represent the text.
func parseSet(text string) (set locationSet, ok bool) {
	d := xml.NewDecoder(strings.NewReader(text))
	depth := 0
	for {
		token, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			return set, ok && depth == 0
		}
		if err != nil {
			return set, false
		}
		switch t := token.(type) {
		case xml.StartElement:
			attributes, fine := attributesOf(t, [...]string{"locations", "location", ""}[min(depth, 2)])
			if !fine || depth == 0 && ok {
				return set, false
			}
			if depth == 0 {
				set.attributes, ok = attributes, true
			} else {
				set.locations = append(set.locations, attributes)
			}
			depth++
		case xml.EndElement:
			if depth--; depth < 0 || t.Name.Space != "" || t.Name.Local != [...]string{"locations", "location"}[depth] {
				return set, false
			}
		case xml.CharData:
			if strings.Trim(string(t), " \t\r\n") != "" {
				return set, false
			}
		case xml.ProcInst:
			if t.Target != "xml" || ok {
				return set, false
			}
		default:
			return set, false
		}
	}
}

// attributesOf returns the attributes of an element. It returns false if the name of the element is
// not the given name, if an attribute is repeated, or if a name has a colon.
func attributesOf(t xml.StartElement, name string) ([]attribute, bool) {
	ok := t.Name.Space == "" && t.Name.Local == name && name != ""
	seen := map[string]bool{}
	var all []attribute
	for _, a := range t.Attr {
		ok = ok && a.Name.Space == "" && a.Name.Local != "xmlns" && !seen[a.Name.Local]
		seen[a.Name.Local] = true
		all = append(all, attribute{a.Name.Local, a.Value})
	}
	return all, ok
}

func parseAttributes(text string) []attribute {
	if text == "" {
		return nil
	}
	set, ok := parseSet("<locations " + text + "/>")
	if !ok || len(set.locations) > 0 {
		return nil
	}
	return set.attributes
}

func (s locationSet) text() string {
	b := appendAttributes([]byte("<locations"), s.attributes)
	if len(s.locations) == 0 {
		return string(append(b, "/>"...))
	}
	b = append(b, '>')
	for _, l := range s.locations {
		b = append(appendAttributes(append(b, "<location"...), l), "/>"...)
	}
	return string(append(b, "</locations>"...))
}

func appendAttributes(b []byte, all []attribute) []byte {
	for _, a := range all {
		b = append(append(append(b, ' '), a.name...), `="`...)
		b = append(appendEscaped(b, a.value), '"')
	}
	return b
}

// appendEscaped appends the value of an XML attribute. It escapes line breaks and other control
// characters.
func appendEscaped(b []byte, value string) []byte {
	for _, r := range value {
		switch {
		case r < ' ' || strings.ContainsRune(`"&<>`, r) || r == 0x7F || r == '\u0085' || r == '\u2028' || r == '\u2029':
			b = append(strconv.AppendInt(append(b, "&#"...), int64(r), 10), ';')
		default:
			b = append(b, string(r)...)
		}
	}
	return b
}

// typeMark is an XML attribute that can contain the media type of a location, instead of
// media-type. In the field Attributes of a location, typeMark with an empty value says that the
// type came from this attribute.
const typeMark = "ctype"

// toLocation sets the fields of l from XML attributes. It returns false if the attributes cannot be
// those of a location, for example without a URL.
func toLocation(l *nomen.Location, attributes []attribute) bool {
	var rest []attribute
	for _, a := range attributes {
		switch {
		case a == attribute{typeMark, ""}:
			return false
		case a.name == "href":
			l.URL = a.value
		case a.name == "country" && isCountry(a.value):
			l.Country = strings.ToUpper(a.value)
		case a.name == "weight" && isWeight(a.value):
			l.Weight, _ = strconv.Atoi(a.value)
		case a.name == "rel" && isWord(a.value):
			l.Rel = a.value
		case a.name == "language" && isWord(a.value):
			l.Lang = a.value
		case a.name == "media-type" && isMediaType(a.value) && l.Type == "":
			l.Type = a.value
		case a.name == typeMark && isMediaType(a.value) && l.Type == "":
			l.Type = a.value
			rest = slices.Insert(rest, 0, attribute{typeMark, ""})
		default:
			rest = append(rest, a)
		}
	}
	l.Attributes = strings.TrimPrefix(string(appendAttributes(nil, rest)), " ")
	return l.URL != ""
}

func fromLocation(l *nomen.Location) []attribute {
	rest := parseAttributes(l.Attributes)
	all := []attribute{{"href", l.URL}}
	add := func(name, value string) {
		if value != "" {
			all = append(all, attribute{name, value})
		}
	}
	add("country", strings.ToLower(l.Country))
	if l.Weight > 0 {
		add("weight", strconv.Itoa(l.Weight))
	}
	add("rel", l.Rel)
	add("language", l.Lang)
	name := "media-type"
	if slices.Contains(rest, attribute{typeMark, ""}) {
		name = typeMark
	}
	add(name, l.Type)
	for _, a := range rest {
		has := func(b attribute) bool { return b.name == a.name }
		if a != (attribute{typeMark, ""}) && !slices.ContainsFunc(all, has) {
			all = append(all, a)
		}
	}
	return all
}

func isCountry(s string) bool {
	return len(s) == 2 && ascii.IsLetter(s[0]) && ascii.IsLetter(s[1])
}

func isWeight(s string) bool {
	n, err := strconv.ParseUint(s, 10, 16)
	return err == nil && n > 0 && s == strconv.FormatUint(n, 10)
}

const lower = "abcdefghijklmnopqrstuvwxyz0123456789"

func isWord(s string) bool {
	return s != "" && strings.Trim(s, lower+"-") == "" && s[0] >= 'a' && s[len(s)-1] != '-' && !strings.Contains(s, "--")
}

func isMediaType(s string) bool {
	main, sub, ok := strings.Cut(s, "/")
	return ok && main != "" && sub != "" && strings.Trim(main+sub, lower+"-+.") == "" && sub[0] >= '0' && main[0] >= 'a'
}
