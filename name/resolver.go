package name

import "strings"

// A Meaning is the name that a text stands for which is not spelled as one: the
// address of the name at a resolver, or the name without its scheme.
type Meaning struct {
	Spelling string // of the name, as the text has it
	Why      string // what the text is, for people
	Rest     string // query and fragment of the address, which are no part of the name; with "?" or "#"
}

// A resolver is a web site in whose addresses names stand.
type resolver struct {
	hosts  string // in lower case, with spaces between; "" for any
	path   string // what stands between the host and the name, after the slash
	scheme string // what the name begins with and the address leaves out
	begins string // what follows that in every name, in lower case
}

// resolvers are the well-known ones. The first row that fits decides.
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
	{"", "", "", "ark:"}, // the host is no part of an ARK (draft-kunze-ark, 2)
	{"", "", "", "urn:"},
}

// Meant returns the name that s stands for without being spelled as it: an address
// at a well-known resolver, with or without "https://", also after the scheme of the
// name; or a DOI name without "doi:". It reports whether that is a valid name.
func Meant(s string) (Meaning, bool) {
	text := strings.TrimSpace(s)
	bare, label := text, ""
	for _, l := range [...]string{"doi:", "hdl:", "urn:doi:"} {
		if rest, ok := cutFold(text, l); ok {
			bare, label = strings.TrimLeft(rest, " "), l
		}
	}
	address, web := cutFold(bare, "https://")
	if !web {
		address, web = cutFold(bare, "http://")
	}
	m, ok := addressed(address, web)
	switch {
	case ok && (label == "" || strings.HasPrefix(m.Spelling, strings.TrimPrefix(label, "urn:"))):
		m.Spelling = label + strings.TrimPrefix(m.Spelling, strings.TrimPrefix(label, "urn:"))
		return m, m.valid()
	case web || !isDOI(bare):
		return Meaning{}, false
	case label == "":
		m = Meaning{Spelling: "doi:" + bare, Why: "a DOI name without its scheme"}
	case label+bare != s:
		m = Meaning{Spelling: label + bare, Why: "a DOI name with spaces"}
	}
	return m, m.valid()
}

// addressed returns the name in an address, which is without its scheme. Of
// resolvers that are known by the name alone the scheme has to have been there.
func addressed(address string, web bool) (Meaning, bool) {
	host, rest, ok := strings.Cut(address, "/")
	host = strings.ToLower(host)
	if !ok || strings.IndexByte(host, '.') < 0 {
		return Meaning{}, false
	}
	host = strings.TrimSuffix(strings.TrimSuffix(host, ":443"), ":80")
	for i := range resolvers {
		r := &resolvers[i]
		if r.hosts == "" && !web || r.hosts != "" && !hasWord(r.hosts, host) {
			continue
		}
		path, ok := cutFold(rest, r.path)
		if _, begins := cutFold(path, r.begins); !ok || !begins {
			continue
		}
		m := Meaning{Spelling: r.scheme + path, Why: "an address of the resolver " + host}
		if end := strings.IndexAny(path, "?#"); end >= 0 {
			m.Spelling, m.Rest = r.scheme+path[:end], path[end:]
		}
		if m.valid() {
			return m, true
		}
	}
	return Meaning{}, false
}

// valid reports whether the name keeps the rules of its scheme.
func (m *Meaning) valid() bool {
	n, err := Parse(m.Spelling)
	return err == nil && n.Flaw() == nil
}

// isDOI reports whether s has the form of a DOI name (ISO 26324, 4.2).
func isDOI(s string) bool {
	prefix, local, ok := strings.Cut(s, "/")
	registrant, ten := strings.CutPrefix(prefix, "10.")
	return ok && ten && local != "" && registrant != "" && strings.Trim(registrant, "0123456789.") == ""
}

// hasWord reports whether a list with spaces between its words has one.
func hasWord(list, word string) bool {
	for w := range strings.FieldsSeq(list) {
		if w == word {
			return true
		}
	}
	return false
}

// cutFold cuts a prefix in any case.
func cutFold(s, prefix string) (string, bool) {
	if len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix) {
		return s[len(prefix):], true
	}
	return s, false
}
