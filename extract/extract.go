package extract

import (
	"github.com/nomen-project/nomen/uri"
	"github.com/nomen-project/nomen/urn"
)

// A Kind is the kind of an identifier found.
type Kind uint8

// The kinds of findings.
const (
	URI         Kind = iota // has a scheme
	URN                     // a URN
	Abbreviated             // a host and perhaps a path, without a scheme (2003, appendix F)
	Reference               // a relative reference, in a place meant for references
	Mail                    // a mail address
	IRI                     // has a scheme, and non-ASCII characters

	// These are written without a scheme; see [Options].Bare.
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

	// Text is the octets of the document from Start to End. In an encoded body
	// part they are encoded.
	Text       string
	Start, End int64 // byte offsets in the file

	// Spelling is the identifier: Text, without white space and line breaks
	// that the rules remove.
	Spelling string

	// Other is the second reading of an identifier that was broken after a
	// hyphen: without the hyphen (1997 and 2003, appendix E). "" means that
	// there is no second reading.
	Other string

	// URI is the identifier as a value. An IRI is mapped to a URI, an
	// abbreviated identifier or an address gets the omitted scheme, and a
	// relative reference stays relative. For an identifier without a scheme it
	// is the canonical form that its standard or registry recommends.
	URI uri.URI

	// Target is the target of the identifier: a reference resolved against the
	// base, otherwise URI. It is zero for a reference without a base.
	Target uri.URI

	Base     string // the base in force, "" if there is none
	BaseRule string // the rule that established it: one of the constants from [BaseOfficial] to [BaseDefault], "" if there is no base

	// Where is the location in the document: "" in text, "a href" in HTML,
	// "header Content-Base" in a message. In a message with several parts it
	// begins with the part, as in "part 2.1 a href"; in a mailbox it begins
	// with the message, as in "message 3 part 2.1 a href".
	Where string
}

// Options select what to find. The zero Options find identifiers with a scheme.
type Options struct {
	Abbreviated bool  // also find www.example.com/a and example.com
	Mail        bool  // also find mail addresses
	IRI         bool  // allow non-ASCII characters in identifiers
	Bare        Kinds // also find these kinds of identifiers without a scheme, as in "DOI 10.1000/182"; some of [BareKinds]
	OneLine     bool  // undelimited identifiers end at the end of the line

	// URN is the dialect that determines the end of a URN; zero means the
	// latest.
	URN urn.Dialect

	Base    uri.URI // where the document was retrieved from, after redirects (5.1.3); zero if unknown
	Default uri.URI // the default base (5.1.4); zero if there is none
}
