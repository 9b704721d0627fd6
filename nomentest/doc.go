// Package nomentest tests implementations of [nomen.Resolver], such as an engine with a store, a
// client of a server, a cache, or a chain of resolvers. The test of an implementation is one line:
//
//	nomentest.Run(t, build, nomentest.Capabilities{})
//
// The function build returns a resolver that has exactly the given records and authorities.
// [Capabilities] exclude features that a resolver or its protocol does not support.
//
// # What is tested
//
// The suite tests the following:
//
//   - the services I2L, I2Ls, I2C, I2Cs, I2N and I2Ns (RFC 2483, section 4), and the kinds of
//     errors (RFC 2483, section 2)
//   - that all spellings of a name get the same answer (Y95-02, Y95-03, Y95-13)
//   - states, tombstones and successors (Y95-25)
//   - the default service, and unknown services (N12-32)
//   - components (N12-34, N12-31)
//   - ranking by media type, language and country
//   - questions about the state at other times
//   - cancellation, ownership of answers, and concurrent use
//
// Comments cite the requirements of Internet-Drafts by IDs such as Y95-25; docs/glossary.md lists
// the drafts.
package nomentest
