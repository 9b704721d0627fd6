package namespace

import (
	_ "embed" // the table
	"strings"

	"github.com/nomen-project/nomen/internal/tsv"
)

// A statement summarises the documents of a namespace. It covers special characters, functional
// equivalence and services (draft-ietf-urnbis-rfc2141bis-urn-03, sections 2.3, 2.5.2 and 6).
type statement struct {
	special    string   // see [Namespace.Delimiters]
	functional string   // see [Namespace.Functional]
	services   []string // names of services; see statementTable
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
// documents that were read. If another column is empty, these documents do not state its value. If
// the last column is empty, the information comes from other sources.
//
// Some documents describe a service such as "URN to URL" without its name. For these the table has
// the name from RFC 2483. None of the documents defines query keywords, or parameters of
// r-components or q-components.
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
