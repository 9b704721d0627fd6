package scheme

import (
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/scheme/internal/layout"
	"github.com/nomen-project/nomen/uri"
)

var prospero = Scheme{
	Name: "prospero", Title: "Prospero Directory Service", Kind: KindLocator,
	Reference:   "RFC 4157; RFC 1738, 3.11; 1993, Prospero",
	Example:     "prospero://prospero.example.org/dir/object",
	Note:        "in the draft of 1993 fields are separated by %00 before decoding, in later documents by semicolons; the port is a UDP port",
	Security:    "the directory chooses where the object is: treat its locators as untrusted",
	DefaultPort: "1525", Transport: "udp", Hierarchical: true,
	Special: []Special{
		{uri.ComponentPath, "%00", "separates the object name, version and attributes (1993)"},
		{uri.ComponentPath, ";", "precedes a field (not in the draft of 1993)"},
		{uri.ComponentPath, "=", "separates the name and value of a field (not in the draft of 1993)"},
	},
	Retrieval: "ask the directory for the access methods of the object: it returns locators, never the object itself",
	Rules:     RuleSet{Check: checkProspero, Parts: partsProspero, Build: buildProspero},
}

const (
	ruleProsperoLink  = "1993, BNF: prosperolink"
	ruleProsperoURL   = "RFC 1738, 5: prosperourl"
	ruleProsperoField = "RFC 1738, 5: fieldspec"
)

// prosperoNUL separates the fields of a link in the draft of 1993.
const prosperoNUL = "%00"

// checkProspero checks a Prospero link. In the draft of 1993, parsing has already checked the
// fields.
//
//	prosperolink = "prospero://" hostport "/" hsoname [ "%00" [ version ] *( "%00" attribute ) ]
//	prosperourl  = "prospero://" hostport "/" ppath *[ fieldspec ]
func checkProspero(u uri.URI) []Finding {
	l := layout.Of(u)
	rule := ruleProsperoURL
	if l.Is1993() {
		rule = ruleProsperoLink
	}
	if bad := l.NeedHostOnly(rule); bad != nil {
		return bad
	}
	switch {
	case !l.HasPath():
		return layout.Refuse(l.Path, l.Path, rule, "missing slash and object name")
	case l.Query >= 0:
		return layout.Refuse(l.Query-1, l.QueryEnd, rule, "queries are not allowed")
	case l.Is1993():
		return nil // the parser has checked the version and the attributes
	}
	return checkProsperoFields(&l)
}

// checkProsperoFields checks the fields after the path.
//
//	fieldspec = ";" fieldname "=" fieldvalue
func checkProsperoFields(l *layout.Layout) []Finding {
	at := ascii.Until(l.Text, l.Path+1, l.PathEnd, ';')
	for at < l.PathEnd {
		from := at + 1
		at = ascii.Until(l.Text, from, l.PathEnd, ';')
		equal := ascii.Until(l.Text, from, at, '=')
		switch {
		case equal == at:
			return layout.Refuse(from, at, ruleProsperoField, "missing equals sign (a semicolon in an object name must be percent-encoded)")
		case equal == from:
			return layout.Refuse(from, equal, ruleProsperoField, "empty field name")
		}
		if second := ascii.Until(l.Text, equal+1, at, '='); second < at {
			return []Finding{layout.Instead(layout.Broken(second, second+1, ruleProsperoField, "an equals sign in a value must be percent-encoded"), "%3D")}
		}
	}
	return nil
}

func partsProspero(dst []Part, u uri.URI) []Part {
	t := layout.Take(dst, u)
	t.Login()
	t.Server()
	switch {
	case !t.IsRooted():
	case t.Is1993():
		appendProspero1993(&t)
	default:
		appendProsperoFields(&t)
	}
	return t.Parts
}

// appendProspero1993 adds the fields. It splits them before decoding, because the separator is
// percent-encoded.
func appendProspero1993(t *layout.Taker) {
	names := [...]string{"hsoname", "version", "attribute"}
	at, field := t.Path+1, 0
	for at <= t.PathEnd {
		end := t.PathEnd
		if n := strings.Index(t.Text[at:t.PathEnd], prosperoNUL); n >= 0 {
			end = at + n
		}
		t.Data(names[min(field, 2)], at, end)
		at, field = end+len(prosperoNUL), field+1
	}
}

// appendProsperoFields adds the object name and the fields. The part for a field has a value of the
// form name=value.
func appendProsperoFields(t *layout.Taker) {
	at := ascii.Until(t.Text, t.Path+1, t.PathEnd, ';')
	t.Data("hsoname", t.Path+1, at)
	for at < t.PathEnd {
		from := at + 1
		at = ascii.Until(t.Text, from, t.PathEnd, ';')
		t.Data("field", from, at)
	}
}

// buildProspero writes a Prospero link. If there are attributes, it also writes the version, which
// may be empty.
func buildProspero(d uri.Dialect, parts []Part) (string, error) {
	w := newBuilder(d, "prospero", "1525", parts)
	name, _ := Get(parts, "hsoname")
	w.write("/" + name)
	if d != uri.Draft1993 {
		for _, field := range GetAll(parts, "field") {
			w.write(";" + field)
		}
		return w.text()
	}
	version, ok := Get(parts, "version")
	attributes := GetAll(parts, "attribute")
	if ok || len(attributes) > 0 {
		w.write(prosperoNUL + version)
	}
	for _, a := range attributes {
		w.write(prosperoNUL + a)
	}
	return w.text()
}
