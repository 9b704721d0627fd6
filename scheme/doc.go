// Package scheme is a catalogue of URI schemes: those registered at IANA and
// others in wide use. For schemes with rules it parses, checks, canonicalises
// and builds URIs. Package internal/pid has the rules that packages scheme and
// name share.
//
// # Records
//
// A [Scheme] is a record: its status and reference, the default port, the
// characters with a special meaning, how to retrieve an object, and its
// [RuleSet]. The rules apply to a [uri.URI] that its dialect has already
// accepted. They restrict the general syntax and never extend it.
//
//   - Check returns violations of the scheme's own document, with offset and
//     rule, and warnings about deception or harm to those who follow the URI.
//   - Parts returns the named parts of a URI, such as the type and selector of
//     Gopher. Values are raw; a [Part] records whether it is decoded before use.
//   - Canonical returns the spelling shared by all equivalent URIs. URIs that are
//     equivalent at [uri.LevelScheme] always have the same canonical spelling.
//   - Build writes a URI from parts, and fails if they would be parsed
//     differently.
//   - Inner returns the range of a URI that is contained in another.
//
// # Dialects
//
// The dialect of a URI determines which documents define its scheme:
// [uri.Draft1993] means draft-ietf-uri-url, all others RFC 1738 and its
// successors. For example, the "?b" of "gopher://h/0a?b" is a search in the draft of 1993, and
// part of the selector in RFC 4266.
//
// # Schemes
//
// The package has the rules of the schemes that the drafts name: http, https,
// ftp, file, gopher, news, nntp, snews, mailto, mid, cid, telnet, rlogin,
// tn3270, wais, prospero, afs, whois, x500 and urn, whose names package urn
// parses. Each has its own file, or shares one with related schemes. Package
// scheme/extra has the rules of the others, and says how to add one.
//
// # Catalogues
//
// [Standard] returns the catalogue with these rules, and extra.Catalogue the one
// with all rules. There is no global registration. [Catalogue.With] returns a
// catalogue with more schemes, which must satisfy the requirements that the
// draft of 1993 sets for a registration.
//
// Comments cite drafts by their year, as in "1995, 3.1"; docs/glossary.md lists the drafts.
package scheme

//go:generate go run ./gen -registry ../testdata/corpus/whole/iana/uri-schemes.tsv -out schemes.tsv
