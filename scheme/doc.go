// Package scheme is a catalogue of URI schemes. It contains the schemes that are registered at
// IANA, and unregistered schemes in wide use. For many schemes, it can check a URI, split the URI
// into parts, build a URI from parts, and find the canonical form of a URI.
//
// # Records
//
// A [Scheme] describes a scheme: its status and reference, its default port, the characters with a
// special meaning, and how to retrieve an object. It may also have a [RuleSet]. The functions of a
// RuleSet apply the rules of the scheme to a [uri.URI], which is already valid by the general
// syntax:
//
//   - Check returns violations of the document that defines the scheme, with their offsets and
//     rules. It also warns of URIs that could deceive or harm a user who follows them.
//   - Parts returns the named parts of a URI, such as the type and selector of Gopher. Values are
//     raw, and each [Part] says whether its value must be decoded before use.
//   - Canonical returns the same spelling for all URIs that the scheme considers equivalent. URIs
//     that are equivalent at [uri.LevelScheme] are always among them.
//   - Build writes a URI from parts. It fails if parsing the URI would not return the same parts.
//   - Inner returns the range of a URI that is contained in another URI.
//
// # Dialects
//
// Schemes have changed over time. The dialect of a URI determines which document defines its
// scheme. For [uri.Draft1993] the document is draft-ietf-uri-url. For all other dialects it is RFC
// 1738 or its successor. For example, the draft of 1993 interprets the "?b" in "gopher://h/0a?b" as
// a search, but RFC 4266 interprets it as part of the selector.
//
// # Schemes
//
// The package has the rules of the schemes that the draft of 1993 and related drafts name: http,
// https, ftp, file, gopher, news, nntp, snews, mailto, mid, cid, telnet, rlogin, tn3270, wais,
// prospero, afs, whois, x500 and urn. Package urn parses the names of the scheme urn. Package
// scheme/extra has the rules of other schemes, and documents how to add a scheme. Package
// internal/pid has the rules that package name shares.
//
// # Catalogues
//
// [Standard] returns the catalogue with the rules of this package. The function extra.Catalogue
// returns the catalogue with all rules. To use other schemes, create a larger catalogue with
// [Catalogue.With]. With returns an error if a new scheme lacks a field that the draft of 1993
// requires of registrations.
//
// Comments cite drafts by their year, as in "draft of 1995, section 3.1". The file docs/glossary.md
// lists these drafts.
package scheme

//go:generate go run ./gen -registry ../testdata/corpus/whole/iana/uri-schemes.tsv -out schemes.tsv
