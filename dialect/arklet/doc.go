// Package arklet implements the protocol of arklet, a minter and resolver of ARKs, so that clients
// of arklet work unchanged.
//
// # Requests
//
//	POST /mint                        make a new ARK
//	PUT /update                       replace the URL, the metadata and the commitment of an ARK
//	GET /ark:/NAAN/NAME               resolve; also below /resolve/
//
// The dialect answers only for the names in its scope. The server itself answers all other
// requests, and requests for ARKs that arklet would not redirect.
//
// # Differences from arklet
//
//   - Keys are read only on connections that other machines cannot read. Other requests to change
//     ARKs are forbidden.
//   - Rights are those of nomen tokens and users. A key is not limited to one NAAN.
//   - An ARK can have any NAAN. An ARK is looked up by its whole name, not only by the first part.
//   - The URL of an ARK must be valid in a record. An ARK without a URL is reserved.
//   - A retired ARK cannot be changed.
package arklet
