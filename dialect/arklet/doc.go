// Package arklet answers requests in the protocol of arklet, a minter and resolver of ARKs, so that
// its clients work unchanged.
//
// # Requests
//
//	POST /mint                        make a new ARK
//	PUT /update                       replace the URL, the metadata and the commitment of an ARK
//	GET /ark:/NAAN/NAME               resolve; also below /resolve/
//
// The dialect answers only for the names in its scope. The server itself answers other requests,
// and those for ARKs to which arklet would not redirect.
//
// # Differences from arklet
//
//   - Keys are read only on connections that other machines cannot read. Other requests to change
//     ARKs are forbidden.
//   - Rights come from the tokens and users of nomen. A key is not limited to one NAAN.
//   - An ARK can have any NAAN. The whole name counts, not only its first part.
//   - The URL of an ARK must be one that a record can have. An ARK without a URL is reserved.
//   - A retired ARK cannot be changed.
package arklet
