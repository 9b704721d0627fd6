package uri

import "net/url"

// FromURL converts u to a reference in the dialect [Latest]. The error is an *[Error] if u contains
// something that net/url accepts and RFC 3986 does not, such as a space in the query.
func FromURL(u *url.URL) (URI, error) { return ParseReference(u.String()) }

// URL converts u to a [url.URL]. If net/url rejects the spelling, URL returns the error of net/url.
//
// net/url does not preserve every spelling. Converting the result back with [FromURL] gives a URI
// that is equivalent to u at [LevelPercent], except that
//
//   - an empty fragment, "#", is lost, and so is an empty authority before an empty
//     path, "x://";
//   - the scheme is in lower case;
//   - net/url decodes the user information and the host, and escapes them again by its own rules.
//     For example, "%3B" and ";" in user information become the same.
func (u URI) URL() (*url.URL, error) { return url.Parse(u.s) }
