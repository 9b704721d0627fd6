package namespace

import (
	"cmp"
	_ "embed" // the names
	"strings"

	"github.com/nomen-project/nomen/internal/tsv"
	"github.com/nomen-project/nomen/urn"
)

// opaque is a table of the formal namespaces without rules. Its columns are the identifier and the
// name.
//
//go:embed opaque.tsv
var opaque string

// opaqueNamespaces are registered namespaces for which only the general syntax is checked, because
// their rules are not public or depend on the organisation.
func opaqueNamespaces() []Namespace {
	var list []Namespace
	registry := urn.IANANamespaces()
	for row := range tsv.Rows(opaque) {
		r, _ := registry.Lookup(row[0])
		list = append(list, opaqueNamespace(row[1], r))
	}
	for r := range registry.All() {
		if r.Kind == urn.KindInformal {
			list = append(list, opaqueNamespace("Informal namespace "+strings.TrimPrefix(r.NID, "urn-"), r))
		}
	}
	return list
}

func opaqueNamespace(name string, r urn.Namespace) Namespace {
	n := Namespace{NID: r.NID, Name: name, Kind: r.Kind, Reference: r.Reference, Note: "syntax only", Security: r.Security}
	n.Reference = cmp.Or(n.Reference, r.Template, "urn-"+r.Kind.String()+"/"+r.NID)
	n.Security = cmp.Or(n.Security, "not stated")
	switch n.NID {
	case "dvb", "onf", "trivore", "urn-3", "urn-7": // RFC 5328; the registrations
		return folding(n, "letters in either case", foldCase)
	case "mpeg": // RFC 3614
		return folding(n, "the name of the standard in either case", foldField)
	case "meta", "uci": // the registration; RFC 4179
		return folding(n, "the part before the first hyphen in either case", foldHyphened)
	}
	return n
}

func foldHyphened(nss string) string {
	if end := until(nss, 0, '-'); end < len(nss) {
		return lowerUntil(nss, end)
	}
	return nss
}
