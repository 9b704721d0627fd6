// Package conform checks over the network whether a resolver meets the requirements of the
// documents about name resolution: the draft of 1995 (draft-ietf-uri-yaurn-00), THTTP (RFC
// 2169), the services of RFC 2483, HTTP and RFC 8141, Memento (RFC 7089), link sets (RFC 9264)
// and FAIR Signposting.
//
// It observes the server only from outside. From this module it imports only the parsers of
// URIs and URNs. [Cases] lists the requirements as data; [Run] runs the cases against one
// server. A case passes, fails, or is not applicable. Its result contains the bytes that were
// sent and received.
//
// # Not applicable
//
// A case is not applicable in these situations:
//
//   - It needs something that the caller did not supply and the server does not offer, such as
//     a retired name.
//   - An intermediary in front of the resolver rejects the request. Run concludes this from an
//     error response with one of these fields: a Via field, the Server field of a known reverse
//     proxy, or a Server field that differs from the resolver's own.
//
// # Forms of a request
//
// The draft of 1995 sends the bare ElementID as the request target, without a slash (3.3). A
// proxy or gateway takes the whole URN (3.2), and a server that only supports paths takes "/"
// and the ElementID. [Run] tries the three forms in this order with the first name and uses the
// first that succeeds; only the cases about a particular form depend on it.
//
// Comments cite drafts by their year, as in "1995, 3.1"; docs/glossary.md lists the drafts.
package conform
