// Package scheme is a catalogue of URI schemes: those registered at IANA and
// others in wide use. For schemes with rules it parses, checks, canonicalises
// and builds their URIs. Package internal/pid has the rules that it shares with
// package name.
//
// # Records
//
// A [Scheme] is a record: its status and reference, the default port, the
// characters with a special meaning, how to retrieve an object, and its
// [RuleSet]. The rules apply to a [uri.URI] that its dialect has already
// accepted, and never extend the general syntax.
//
//   - Check returns violations of the scheme's own document, with offset and
//     rule, and warnings about deception or harm to those who follow the URI.
//   - Parts returns the named parts of a URI, such as the type and selector of
//     Gopher. Values are raw; a [Part] records whether it is decoded before use.
//   - Canonical returns the one spelling that stands for all equivalent ones. It
//     extends the equivalence of [uri.LevelScheme] and never restricts it.
//   - Build writes a URI from parts, and fails if they would be parsed
//     differently.
//   - Inner returns the range of a URI contained in this one.
//
// # Dialects
//
// The dialect of a URI determines which documents define its scheme:
// [uri.Draft1993] means draft-ietf-uri-url, all others RFC 1738 and its
// successors. "gopher://h/0a?b" has a search in 1993, and a selector with a
// question mark in RFC 4266.
//
// # Adding a scheme
//
// Each scheme has its own file, such as http.go or ftp.go, or shares one with
// related schemes. The file has:
//
//   - a variable of type Scheme, with Name, Kind, Reference, Example, Security,
//     and Retrieval or Properties; title and status default to those of the
//     registry (zschemes.go);
//   - constants for the rules, "document, section: production";
//   - check and parts functions that use layoutOf, which returns the offsets of
//     the components. A check without findings must not allocate, and neither
//     function may panic on any URI of the scheme, valid or not, in any dialect.
//
// List the variable in schemesToday (today.go) or schemes1993 (draft1993.go),
// and remove an unregistered scheme that gets rules from unregistered.go. Rules
// must not call the functions that use the standard catalogue (Lookup, Check,
// Parts ...); Inner returns a URI inside another. catalogue_test.go compares
// the example, parts and checks of all schemes, and fuzz tests cover them; put
// special cases into a table of valid and invalid examples next to the file.
//
// # Catalogues
//
// There is no global registration. [Catalogue.With] returns a catalogue with
// one more scheme, which must satisfy the requirements that the draft of 1993
// sets for a registration.
package scheme

//go:generate go run ./gen -registry ../testdata/corpus/whole/iana/uri-schemes.tsv -out zschemes.go
