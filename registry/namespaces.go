package registry

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/nomen-project/nomen/namespace"
	"github.com/nomen-project/nomen/urn"
)

// A namespaceEntry is the form of a namespace in JSON.
type namespaceEntry struct {
	NID            string   `json:"nid"`
	Kind           string   `json:"kind"`
	Name           string   `json:"name"`
	Reference      string   `json:"reference"`
	Template       string   `json:"template,omitempty"`
	Registered     string   `json:"registered,omitempty"`
	Rules          bool     `json:"rules"`
	Example        string   `json:"example,omitempty"`
	Display        string   `json:"display,omitempty"` // the example as people usually write it
	Note           string   `json:"note,omitempty"`
	Special        string   `json:"special,omitempty"`
	Equivalence    string   `json:"equivalence,omitempty"`
	Functional     string   `json:"functional,omitempty"`
	Security       string   `json:"security,omitempty"`
	Services       []string `json:"services,omitempty"`
	DefaultService string   `json:"default_service,omitempty"`

	Keywords        []urn.KeywordUse `json:"keywords,omitempty"`
	FragmentAllowed bool             `json:"fragment_allowed,omitempty"`
	Stated          string           `json:"stated,omitempty"` // the sections that were read for the fields from "special" to "keywords"
}

// Namespaces returns the registry of URN namespaces. It has the namespaces that are registered at
// IANA, unregistered namespaces in use, and the namespaces that the site has added (draft of 2012,
// section 9.1; RFC 8141, section 6).
func (r Registries) Namespaces() Table {
	entries := map[string]namespaceEntry{}
	for n := range namespace.All() {
		entries[n.NID] = namespaceEntryOf(n, r.namespaces)
	}
	for _, n := range r.own {
		nid := strings.ToLower(n.NID)
		entries[nid] = entries[nid].with(n)
	}
	t := Table{
		Name: "namespaces", Entry: "namespace", Title: "URN Namespaces", Reference: "RFC 8141, 6; " + draft2012 + "9.1",
		Note: urn.NamespaceNote, Columns: []string{"nid", "kind", "rules", "name"}, fold: true, unknown: unknownNID,
	}
	for _, nid := range slices.Sorted(maps.Keys(entries)) {
		t.Entries = append(t.Entries, Entry{Name: nid, Fields: entries[nid].fields(), Value: entries[nid]})
	}
	return t
}

func namespaceEntryOf(n namespace.Namespace, iana urn.Namespaces) namespaceEntry {
	registered, _ := iana.Lookup(n.NID)
	return namespaceEntry{
		NID: n.NID, Kind: n.Kind.String(), Name: n.Name, Reference: n.Reference,
		Template: registered.Template, Registered: registered.Registered,
		Rules: n.Rules.Check != nil, Example: n.Example, Display: displayOf(n), Note: n.Note,
		Special: n.Delimiters, Equivalence: n.Equivalence,
		Functional: n.Functional, Security: n.Security,
		Services: n.Services, DefaultService: n.DefaultService,
		Keywords: n.Keywords, FragmentAllowed: n.Fragment == namespace.UseAllowed, Stated: n.Stated,
	}
}

// with merges the site's entry n into the catalogue's entry e. Fields that a [urn.Namespace] does
// not have come from e.
func (e namespaceEntry) with(n urn.Namespace) namespaceEntry {
	nid := strings.ToLower(n.NID)
	return namespaceEntry{
		NID: nid, Kind: n.Kind.String(), Name: cmp.Or(e.Name, nid), Rules: e.Rules, Example: e.Example, Display: e.Display,
		Note: e.Note, Reference: n.Reference, Template: n.Template, Registered: n.Registered,
		Special: n.Special, Equivalence: n.Equivalence, Functional: n.Functional, Security: n.Security,
		Services: n.Services, DefaultService: n.DefaultService, Keywords: n.Keywords, FragmentAllowed: n.FragmentAllowed,
		Stated: "the site's own entry",
	}
}

// displayOf returns the example of a namespace as people usually write it, such as an ISBN with
// hyphens. It returns "" if the display form is the name itself.
func displayOf(n namespace.Namespace) string {
	u, err := urn.Parse(n.Example)
	if err != nil || n.Rules.Display == nil {
		return ""
	}
	return n.Display(u.NSS())
}

func (e namespaceEntry) fields() []Field {
	missing := "not stated"
	if e.Stated == "" {
		missing = "not examined: the document was not available"
	}
	keywords := make([]string, len(e.Keywords))
	for i, use := range e.Keywords {
		keywords[i] = strings.TrimSpace(use.Keyword + " " + strings.Join(use.Values, " "))
	}
	fragment := field("fragment")
	if e.FragmentAllowed {
		fragment = field("fragment", "allowed")
	}
	return []Field{
		field("nid", e.NID),
		field("name", e.Name),
		field("kind", e.Kind),
		field("reference", e.Reference),
		field("template", e.Template),
		field("registered", e.Registered),
		ruled(e.Rules),
		field("example", e.Example),
		field("display", e.Display),
		field("note", e.Note),
		field("special", e.Special).orMissing(missing),
		field("equivalence", e.Equivalence),
		field("functional", e.Functional).orMissing(missing),
		field("security", e.Security),
		field("services", e.Services...).orMissing(missing),
		field("default_service", e.DefaultService),
		field("keywords", keywords...).orMissing(missing),
		fragment,
		field("stated", e.Stated),
	}
}

func unknownNID(nid string) string {
	if urn.Latest.CheckRule("NID", nid) != nil {
		return "invalid NID"
	}
	switch urn.KindOf(nid) {
	case urn.KindExperimental:
		return "by its form it is experimental, and never registered"
	case urn.KindReserved:
		return "by its form it is reserved (RFC 8141, 5.1)"
	case urn.KindInformal:
		return "by its form it is informal"
	}
	return ""
}
