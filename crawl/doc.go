// Package crawl follows the relations between naming authorities. In response to the reserved
// request urn+p of draft-ietf-uri-yaurn-00, 3.5.3 and 3.5.4, the resolver of an authority
// returns the parents of the authority, which have authorised it. In response to urn+c it
// returns the children, which the authority has authorised (Y95-58 to Y95-60).
//
// A [Walker] proceeds breadth first from one authority, queries each authority once, spaces
// requests to the same host, and stops at limits of depth, number and bytes. It writes its
// results to a [State], line by line; a later walk reads the state and continues where the
// previous walk ended, even if the previous process was killed.
//
// The result is a sequence of nodes, which [WriteJSON], [WriteDOT] and
// [WriteSVG] output. Names are untrusted input: they are escaped, and a name
// without a resolver is reported and not followed.
//
// Comments cite drafts by their year, as in "1995, 3.1"; docs/glossary.md lists the drafts.
package crawl
