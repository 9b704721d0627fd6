// Package conform tests over the network whether a resolver conforms to the specifications of name
// resolution. These include the Internet draft of 1995 (draft-ietf-uri-yaurn-00), THTTP (RFC 2169),
// the resolution services of RFC 2483, HTTP and RFC 8141, Memento (RFC 7089), link sets (RFC 9264)
// and FAIR Signposting.
//
// [Cases] returns the test cases, and [Run] tests a server with them. A case passes, fails, or is
// not applicable. Its result contains the bytes that were sent and received. The package does not
// import any server code of this module, only the parsers of URIs and URNs. A mistake in the server
// therefore cannot hide itself in the tests.
//
// # Not applicable
//
// A case is not applicable in these situations:
//
//   - It needs something that the caller has not provided and the server does not offer, such as a
//     retired name.
//   - An intermediary in front of the resolver rejects the request. An error response comes from an
//     intermediary if it has a Via field, the Server field of a known reverse proxy, or a Server
//     field that differs from that of the resolver.
//
// # Forms of a request
//
// In the draft of 1995, the request target is the bare ElementID without a slash (section 3.3). A
// proxy or gateway expects the whole URN (section 3.2). A server that supports only paths expects a
// slash and the ElementID. [Run] requests the first name in these three forms, in this order. For
// all other requests, it uses the first form that succeeds, except in cases about a particular
// form.
//
// Comments in the code cite drafts by year and section, as in "1995, 3.1". The drafts are listed in
// docs/glossary.md.
package conform
