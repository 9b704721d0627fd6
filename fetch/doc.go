// Package fetch retrieves the resource that a name or a URL identifies. It executes the plans of
// package plan with network and file access.
//
// # Schemes
//
// The package supports http and https (RFC 9110), ftp (RFC 959, passive), gopher (RFC 1436, and
// Gopher+ responses), news, snews and nntp (RFC 3977), whois (RFC 3912), data (RFC 2397), and file
// and afs on the local machine. It retrieves other schemes, such as wais and prospero, through a
// gateway if one is configured. For an interactive session (telnet, rlogin, tn3270) it returns a
// [*SessionError] with the details. Names (urn, ark, doi, hdl, info, tag) are resolved first.
//
// # Trust
//
// A URL that the user has typed is trusted. It may identify a local file, have a private address,
// and contain credentials. URLs from redirects, from resolvers and from the clients of a server are
// not trusted. For untrusted URLs, the package does not use
//
//   - addresses outside the public Internet, except the address of the user's own URL. Package
//     guard checks addresses after the DNS lookup, before each connection;
//   - local files and programs;
//   - ports of other protocols, even with [Options.AllowPrivate];
//   - credentials in the URL.
//
// Credentials in a trusted URL are sent only to its origin. By default, requests have no fields
// that identify the user, such as cookies, Referer and User-Agent.
//
// # Limits
//
// The package limits the decompressed size of a response, its compression ratio, the time without
// progress, the total time, and the number of redirects. If a response is truncated or too large,
// reading it returns an error.
package fetch
