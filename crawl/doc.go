// Package crawl finds out how naming authorities are related. The parents of an authority have
// authorised it, and its children were authorised by it. The resolver of an authority returns its
// parents in response to the reserved request urn+p, and its children in response to urn+c
// (draft-ietf-uri-yaurn-00, 3.5.3 and 3.5.4: Y95-58 to Y95-60).
//
// A [Walker] begins with one authority, and queries each authority that it finds once, in the order
// of distance. It spaces requests to the same host, and has limits on the number of steps,
// authorities and bytes. It can write results to a [State], line by line. If it is interrupted, a
// later walk continues from this State.
//
// [WriteJSON], [WriteDOT] and [WriteSVG] write the result. Names in responses come from strangers,
// so they are escaped. A name without a resolver is reported.
//
// The file docs/glossary.md lists the drafts that comments cite by their year, such as "draft of
// 1995, section 3.1".
package crawl
