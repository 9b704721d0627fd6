// Package namespace is a catalogue of the URN namespaces in use. For namespaces with public rules
// it checks names, splits them into parts, formats them for people, and finds their canonical
// spelling. For example, it can verify the check digit of an ISBN and insert its hyphens.
//
// # What a namespace has
//
// A [Namespace] describes a namespace. Its fields have the statements of the registration about
// components, functional equivalence and security. It may also have [Rules], which apply to
// namespace-specific strings that package urn has accepted. Such rules can only restrict the syntax
// of URNs (draft-ietf-urnbis-rfc2141bis-urn-02, section 2; RFC 8141, section 5). If the rules of a
// namespace are not public, its Note says so.
//
//   - Check finds the first error. It returns the offset, the violated rule, and a correction if
//     possible.
//   - Lint reports valid strings that do not have the preferred form of the namespace.
//   - Parts splits a name into parts, and Display formats it for people.
//   - Canonical returns the same spelling for all names that the namespace considers equivalent.
//     Names that are equivalent by the general syntax are always among them.
//
// # Documents
//
// The rules come from the registrations at IANA, the RFCs to which the registrations refer, and
// standards such as ISO 2108 for books and ISO 17442 for legal entities. The field Reference of a
// [Namespace] names its documents.
//
// The program in the directory gen generates the table of ISBN ranges from the range message of the
// International ISBN Agency.
//
// # Suggestions
//
// [Suggest] returns the valid names that a user probably meant by an invalid name.
package namespace

//go:generate go run ./gen -ranges ../testdata/corpus/whole/isbn/isbn-ranges.json -out isbn.tsv
