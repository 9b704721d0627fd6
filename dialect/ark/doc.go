// Package ark answers requests for the description of an ARK, which consist of an ARK and an
// inflection (draft-kunze-ark, section 5). The server itself answers all other requests for ARKs,
// because they need no special treatment.
//
// # Requests
//
//	GET /ark:NAAN/NAME?        who, what, when and where
//	GET /ark:NAAN/NAME??       the same, and what the authority promises about the name
//	GET /ark:NAAN/NAME?info    the same as ??
//	GET /ark:NAAN?info         the authority
//	GET /.well-known/ark       the path to which clients append an ARK
//
// The dialect answers only for the names in its scope. A name without a record may have a location
// by a suffix, a rule or a delegation. The response is then a redirect to this location with the
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
// The value "(:unav)" means that the record does not have a value.
package ark
