// Package conform tests over the network whether a resolver does what the documents about name
// resolution require. These are the draft of 1995 (draft-ietf-uri-yaurn-00), THTTP (RFC 2169), the
// services of RFC 2483, HTTP and RFC 8141, Memento (RFC 7089), link sets (RFC 9264) and FAIR
// Signposting.
//
// [Cases] returns the requirements, and [Run] tests a server. A case passes, fails, or is not
// applicable, and its result has the bytes that were sent and received. Of this module, the package
// imports only the parsers of URIs and URNs, so that it cannot share a mistake with the server.
//
// # Not applicable
//
// A case is not applicable in these situations:
//
//   - It needs something that the caller has not given and the server does not offer, such as
//     a retired name.
//   - An intermediary in front of the resolver rejects the request. This is so for an
//     error response with a Via field, with the Server field of a known reverse proxy, or with
//     a Server field that differs from the resolver's own.
//
// # Forms of a request
//
// In the draft of 1995 the request target is the bare ElementID, without a slash (3.3). A proxy or
// gateway expects the whole URN (3.2), and a server that only supports paths expects "/" and the
// ElementID. [Run] tries these three forms, in this order, with the first name. It then uses the
// first that succeeds, except in cases about a particular form.
//
// Comments cite drafts by their year and section, as in "1995, 3.1"; docs/glossary.md lists the
// drafts.
package conform
