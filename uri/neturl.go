package uri

import "net/url"

// FromURL returns the reference that u spells, in the latest dialect. The error is a
// *[Error] if net/url accepts what RFC 3986 does not, such as a space in a query.
func FromURL(u *url.URL) (URI, error) { return ParseReference(u.String()) }

// URL returns u as a value of net/url. It returns the error of net/url if that package does
// not accept the spelling, for example because of a port that is not a number.
//
// net/url does not keep every spelling. If you convert the result back with [FromURL], you get
// a URI that is equivalent to u at [LevelPercent], except that
//
//   - an empty fragment, "#", is lost, and so is an empty authority before an empty
//     path, "x://";
//   - the scheme is in lower case;
//   - net/url decodes the user information and the host, and escapes them again by its own
//     rules. So "%3B" and ";" in user information, for example, become the same.
func (u URI) URL() (*url.URL, error) { return url.Parse(u.s) }
