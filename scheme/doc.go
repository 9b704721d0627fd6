// Package scheme is a catalogue of URI schemes. It contains the schemes that are registered at
// IANA, and others in wide use. For many of them it can check URIs, split them into parts, build
// them, and find their canonical form.
//
// # Records
//
// A [Scheme] describes a scheme: its status and reference, its default port, the characters with a
// special meaning, and how to retrieve an object. It may also have a [RuleSet]. The functions of a
// RuleSet take a [uri.URI], which already follows the general syntax, and apply the rules of the
// scheme to it.
//
//   - Check returns violations of the scheme's own document, with offset and
//     rule. It also warns of URIs that deceive or harm those who follow them.
//   - Parts returns the named parts of a URI, such as the type and selector of
//     Gopher. Values are raw; a [Part] says whether it must be decoded before use.
//   - Canonical returns the same spelling for all URIs that the scheme considers
//     equivalent. These include all URIs that are equivalent at [uri.LevelScheme].
//   - Build writes a URI from parts. It fails if the URI would be parsed into
//     different parts.
//   - Inner returns the range of another URI that is contained in the URI.
//
// # Dialects
//
// Schemes have changed over time, so the dialect of a URI determines which document defines its
// scheme. This is draft-ietf-uri-url for [uri.Draft1993], and RFC 1738 and its successors for all
// others. For example, the "?b" of "gopher://h/0a?b" is a search in the draft of 1993, and part of
// the selector in RFC 4266.
//
// # Schemes
//
// The package has the rules of the schemes that the drafts name: http, https, ftp, file, gopher,
// news, nntp, snews, mailto, mid, cid, telnet, rlogin, tn3270, wais, prospero, afs, whois, x500 and
// urn. Package urn parses the names of the scheme urn. Package scheme/extra has the rules of other
// schemes, and says how to add one. Package internal/pid has rules that package name also needs.
//
// # Catalogues
//
// [Standard] returns the catalogue with the rules of this package, and extra.Catalogue the one with
// all rules. To use other schemes, create a larger catalogue with [Catalogue.With]. It requires of
// a new scheme what the draft of 1993 requires of a registration.
//
// The file docs/glossary.md lists the drafts that comments cite by their year, such as "draft of
// 1995, section 3.1".
package scheme

//go:generate go run ./gen -registry ../testdata/corpus/whole/iana/uri-schemes.tsv -out schemes.tsv
