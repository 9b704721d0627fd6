package namespace

import (
	_ "embed" // the table
	"strings"

	"github.com/nomen-project/nomen/internal/tsv"
)

// A statement is what the documents of a namespace say about its special characters, functional
// equivalence and services (draft-ietf-urnbis-rfc2141bis-urn-03, 2.3, 2.5.2 and 6).
type statement struct {
	special    string   // see [Namespace.Delimiters]
	functional string   // see [Namespace.Functional]
	services   []string // designators of services; see statementTable
	byDefault  string   // the default service
	stated     string   // the sections that were read, or "" if the document was not available
}

func (s statement) with(n Namespace) Namespace {
	n.Delimiters, n.Functional = s.special, s.functional
	n.Services, n.DefaultService = s.services, s.byDefault
	n.Stated = s.stated
	return n
}

// statementTable has a line for every NID of the standard catalogue. The last column names the
// documents that were read, and they say nothing about a column that is empty. If the last column
// is empty, the information comes from other sources.
//
// If a document describes a service such as "URN to URL" without naming it, the table has the name
// from RFC 2483. None of the documents defines a query keyword, or a parameter of an r- or
// q-component.
//
//go:embed statements.tsv
var statementTable string

func statements() map[string]statement {
	all := map[string]statement{}
	for row := range tsv.Rows(statementTable) {
		s := statement{special: row[1], functional: row[2], byDefault: row[4], stated: row[5]}
		if row[3] != "" {
			s.services = strings.Fields(row[3])
		}
		all[row[0]] = s
	}
	return all
}
