// Package nomen defines questions about persistent names, answers, errors, and the interface
// [Resolver], which answers questions.
//
// Implementations of [Resolver]:
//
//   - the engine (package resolve) answers from a store;
//   - the client (package client) asks other resolvers over the network;
//   - caches and chains use other implementations of [Resolver].
//
// All implementations pass the same conformance suite, package nomentest. The server (package
// server) and the command line answer with a [Resolver].
//
// Comments name the drafts that this module implements by their years, such as "1995, 3.1" for
// section 3.1 of draft-ietf-uri-yaurn-00, and their numbered requirements as "Y95-32".
// docs/glossary.md lists the drafts.
//
// The services have the names of RFC 2483. The five kinds of errors are those of RFC 2483,
// section 2.
//
// # Canonical forms
//
// Several packages compute a canonical form. Which one to use:
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
// Different canonical forms do not prove that two names identify different resources.
//
// # Errors
//
// A parser returns an error that implements [uri.InputError]. This error has the input, the byte
// offset, the rule of the document and what was found. Use errors.As to get it. A check returns
// values of the type [uri.Finding]. A valid identifier can have findings too, such as warnings.
package nomen
