// Package fetch follows a name or a locator to the resource. It adds network and file access to
// the retrieval algorithms of package plan.
//
// # Schemes
//
// The package supports http and https (RFC 9110), ftp (RFC 959, passive), gopher (RFC 1436, and
// Gopher+ responses), news, snews and nntp (RFC 3977), whois (RFC 3912), data (RFC 2397), and
// file and afs on this machine. Other schemes, such as wais and prospero, are reached through a
// gateway if one is configured. For an interactive session (telnet, rlogin, tn3270) it returns a
// [*SessionError] with the details. Names (urn, ark, doi, hdl, info, tag) are resolved first.
//
// # Trust
//
// A locator that the user has named is trusted: it may be a local file or at a private address,
// and may contain credentials. Locators from redirections, from resolvers and from the users of
// a server are not trusted. They cannot make fetch use
//
//   - addresses outside the public Internet, in whatever spelling. The address is checked
//     after the DNS lookup, when connecting (package guard). The only exception is the address
//     to which the user's own locator led;
//   - local files and programs;
//   - ports of other protocols, even with [Options.AllowPrivate];
//   - credentials that the locator itself contains.
//
// Credentials in the user's locator are sent only to its origin. Unless an option sets them,
// requests contain no fields that identify the user: no cookies, no Referer, no User-Agent.
//
// # Limits
//
// While a response is read, limits apply to its decompressed size, its compression ratio, the
// time without progress and the total time. The number of redirections is also limited. A
// truncated or oversized response ends in an error.
package fetch
