// Package conform checks over the network whether a resolver does what the
// documents about name resolution require: the draft of 1995
// (draft-ietf-uri-yaurn-00), THTTP (RFC 2169), the services of RFC 2483, HTTP and
// RFC 8141, Memento (RFC 7089), link sets (RFC 9264) and FAIR Signposting.
//
// It sees the server from outside only, and depends on no other part of this
// module than the parsers of URIs and URNs. [Cases] lists the requirements as
// data; [Run] tries them on one server. A case passes, fails, or is not
// applicable, always with the bytes that were sent and received.
//
// # Not applicable
//
// A case is not applicable if it needs something that the caller did not supply
// and the server does not offer, such as a retired name, or if what stands before
// the resolver cannot pass the request. That is decided by observation: an error
// that carries Via, a Server field of a known reverse proxy, or a Server field
// other than that of the resolver's own answers, comes from an intermediary.
//
// # Forms of a request
//
// The draft of 1995 sends the bare ElementID as the target of a request, without
// a slash (3.3). A proxy or gateway takes the whole URN (3.2), and what only passes
// paths can be reached by "/" and the ElementID. [Run] tries the three in this
// order with the first name and uses the first that is answered; only the cases
// about a form itself depend on it.
package conform
