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
// The services I2L, I2Ls, I2C, I2Cs, I2N and I2Ns of RFC 2483, section 4, and its kinds of errors
// (section 2); one answer for all spellings of a name (1995, 2: Y95-02, Y95-03, Y95-13); states,
// tombstones and successors (1995, 6A: Y95-25); the default service and unknown services (2012,
// 2.3.1: N12-32); components (2012, 2.3.2: N12-34, N12-31); ranking by media type, language and
// country; questions as of other times; cancellation; ownership of answers; and concurrent use.
//
// Comments cite drafts by their year and section, as in "1995, 3.1"; docs/glossary.md lists the
// drafts.
package nomentest
