package registry

import (
	"fmt"
	"strings"

	"github.com/nomen-project/nomen/scheme"
	"github.com/nomen-project/nomen/scheme/extra"
)

// A schemeEntry is the form of a scheme in JSON.
type schemeEntry struct {
	Name         string          `json:"name"`
	Status       string          `json:"status"`
	Kind         string          `json:"kind"`
	Title        string          `json:"title"`
	Reference    string          `json:"reference,omitempty"`
	Template     string          `json:"template,omitempty"`
	Rules        bool            `json:"rules"`
	DefaultPort  string          `json:"default_port,omitempty"`
	Transport    string          `json:"transport,omitempty"`
	Hierarchical bool            `json:"hierarchical"`
	Interactive  bool            `json:"interactive,omitempty"`
	Special      []schemeSpecial `json:"special,omitempty"`
	Example      string          `json:"example,omitempty"`
	Note         string          `json:"note,omitempty"`
	Security     string          `json:"security,omitempty"`
	Danger       string          `json:"danger,omitempty"`
	Retrieval    string          `json:"retrieval,omitempty"`
	Properties   string          `json:"properties,omitempty"`
}

// A schemeSpecial is the form of a [scheme.Special] in JSON.
type schemeSpecial struct {
	Component string `json:"component"`
	Chars     string `json:"chars"`
	Meaning   string `json:"meaning"`
}

// Schemes returns the registry of URI schemes. It has the schemes of the IANA registry (RFC 7595),
// and unregistered schemes in use.
func (r Registries) Schemes() Table {
	t := Table{
		Name: "schemes", Entry: "scheme", Title: "URI Schemes", Reference: "RFC 7595",
		Columns: []string{"name", "status", "rules", "title"}, fold: true,
	}
	for s := range extra.Catalogue().All() {
		e := schemeEntryOf(s)
		t.Entries = append(t.Entries, Entry{Name: s.Name, Fields: e.fields(), Value: e})
	}
	return t
}

func schemeEntryOf(s scheme.Scheme) schemeEntry {
	e := schemeEntry{
		Name: s.Name, Status: s.Status.String(), Kind: s.Kind.String(), Title: s.Title,
		Reference: s.Reference, Template: s.Template, Rules: s.Rules.Check != nil || s.Rules.Parts != nil,
		DefaultPort: s.DefaultPort, Transport: s.Transport, Hierarchical: s.Hierarchical, Interactive: s.Interactive,
		Example: s.Example, Note: s.Note, Security: s.Security, Danger: s.Danger,
		Retrieval: s.Retrieval, Properties: s.Properties,
	}
	for _, p := range s.Special {
		e.Special = append(e.Special, schemeSpecial{p.Component.String(), p.Chars, p.Meaning})
	}
	return e
}

func (e schemeEntry) fields() []Field {
	special := make([]string, len(e.Special))
	for i, s := range e.Special {
		special[i] = fmt.Sprintf("%s in the %s: %s", s.Chars, s.Component, s.Meaning)
	}
	return []Field{
		field("name", e.Name),
		field("title", e.Title),
		field("status", e.Status),
		field("kind", e.Kind),
		field("reference", e.Reference),
		field("template", e.Template),
		ruled(e.Rules),
		field("default_port", strings.TrimSpace(e.DefaultPort+" "+e.Transport)),
		field("special", special...),
		field("example", e.Example),
		field("note", e.Note),
		field("security", e.Security),
		field("danger", e.Danger),
		field("retrieval", e.Retrieval),
		field("properties", e.Properties),
	}
}
