// Package namespace defines the URN namespaces in use. It has a catalogue of the namespaces.
// For each namespace that restricts its names, it has the rules that a name must follow.
//
// # What a namespace has
//
// A [Namespace] is a record of the catalogue. It has the registrant and the registration, what
// the registration states about components, functional equivalence and security, an example,
// and the [Rules]. The rules restrict the syntax of URNs and never extend it
// (draft-ietf-urnbis-rfc2141bis-urn-02, 2; RFC 8141, 5), so they apply to a namespace-specific
// string that package urn has already accepted. If the rules of a namespace are not public,
// its Check is nil, and its Note says so.
//
//   - Check finds the first error, with its offset, the rule of the document, and
//     the correction if it can be computed.
//   - Lint finds what is valid but not in the preferred form of the namespace.
//   - Parts splits the name, Display formats it for people.
//   - Canonical is the one spelling of all names that the namespace considers equivalent.
//     Names that are equivalent by the general syntax always have the same canonical spelling.
//
// # Documents
//
// The sources are the registrations at IANA, the RFCs that they name, and the standards on
// which they are based (ISO 2108 for books, ISO 3297 for serials, ISO 17442 for legal entities
// ...). Each record has its Reference.
//
// The ranges of ISBN are generated from the range message of the International
// ISBN Agency by the generator in gen.
//
// # Suggestions
//
// [Suggest] returns what was probably meant by a text that is not a valid name.
package namespace

//go:generate go run ./gen -ranges ../testdata/corpus/whole/isbn/isbn-ranges.json -out isbn.tsv
