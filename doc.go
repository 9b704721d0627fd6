// Package nomen defines the questions that a resolver of persistent names answers, for example
// where the document with a URN is, and the form of the answers and errors. The interface
// [Resolver] answers them. It has several implementations:
//
//   - the engine (package resolve) answers from a store;
//   - the client (package client) asks other resolvers over the network;
//   - caches and chains use other implementations.
//
// The conformance suite in package nomentest tests all of them. The server (package server) and the
// command line use a Resolver for their answers.
//
// Services have the names of RFC 2483. The five kinds of errors are those of section 2 of that RFC.
//
// Comments cite a draft by its year, so "draft of 1995, section 3.1" is section 3.1 of
// draft-ietf-uri-yaurn-00. They cite a requirement by its number, such as "Y95-32".
// docs/glossary.md lists the drafts.
//
// # Canonical forms
//
// Several packages compute a canonical form, for different purposes:
//
//	to                                          use                                   equal for
//	store or look up a persistent name          name.Parse(s), then Name.Key          names that the scheme or namespace calls equivalent
//	compare URNs                                namespace.Equivalent                  the same, for URNs
//	one spelling of a URN                       namespace.Canonical                   the same, for URNs, without components
//	one spelling of a URN of no known namespace urn.URN.Canonical                     URNs equivalent by the general syntax
//	cache responses to a URN                    urn.URN.Key(urn.PurposeCache)         URNs with the same directives
//	compare or cache URIs of a known scheme     extra.Catalogue().Canonical           URIs that the document of the scheme calls equivalent
//	compare URIs by the general syntax          uri.URI.Normalize(uri.LevelScheme, extra.Catalogue().Rules()...)  URIs equivalent by RFC 3986, 6.2.3
//	compare URIs without knowledge of schemes   uri.URI.Normalize(uri.LevelPath)      URIs equivalent by RFC 3986, 6.2.2
//	compare IRIs                                iri.IRI.Normalize, after iri.IRI.NFC  IRIs equivalent by RFC 3987, 5.3
//	show a name to people                       urn.URN.Display                       nothing: only for display
//
// If two names have different canonical forms, they may still identify the same resource.
//
// # Errors
//
// The error of a parser implements [uri.InputError], so errors.As can get the input, the byte
// offset, the violated rule and what was found. A check returns values of the type [uri.Finding],
// because a valid identifier can have warnings.
package nomen
