// Package namespace is a catalogue of the URN namespaces in use. For namespaces with public rules
// it checks names, splits them into parts, formats them for people, and finds their canonical
// spelling. For example, it can verify the check digit of an ISBN and insert its hyphens.
//
// # What a namespace has
//
// A [Namespace] describes a namespace: its registrant, an example, and what the registration states
// about components, functional equivalence and security. It may also have [Rules]. Rules apply to a
// namespace-specific string that package urn has accepted, because they can only restrict the
// syntax of URNs (draft-ietf-urnbis-rfc2141bis-urn-02, 2; RFC 8141, section 5). If the rules of a
// namespace are not public, its Note says so.
//
//   - Check finds the first error, with its offset, the rule of the document, and
//     a correction if possible.
//   - Lint finds what is valid but not in the preferred form of the namespace.
//   - Parts splits a name into parts, and Display formats it for people.
//   - Canonical returns the same spelling for all names that the namespace considers
//     equivalent. These include all names that are equivalent by the general syntax.
//
// # Documents
//
// The sources are the registrations at IANA, the RFCs that these name, and the standards on which
// they are based, such as ISO 2108 for books and ISO 17442 for legal entities. Each namespace has
// its Reference.
//
// The generator in gen makes the table of ISBN ranges from the range message of the International
// ISBN Agency.
//
// # Suggestions
//
// [Suggest] returns what was probably meant by a text that is not a valid name.
package namespace

//go:generate go run ./gen -ranges ../testdata/corpus/whole/isbn/isbn-ranges.json -out isbn.tsv
