// Package scheme is the catalogue of URI schemes: what the schemes of the
// registry of IANA and those in wide use are, and for those that have rules what
// is inside of their URIs and what can be wrong with them. It needs package uri
// and the standard library alone.
//
// # What a scheme says
//
// A [Scheme] is a record: who stands behind the name and where it is described,
// the default port, which characters have a meaning of their own, how an object
// is retrieved, and its [RuleSet]. The rules take a [uri.URI], which its dialect has
// accepted already, and never widen the general syntax.
//
//   - Check finds what the scheme's own document refuses, with the offset and the
//     rule, and what may deceive or harm who follows the URI.
//   - Parts takes the URI to pieces with names, such as the type and the selector
//     of Gopher. Values are raw; a [Part] knows whether it is used decoded.
//   - Canonical is the one spelling of all that the scheme holds equivalent. It
//     only ever widens the equivalence of [uri.LevelScheme].
//   - Build puts parts together, and refuses what would be read as others.
//   - Request says what a client asks for, and whom: a plan, without a network.
//   - Inner tells where another URI is carried inside.
//
// # Generations
//
// The dialect of a URI says by which documents its scheme is read:
// [uri.Draft1993] by draft-ietf-uri-url, all others by RFC 1738 and what came
// after it. "gopher://h/0a?b" has a search in 1993, and a selector with a
// question mark in RFC 4266.
//
// # Adding a scheme
//
// A scheme has a file of its own, as http.go and ftp.go show, or shares one with
// its relatives. The file has:
//
//   - a variable of type Scheme, with Name, Kind, Reference, Example, Security,
//     and Retrieval or Properties; title and status come from the registry
//     (zschemes.go) unless the file says better;
//   - constants for the rules, "document, section: production";
//   - check and parts functions over layoutOf, which has the offsets of the
//     components; a check that finds nothing must not allocate, and neither may
//     panic on any URI of the scheme, in any dialect, right or wrong.
//
// The variable is listed in schemesToday (today.go) or schemes1993
// (draft1993.go); schemes without registration that get rules leave
// unregistered.go. Rules must not call the functions that use the standard
// catalogue (Lookup, Check, Parts ...): a URI inside of another is told by Inner.
// The example, the parts and the checks of all schemes are held against each
// other in catalogue_test.go, and fuzzed; what is particular goes into a table of
// good and bad examples beside the file.
//
// # Retrieval
//
// A [Retriever] is the algorithm that the draft asks of every scheme: from a
// locator to locators or to the object. The steps that touch the world are the
// caller's. [Gateways] lead to what the caller does not speak, a [Session] is
// handed to a program for a person, a [GopherItem] that refers to another
// protocol becomes a locator of that. An [Object] has at most one official name,
// in whose context its references are read.
//
// # Catalogues
//
// There is nothing to register globally. [Catalogue.With] returns a catalogue
// with one scheme more, and asks of it what the draft of 1993 asks of those who
// submit one.
package scheme

//go:generate go run ./gen -registry ../../shared/data/iana/uri-schemes.tsv -out zschemes.go
