package urn

import (
	_ "embed" // the table
	"strings"
	"sync"

	"github.com/nomen-project/nomen/internal/tsv"
)

// IANANamespaces returns the 97 formal and 8 informal namespaces that were registered at IANA on 28
// July 2026. The field Security refers to the registration. It is empty for informal namespaces
// registered before 2017, because their templates have no such field.
func IANANamespaces() Namespaces { return ianaNamespaces() }

// ianaTable has a line for each namespace. Its columns are the identifier, the RFCs or the
// registrant, the date, and the word "template" if the template is at the usual URL. The second
// column is empty if only the template refers to the documents.
//
//go:embed iana.tsv
var ianaTable string

var ianaNamespaces = sync.OnceValue(func() Namespaces {
	var entries []Namespace
	for row := range tsv.Rows(ianaTable) {
		entries = append(entries, ianaNamespace(row[0], row[1], row[2], row[3] != ""))
	}
	return Namespaces{}.with(entries...)
})

func ianaNamespace(nid, reference, date string, template bool) Namespace {
	kind := KindOf(nid)
	n := Namespace{NID: nid, Kind: kind, Reference: reference, Registered: date}
	if template {
		n.Template = "https://www.iana.org/assignments/urn-" + kind.String() + "/" + nid
	}
	switch {
	case strings.HasPrefix(reference, "RFC "):
		n.Security = reference + ", security considerations"
	case template && (kind == KindFormal || date != ""):
		n.Security = "registration template, security and privacy"
	}
	return n
}
