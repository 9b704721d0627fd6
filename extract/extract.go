package extract

import (
	"github.com/nomen-project/nomen/uri"
	"github.com/nomen-project/nomen/urn"
)

// A Kind is the kind of an identifier found.
type Kind uint8

// The kinds of findings.
const (
	URI         Kind = iota // an identifier with a scheme
	URN                     // a URN
	Abbreviated             // a host and perhaps a path, without a scheme (2003, appendix F)
	Reference               // a relative reference, in an element or field for references
	Mail                    // a mail address
	IRI                     // an identifier with a scheme and with non-ASCII characters

	// The following kinds are written without a scheme; see [Options].Bare.
	DOI
	ISBN
	ISSN
	ORCID
	ArXiv
	PMID  // of PubMed
	PMCID // of PubMed Central
	kinds
)

// String returns the name of the kind in lower case.
func (k Kind) String() string {
	names := [kinds]string{"uri", "urn", "abbreviated", "reference", "mail", "iri", "doi", "isbn", "issn", "orcid", "arxiv", "pmid", "pmcid"}
	if k >= kinds {
		return "unknown"
	}
	return names[k]
}

// A Finding is an identifier found in a document.
type Finding struct {
	Kind Kind

	// Text is the octets of the document from Start to End. If a body part is encoded, its octets
	// are the encoded ones.
	Text       string
	Start, End int64 // byte offsets in the file

	// Spelling is the identifier: Text without the white space and line breaks
	// that are not part of the identifier.
	Spelling string

	// Other is set if a line break follows a hyphen in the identifier. The hyphen may have been
	// added with the line break (1997 and 2003, appendix E). Spelling has the hyphen, and Other is
	// the spelling without it.
	Other string

	// URI is the identifier as a value, by Kind:
	//   - IRI: the URI to which the IRI is mapped;
	//   - Abbreviated, Mail: with the omitted scheme;
	//   - Reference: relative, as written;
	//   - the kinds of [BareKinds]: the canonical form that the standard or
	//     registry of the identifier recommends.
	URI uri.URI

	// Target is what the identifier refers to. For a Reference it is URI resolved
	// against the base, or zero if there is no base. For other kinds it is URI.
	Target uri.URI

	Base     string // the base in force; "" if there is none
	BaseRule string // the rule that established Base: one of the constants from [BaseOfficial] to [BaseDefault], "" if there is no base

	// Where is the place in the document:
	//   - in text: "";
	//   - in HTML: "a href";
	//   - in a header of a message: "header Content-Base";
	//   - in a part of a message: "part 2.1 a href";
	//   - in a mailbox: "message 3 part 2.1 a href".
	Where string
}

// Options select what to find. The zero Options find identifiers with a scheme.
type Options struct {
	Abbreviated bool  // also find www.example.com/a and example.com
	Mail        bool  // also find mail addresses
	IRI         bool  // allow non-ASCII characters in identifiers
	Bare        Kinds // also find these kinds of identifiers without a scheme, as in "DOI 10.1000/182"; some of [BareKinds]
	OneLine     bool  // an identifier without delimiters ends at the end of its line

	// URN is the dialect that determines the end of a URN; zero means the
	// latest.
	URN urn.Dialect

	Base    uri.URI // where the document was retrieved from, after redirects (5.1.3); zero if unknown
	Default uri.URI // the default base (5.1.4); zero if there is none
}
