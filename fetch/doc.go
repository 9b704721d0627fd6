// Package fetch follows a name or a locator to the resource: it is the part of
// the retrieval algorithms of package scheme that touches the world.
//
// # Schemes
//
// Spoken are http and https (RFC 9110), ftp (RFC 959, passive), gopher (RFC
// 1436 and what Gopher+ adds to an answer), news, snews and nntp (RFC 3977),
// whois (RFC 3912), data (RFC 2397), and file and afs on this machine. Any other
// scheme, such as wais and prospero, is reached through a gateway if one is
// configured. A telnet, rlogin or tn3270 locator is a session for a person: a
// [*SessionError] says which. Names (urn, ark, doi, hdl, info, tag) lead where
// their resolver says.
//
// # Trust
//
// What the user has named himself may be a file or at a private address, and
// may have credentials in it. A stranger's word may not: neither that to which a
// server redirects, nor the location that a resolver tells, nor anything that a
// server follows for others. A stranger cannot lead to
//
//   - addresses outside the public Internet, however they are spelled, checked
//     after DNS at the moment of connecting (package guard), with the address
//     alone that the user's own locator has led to excepted;
//   - files of this machine, and programs;
//   - ports on which other protocols are spoken (see [Options.AllowPrivate] for
//     what does not lift this);
//   - places to which credentials would be sent that somebody put into the
//     locator.
//
// Credentials of the user's locator are sent to its own origin alone. Nothing is
// sent that was not asked for: no cookies, no Referer, no User-Agent.
//
// # Limits
//
// Whatever comes is bounded while it streams: in bytes after decompression, in
// the ratio of decompression, in time without progress, in time altogether, in
// redirections. What is cut off or too large ends in an error, never in what
// looks like a whole.
package fetch
