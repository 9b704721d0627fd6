package scheme

import (
	"strings"

	"github.com/nomen-project/nomen/uri"
)

var prospero = Scheme{
	Name: "prospero", Title: "Prospero Directory Service", Kind: KindLocator,
	Reference:   "RFC 4157; RFC 1738, 3.11; 1993, Prospero",
	Example:     "prospero://prospero.example.org/dir/object",
	Note:        "in 1993 fields are separated by %00 before decoding, in later documents by semicolons; the port is a UDP port",
	Security:    "the directory chooses where the object is: treat its locators as untrusted",
	DefaultPort: "1525", Transport: "udp", Hierarchical: true,
	Special: []Special{
		{uri.ComponentPath, "%00", "separates the object name, version and attributes (1993)"},
		{uri.ComponentPath, ";", "precedes a field (not in 1993)"},
		{uri.ComponentPath, "=", "separates the name and value of a field (not in 1993)"},
	},
	Retrieval: "ask the directory for the access methods of the object: it returns locators, never the object itself",
	Rules:     RuleSet{Check: checkProspero, Parts: partsProspero, Build: buildProspero},
}

// The grammar rules of Prospero.
const (
	ruleProsperoLink  = "1993, BNF: prosperolink"
	ruleProsperoURL   = "RFC 1738, 5: prosperourl"
	ruleProsperoField = "RFC 1738, 5: fieldspec"
)

// prosperoNUL separates the fields of 1993.
const prosperoNUL = "%00"

// checkProspero checks a Prospero link. The dialect has already checked the
// fields of 1993.
//
//	prosperolink = "prospero://" hostport "/" hsoname [ "%00" [ version ] *( "%00" attribute ) ]
//	prosperourl  = "prospero://" hostport "/" ppath *[ fieldspec ]
func checkProspero(u uri.URI) []Finding {
	l := layoutOf(u)
	rule := ruleProsperoURL
	if l.is1993() {
		rule = ruleProsperoLink
	}
	if bad := l.needServer(rule); bad != nil {
		return bad
	}
	switch {
	case l.user >= 0:
		return refuse(l.user, l.userEnd+1, rule, "user information is not allowed")
	case !l.hasPath():
		return refuse(l.path, l.path, rule, "missing slash and object name")
	case l.query >= 0:
		return refuse(l.query-1, l.queryEnd, rule, "queries are not allowed")
	case l.is1993():
		return nil // the dialect has checked version and attributes
	}
	return l.checkProsperoFields()
}

// checkProsperoFields checks the fields.
//
//	fieldspec = ";" fieldname "=" fieldvalue
func (l *layout) checkProsperoFields() []Finding {
	at := until(l.s, l.path+1, l.pathEnd, ';')
	for at < l.pathEnd {
		from := at + 1
		at = until(l.s, from, l.pathEnd, ';')
		equal := until(l.s, from, at, '=')
		switch {
		case equal == at:
			return refuse(from, at, ruleProsperoField, "missing equals sign (a semicolon in an object name must be percent-encoded)")
		case equal == from:
			return refuse(from, equal, ruleProsperoField, "empty field name")
		}
		if second := until(l.s, equal+1, at, '='); second < at {
			return []Finding{instead(broken(second, second+1, ruleProsperoField, "an equals sign in a value must be percent-encoded"), "%3D")}
		}
	}
	return nil
}

func partsProspero(dst []Part, u uri.URI) []Part {
	t := take(dst, u)
	t.login()
	t.server()
	switch {
	case !t.isRooted():
	case t.is1993():
		t.prospero1993()
	default:
		t.prosperoFields()
	}
	return t.parts
}

// prospero1993 adds the fields, which are split before decoding.
func (t *taker) prospero1993() {
	names := [...]string{"hsoname", "version", "attribute"}
	at, field := t.path+1, 0
	for at <= t.pathEnd {
		end := t.pathEnd
		if n := strings.Index(t.s[at:t.pathEnd], prosperoNUL); n >= 0 {
			end = at + n
		}
		t.data(names[min(field, 2)], at, end)
		at, field = end+len(prosperoNUL), field+1
	}
}

// prosperoFields adds the object name and the fields. The value of each field
// part is name=value.
func (t *taker) prosperoFields() {
	at := until(t.s, t.path+1, t.pathEnd, ';')
	t.data("hsoname", t.path+1, at)
	for at < t.pathEnd {
		from := at + 1
		at = until(t.s, from, t.pathEnd, ';')
		t.data("field", from, at)
	}
}

// buildProspero writes a Prospero link. Before attributes it writes the version
// even if it is empty.
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
