// Package scheme knows what particular URI schemes add to the generic syntax:
// today the rules by which the spellings of a web or FTP locator are the same
// (RFC 3986, 6.2.3; RFC 9110, 4.2.3).
package scheme

import "github.com/nomen-project/nomen/uri"

// Rules returns the normalisation rules of all schemes that have any, to be
// handed to [uri.URI.Normalize].
func Rules() []uri.SchemeRules {
	return []uri.SchemeRules{
		{Scheme: "http", DefaultPort: "80", RootPath: true},
		{Scheme: "https", DefaultPort: "443", RootPath: true},
		{Scheme: "ftp", DefaultPort: "21", RootPath: true},
	}
}
