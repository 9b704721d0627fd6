package name

import (
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
)

// An Interpretation is the name to which a text refers although the text is not a spelling of the
// name. The text may be the URL of the name at a resolver, or the name without its scheme.
type Interpretation struct {
	Spelling string // the name as the text spells it
	Why      string // a description of the text, for people
	Rest     string // query and fragment of the URL, including the "?" or "#"
}

// A resolver is a web site whose URLs contain names.
type resolver struct {
	hosts  string // in lower case, separated by spaces; "" means any host
	path   string // the text between the slash after the host and the name
	scheme string // the text that the URL omits at the start of the name, or ""
	begins string // the text with which the rest of every name begins, in lower case
}

// resolvers are the well-known resolvers. The first row that yields a valid name applies.
var resolvers = [...]resolver{
	{"doi.org dx.doi.org www.doi.org hdl.handle.net", "", "doi:", "10."},
	{"doi.org dx.doi.org www.doi.org", "doi:", "doi:", "10."},
	{"hdl.handle.net", "", "hdl:", ""},
	{"hdl.handle.net", "hdl:", "hdl:", ""},
	{"n2t.net arks.org identifiers.org www.identifiers.org bioregistry.io", "", "", "doi:10."},
	{"n2t.net arks.org identifiers.org www.identifiers.org", "", "", "hdl:"},
	{"urn.kb.se", "resolve?urn=", "", "urn:"},
	{"nbn-resolving.org nbn-resolving.de", "resolver?identifier=", "", "urn:"},
	{"www.persistent-identifier.nl persistent-identifier.nl", "?identifier=", "", "urn:"},
	{"portal.issn.org", "resource/ISSN/", "urn:issn:", ""},
	{"isni.org www.isni.org", "isni/", "urn:isni:", ""},
	{"archive.softwareheritage.org", "", "", "swh:1:"},
	{"", "", "", "ark:"}, // an ARK does not include the host (draft-kunze-ark, section 2)
	{"", "", "", "urn:"},
}

// Interpret returns the name to which s refers if s is not itself a spelling of a name. It returns
// false if it finds no valid name. It recognises
//
//   - the URL of a name at a well-known resolver, such as https://doi.org/10.1000/182 or
//     doi.org/10.1000/182;
//   - such a URL after the scheme of the name, such as doi:https://doi.org/10.1000/182;
//   - a DOI without its scheme, such as 10.1000/182.
func Interpret(s string) (Interpretation, bool) {
	text := strings.TrimSpace(s)
	bare, label := text, ""
	for _, l := range [...]string{"doi:", "hdl:", "urn:doi:"} {
		if rest, ok := ascii.CutPrefix(text, l); ok {
			bare, label = strings.TrimLeft(rest, " "), l
		}
	}
	address, web := ascii.CutPrefix(bare, "https://")
	if !web {
		address, web = ascii.CutPrefix(bare, "http://")
	}
	m, ok := addressed(address, web)
	switch {
	case ok && (label == "" || strings.HasPrefix(m.Spelling, strings.TrimPrefix(label, "urn:"))):
		m.Spelling = label + strings.TrimPrefix(m.Spelling, strings.TrimPrefix(label, "urn:"))
		return m, m.valid()
	case web || !isDOI(bare):
		return Interpretation{}, false
	case label == "":
		m = Interpretation{Spelling: "doi:" + bare, Why: "a DOI name without its scheme"}
	case label+bare != s:
		m = Interpretation{Spelling: label + bare, Why: "a DOI name with spaces"}
	}
	return m, m.valid()
}

// addressed returns the name in address, which is a URL without its scheme and "//". The parameter
// web says whether the URL had a scheme. If it had none, the rows of resolvers for any host do not
// apply.
func addressed(address string, web bool) (Interpretation, bool) {
	host, rest, ok := strings.Cut(address, "/")
	host = strings.ToLower(host)
	if !ok || strings.IndexByte(host, '.') < 0 {
		return Interpretation{}, false
	}
	host = strings.TrimSuffix(strings.TrimSuffix(host, ":443"), ":80")
	for i := range resolvers {
		r := &resolvers[i]
		if r.hosts == "" && !web || r.hosts != "" && !hasWord(r.hosts, host) {
			continue
		}
		path, ok := ascii.CutPrefix(rest, r.path)
		if _, begins := ascii.CutPrefix(path, r.begins); !ok || !begins {
			continue
		}
		m := Interpretation{Spelling: r.scheme + path, Why: "a URL of the resolver " + host}
		if end := strings.IndexAny(path, "?#"); end >= 0 {
			m.Spelling, m.Rest = r.scheme+path[:end], path[end:]
		}
		if m.valid() {
			return m, true
		}
	}
	if web {
		return inPath(host, rest)
	}
	return Interpretation{}, false
}

// inPath returns the ARK after the first "/ark:" in the path of a URL, because the address of a
// resolver of ARKs can have a path (draft-kunze-ark, section 2.1).
func inPath(host, rest string) (Interpretation, bool) {
	end := strings.IndexAny(rest, "?#")
	if end < 0 {
		end = len(rest)
	}
	i := strings.Index(strings.ToLower(rest[:end]), "/ark:")
	if i < 0 {
		return Interpretation{}, false
	}
	m := Interpretation{Spelling: rest[i+1 : end], Why: "a URL of the resolver " + host, Rest: rest[end:]}
	return m, m.valid()
}

func (m *Interpretation) valid() bool {
	n, err := Parse(m.Spelling)
	return err == nil && n.Flaw() == nil
}

func isDOI(s string) bool {
	prefix, local, ok := strings.Cut(s, "/")
	registrant, ten := strings.CutPrefix(prefix, "10.")
	return ok && ten && local != "" && registrant != "" && strings.Trim(registrant, "0123456789.") == ""
}

func hasWord(list, word string) bool {
	for w := range strings.FieldsSeq(list) {
		if w == word {
			return true
		}
	}
	return false
}
