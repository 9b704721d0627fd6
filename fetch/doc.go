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
// a server are not trusted. Untrusted locators cannot make fetch use
//
//   - addresses outside the public Internet, except the address to which the user's own locator
//     led. An address is checked after the DNS lookup, when connecting (package guard);
//   - local files and programs;
//   - ports of other protocols, even with [Options.AllowPrivate];
//   - credentials that the locator itself contains.
//
// Credentials in the user's locator are sent only to its origin. Unless an option sets them,
// requests contain no fields that identify the user: no cookies, no Referer, no User-Agent.
//
// # Limits
//
// These are limited: the decompressed size of a response, its compression ratio, the time without
// progress, the total time, and the number of redirections. Reading a truncated or too large
// response ends in an error.
package fetch
