package uri

// A Dialect is a generation of the generic syntax. The zero Dialect is not
// valid.
type Dialect uint8

// The dialects, by year.
const (
	Draft1993 Dialect = iota + 1 // draft-ietf-uri-url, July 1993
	Draft1997                    // draft-fielding-url-syntax-05, May 1997
	Draft2003                    // draft-fielding-uri-rfc2396bis-01, March 2003
	RFC3986                      // RFC 3986, January 2005

	// Latest is the dialect of the functions that do not name one.
	Latest = RFC3986
)

// String returns the name of the dialect on the command line: 1993, 1997, 2003
// or rfc3986.
func (d Dialect) String() string {
	switch d {
	case Draft1993:
		return "1993"
	case Draft1997:
		return "1997"
	case Draft2003:
		return "2003"
	case RFC3986:
		return "rfc3986"
	default:
		return "invalid"
	}
}

// ParseDialect returns the dialect with the name s; see [Dialect.String].
func ParseDialect(s string) (Dialect, bool) {
	for d := Draft1993; d <= Latest; d++ {
		if d.String() == s {
			return d, true
		}
	}
	return 0, false
}
