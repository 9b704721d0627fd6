// Package ezid implements the protocol of EZID, so that clients of EZID work unchanged. With it,
// they view, create, change, delete and mint identifiers, and resolve ARKs. Package internal/ezid
// has the mapping between elements and records.
//
// # Requests
//
//	GET /id/ID[?prefix_match=yes]          view the elements
//	PUT /id/ID[?update_if_exists=yes]      create
//	POST /id/ID                            change
//	DELETE /id/ID                          delete a reserved identifier
//	POST /shoulder/SHOULDER                mint
//	POST /download_request                 begin a batch download
//	GET /download/FILE                     the file of a batch download
//	GET /login, /logout                    begin and end a session
//	GET /status, /version                  whether the server works; the version of nomen
//	GET /ark:/NAAN/NAME                    resolve; with ?info or ??, the elements
//
// The dialect answers only for the names of the authorities in its configuration (see
// [dialect.Scope]). The server itself answers all other requests.
//
// # Responses
//
// The first line of a response is "success: " or "error: " and a text on which clients depend. The
// response to GET /version is only the version. The status depends on this text, and may be unusual
// in HTTP. For example, the status for an unknown identifier is 400. Unknown parameters are errors.
//
// As with EZID, the status shows whether an identifier is reserved or does not exist: it is 401 or
// 403 in the first case, and 400 in the second.
//
// # Differences from EZID
//
//   - Credentials are accepted and requested only on connections that other machines cannot read.
//     On all other connections, changes are forbidden.
//   - Rights are those of nomen tokens and users. The element _owner has no effect. Only an actor
//     with the role owner for the name can change it.
//   - Making an unavailable identifier public again requires the role owner. The change is in the
//     history.
//   - An unavailable identifier resolves to its tombstone page with status 410, unless
//     RedirectUnavailable is set.
//   - Nothing is sent to DataCite, Crossref or N2T.
//   - A batch download has the names for which the user has rights. The constraints crossref and
//     datacite are rejected, and notify has no effect.
//   - HEAD is answered for paths that resolve names.
package ezid
