// Package ark answers requests for the description of an ARK (draft-kunze-ark, 5): an ARK with an
// inflection. These are the only requests in which resolvers of ARKs differ from other servers, so
// the server itself answers all others.
//
// # Requests
//
//	GET /ark:NAAN/NAME?        who, what, when and where
//	GET /ark:NAAN/NAME??       the same, and what the authority promises about the name
//	GET /ark:NAAN/NAME?info    the same as ??
//	GET /ark:NAAN?info         the authority
//	GET /.well-known/ark       the path to which clients append an ARK
//
// The dialect answers only for the names in its scope. If a name has no record, but a suffix, a
// rule or a delegation has a location for it, the response is a redirect to this location with the
// inflection. The server itself answers requests for unknown names.
//
// # Responses
//
// A response is an Electronic Resource Citation (ERC) in ANVL, or JSON if the client prefers it:
//
//	erc:
//	who: Proust, Marcel
//	what: Remembrance of Things Past
//	when: 1922
//	where: https://example.org/ark:12345/x
//	erc-support:
//	who: Example Library
//	what: Permanent: Stable Content
//	when: 2026-11-22
//	where: https://example.org/ark:12345?info
//
// A value that the record does not have is "(:unav)".
package ark
