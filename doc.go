// Package nomen defines the interface of resolvers for persistent names. A [Question] is about a
// name, for example the location of the document that a URN identifies. A [Resolver] returns an
// [Answer] or an error. It has several implementations:
//
//   - the engine (package resolve) answers from a store of records;
//   - the client (package client) sends questions to other resolvers over the network;
//   - caches and chains pass questions on to other implementations.
//
// The conformance suite in package nomentest tests all implementations. The server (package server)
// and the command line get their answers from a Resolver.
//
// Services have the names that RFC 2483 defines. The five kinds of errors come from section 2 of
// this RFC.
//
// Comments cite drafts by their year. For example, the draft of 1995 is draft-ietf-uri-yaurn-00.
// They cite requirements of drafts by numbers such as "Y95-32". The file docs/glossary.md lists the
// drafts.
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
// Two names with different canonical forms can identify the same resource.
//
// # Errors
//
// The errors of parsers implement [uri.InputError]. Use errors.As to get the input, the byte offset
// and the violated rule. Functions that check identifiers return values of the type [uri.Finding],
// because a valid identifier can have warnings.
package nomen
