// Package crawl walks the web of naming authorities: each resolver tells, by the
// reserved requests urn+p and urn+c of draft-ietf-uri-yaurn-00, 3.5.3 and 3.5.4,
// which authorities have authorised it and which it has authorised (Y95-58 to
// Y95-60).
//
// A [Walker] goes breadth first from one authority, asks each once however many
// name it, waits between two requests to one host, and stops at limits of depth,
// number and bytes. What it has learnt goes to a [State], line by line; a later
// walk reads it and goes on where the former was ended, also when that was killed.
//
// The result is a sequence of nodes; [WriteJSON], [WriteDOT] and [WriteSVG] show
// it. Names come from strangers: whatever stands in them is escaped, and a name
// that no resolver can be asked about is told and not followed.
package crawl
