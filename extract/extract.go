package extract

import (
	"github.com/nomen-project/nomen/uri"
	"github.com/nomen-project/nomen/urn"
)

// A Kind is a kind of identifier.
type Kind uint8

// The kinds of identifiers.
const (
	URI         Kind = iota // an identifier with a scheme
	URN                     // a URN
	Abbreviated             // a host without a scheme, perhaps with a path (draft of 2003, appendix F)
	Reference               // a relative reference in an element or field for references
	Mail                    // a mail address
	IRI                     // an identifier with a scheme and with non-ASCII characters

	// The following kinds are found without a scheme; see [Options].Bare.
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

// A Finding is an identifier in a document.
type Finding struct {
	Kind Kind

	// Text is the part of the document from Start to End. Text is not decoded if this part of the
	// document is encoded, for example in base64.
	Text       string
	Start, End int64 // byte offsets in the file

	// Spelling is the identifier as decoded text, without white space and line breaks that do not
	// belong to it.
	Spelling string

	// Other is an alternative to Spelling, or "". If the identifier has a line break after a
	// hyphen, the hyphen may have been added when the line was broken (drafts of 1997 and 2003,
	// appendix E). Spelling then has the hyphen and Other does not.
	Other string

	// URI is the identifier as a URI. It depends on Kind:
	//   - IRI: the URI to which the IRI is mapped;
	//   - Abbreviated, Mail: the identifier with the omitted scheme;
	//   - Reference: the reference as written, which may be relative;
	//   - the kinds in [BareKinds]: the canonical form that the standard or
	//     registry of the identifier recommends.
	URI uri.URI

	// Target is the URI to which the identifier refers. For a Reference it is URI resolved against
	// the base, or the zero URI if there is no base. For other kinds it equals URI.
	Target uri.URI

	Base     string // the base of the document at this place, or ""
	BaseRule string // how the base was established: a constant from [BaseOfficial] to [BaseDefault], or ""

	// Where says in which part of the document the identifier is:
	//   - in text: "";
	//   - in HTML: "a href";
	//   - in a header of a message: "header Content-Base";
	//   - in a part of a message: "part 2.1 a href";
	//   - in a mailbox: "message 3 part 2.1 a href".
	Where string
}

// Options select the kinds of identifiers to find. With the zero Options, only identifiers with a
// scheme are found.
type Options struct {
	Abbreviated bool  // also find www.example.com/a and example.com
	Mail        bool  // also find mail addresses
	IRI         bool  // allow non-ASCII characters in identifiers
	Bare        Kinds // also find these kinds without a scheme, as in "DOI 10.1000/182"; must be in BareKinds
	OneLine     bool  // lines are not wrapped, so an identifier without delimiters ends at the end of its line

	// URN is the dialect that determines where a URN ends. Zero means [urn.Latest].
	URN urn.Dialect

	Base    uri.URI // the URI from which the document was retrieved, after redirects (RFC 3986, section 5.1.3); zero if unknown
	Default uri.URI // the base of documents without any other base (RFC 3986, section 5.1.4), or zero
}
