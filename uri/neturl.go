package uri

import "net/url"

// FromURL returns the reference that u spells, in the latest dialect. The error is a
// *[Error] if net/url accepts what RFC 3986 does not, such as a space in a query.
func FromURL(u *url.URL) (URI, error) { return ParseReference(u.String()) }

// URL returns u as a value of net/url. It returns the error of net/url for what that
// package does not accept, such as a colon in the first segment of a path without a
// scheme, or a port that is not a number.
//
// net/url does not keep every spelling. What [FromURL] returns for the result is
// equivalent to u at [LevelPercent], except that
//
//   - an empty fragment, "#", is lost, and so is an empty authority before an empty
//     path, "x://";
//   - the scheme is in lower case;
//   - escapes of the user information and the host are decoded, and those that net/url
//     thinks necessary are written, which includes escapes of delimiters such as "%3B"
//     and ";" in user information.
func (u URI) URL() (*url.URL, error) { return url.Parse(u.s) }
