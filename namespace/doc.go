// Package namespace knows what a valid name is in the URN namespaces that
// people use: the catalogue of namespaces, and the rules of those that have any.
//
// # What a namespace says
//
// A [Namespace] is a record of the catalogue: who registered it and where, what
// it says about components, functional equivalence and security, an example,
// and its [Rules]. The rules restrict the syntax of URNs and never widen it
// (draft-ietf-urnbis-rfc2141bis-urn-02, 2; RFC 8141, 5), so they read a
// namespace-specific string that package urn has already accepted. Where the
// rule of a namespace is not public there is no Check, and the Note says so.
//
//   - Check finds the first thing that is wrong, with its offset, the rule of the
//     document, and what should stand there if that can be computed.
//   - Lint finds what is legal but not as the namespace writes it.
//   - Parts takes the name to pieces, Display writes it for people.
//   - Canonical is the one spelling of all that the namespace holds equivalent.
//     It only ever widens the equivalence of the general syntax.
//
// # Documents
//
// Registrations at IANA, the RFCs that they name, and the standards behind them
// (ISO 2108 for books, ISO 3297 for serials, ISO 17442 for legal entities ...).
// The Reference of each record names its own.
//
// The ranges of ISBN are generated from the range message of the International
// ISBN Agency; gen holds the generator.
//
// # Near misses
//
// [Suggest] says what was probably meant by a text that is not a valid name.
package namespace

//go:generate go run ./gen -ranges ../../shared/data/isbn/isbn-ranges.json -out zisbn.go
