package extract

import (
	"github.com/nomen-project/nomen/uri"
	"github.com/nomen-project/nomen/urn"
)

// A Kind says what a finding is.
type Kind uint8

// The kinds.
const (
	URI         Kind = iota // with a scheme
	URN                     // a name of the scheme urn
	Abbreviated             // a host and perhaps a path, without a scheme (2003, appendix F)
	Reference               // relative, where the document says that a reference stands there
	Mail                    // an address of electronic mail
	IRI                     // with a scheme, and characters beyond US-ASCII
	kinds
)

// String returns the name of the kind in lower case.
func (k Kind) String() string {
	names := [kinds]string{"uri", "urn", "abbreviated", "reference", "mail", "iri"}
	if k >= kinds {
		return "unknown"
	}
	return names[k]
}

// A Finding is one identifier found.
type Finding struct {
	Kind Kind

	// Text is the octets as they stand in the document, from Start to End. In
	// an encoded part of a message they are encoded.
	Text       string
	Start, End int64 // in octets of the document as a file

	// Spelling is the identifier: Text without the white space and the line
	// breaks that the rules take out.
	Spelling string

	// Other is the second reading of an identifier that was broken after a
	// hyphen: without the hyphen (1997 and 2003, appendix E). "" if there is
	// no second reading.
	Other string

	// URI is the identifier as a value: for an IRI what it maps to, for an
	// abbreviated one and an address with the scheme that is not written, for a
	// reference as it is written.
	URI uri.URI

	// Target is what the identifier leads to: a reference resolved against the
	// base; otherwise URI. It is zero for a reference without a base.
	Target uri.URI

	Base     string // the base that is in force; "" none
	BaseRule string // what gave it: one of the constants from [BaseOfficial] to [BaseDefault]; "" none

	// Where says as what it stands in the document: "" in text, "a href" in HTML,
	// "header Content-Base" in a message. If a message has parts, the part comes
	// before it, as in "part 2.1 a href"; in a mailbox, the message comes before
	// that, as in "message 3 part 2.1 a href".
	Where string
}

// Options say what is looked for. The zero Options find what has a scheme.
type Options struct {
	Abbreviated bool // find www.example.com/a and example.com too
	Mail        bool // find addresses of electronic mail too
	IRI         bool // let identifiers have characters beyond US-ASCII
	OneLine     bool // identifiers without delimiters end where their line ends

	// URN is the document by which the end of a URN is told; zero: the latest.
	URN urn.Dialect

	Base    uri.URI // from where the document was retrieved, after redirects (5.1.3); zero: unknown
	Default uri.URI // the base of last resort (5.1.4); zero: none
}
