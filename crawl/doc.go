// Package crawl follows the relations between naming authorities. The parents of an authority
// are the authorities that have authorised it; its children are the authorities that it has
// authorised. The resolver of an authority returns the parents in response to the reserved
// request urn+p, and the children in response to urn+c (draft-ietf-uri-yaurn-00, 3.5.3 and
// 3.5.4: Y95-58 to Y95-60).
//
// A [Walker] proceeds breadth first from one authority, queries each authority once, spaces
// requests to the same host, and stops at limits of depth, number and bytes. It writes its
// results to a [State], line by line; a later walk reads the state and continues where the
// previous walk ended, even if the previous process was killed.
//
// The result is a sequence of nodes, which [WriteJSON], [WriteDOT] and [WriteSVG] write. Names
// are untrusted input, so they are escaped. A name without a resolver is reported and not
// followed.
//
// Comments cite drafts by their year, as in "1995, 3.1"; docs/glossary.md lists the drafts.
package crawl
