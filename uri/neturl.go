package uri

import "net/url"

// FromURL converts u to a reference in the dialect [Latest]. The error is an *[Error] if u contains
// something that net/url accepts and RFC 3986 does not, such as a space in the query.
func FromURL(u *url.URL) (URI, error) { return ParseReference(u.String()) }

// URL converts u to a net/url URL. The error is that of net/url if it rejects the spelling, for
// example because of a port that is not a number.
//
// net/url does not preserve every spelling. Converting the result back with [FromURL] gives a URI
// that is equivalent to u at [LevelPercent], except that
//
//   - an empty fragment, "#", is lost, and so is an empty authority before an empty
//     path, "x://";
//   - the scheme is in lower case;
//   - net/url decodes the user information and the host, and escapes them again by its own
//     rules. So "%3B" and ";" in user information, for example, become the same.
func (u URI) URL() (*url.URL, error) { return url.Parse(u.s) }
