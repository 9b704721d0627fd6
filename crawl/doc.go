// Package crawl discovers the relations between naming authorities. An authority can authorise
// other authorities, which are its children. It is a parent of these authorities. The resolver of
// an authority returns its parents in response to the reserved request urn+p, and its children in
// response to urn+c (draft-ietf-uri-yaurn-00, sections 3.5.3 and 3.5.4: Y95-58 to Y95-60).
//
// A [Walker] begins with one authority. It queries each authority that it finds once, in
// breadth-first order. It waits between requests to the same host. [Options] limit the distance
// from the first authority, the number of authorities, and the size of the responses. It can write
// results to a [State], from which a later walk can continue.
//
// [WriteJSON], [WriteDOT] and [WriteSVG] write the result. They escape the names in responses,
// which are untrusted input. If an authority has no resolver, its [Node] has an error.
//
// Comments cite drafts by their year, as in "draft of 1995, section 3.1". The file docs/glossary.md
// lists these drafts.
package crawl
