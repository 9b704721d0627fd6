package resolve

import (
	"strings"

	"github.com/nomen-project/nomen/internal/location"
	"github.com/nomen-project/nomen/rule"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/uri"
)

// passing returns the location in the parameter at with the q-component appended to its query. If
// the authority says so, it also appends the plain query.
func (d *decision) passing(at string) string {
	if d.q.Q != "" && d.policy.QComponent != store.PassIgnore {
		at = withQuery(at, d.q.Q)
	}
	if d.q.Query != "" && d.passesQuery() {
		at = withQuery(at, d.q.Query)
	}
	return at
}

// passesQuery reports whether the plain query is appended to a location. The rule that gives the
// location decides, or the authority.
func (d *decision) passesQuery() bool {
	if d.ruling != nil && d.ruling.Query != "" {
		return d.ruling.Query == rule.QueryAppend
	}
	return d.policy.PassesQuery()
}

// withQuery returns a location with an addition to its query, before a fragment. If the location
// cannot have a query, or if the addition is not valid in its query, withQuery returns the location
// unchanged.
func withQuery(at, addition string) string {
	u, err := uri.Parse(at)
	if err != nil || addition == "" || strings.Contains(addition, "#") {
		return at
	}
	separator, ok := beforeQuery(u, addition)
	if !ok {
		return at
	}
	head, fragment, hasFragment := strings.Cut(at, "#")
	longer := head + separator + addition
	if hasFragment {
		longer += "#" + fragment
	}
	if location.Check(longer) != nil {
		return at
	}
	return longer
}

// beforeQuery returns the delimiter between a URI and a text that is appended to its query. The
// delimiter is "?", or "&" if the URI has a query. For a URN, it returns the delimiter of the
// q-component. If ok is false, the scheme has no such query. Examples are mailboxes, FTP files and
// LDAP searches.
func beforeQuery(u uri.URI, more string) (string, bool) {
	scheme, _ := u.Scheme()
	scheme = strings.ToLower(scheme)
	query, has := u.Query()
	if scheme == "urn" {
		return beforeQComponent(query, has, more)
	}
	if _, ok := u.Authority(); !ok || !takesQuery(scheme) {
		return "", false
	}
	switch {
	case !has:
		return "?", true
	case query == "", strings.HasSuffix(query, "&"):
		return "", true
	}
	return "&", true
}

// takesQuery reports whether a parameter may be appended to the query of a URI of this scheme. The
// URI must have an authority component.
func takesQuery(scheme string) bool {
	switch scheme {
	case "ftp", "ftps", "sftp", "tftp", "gopher", "telnet", "tn3270", "rlogin", "ssh", "nntp", "news", "imap", "pop",
		"ldap", "ldaps", "wais", "prospero", "file", "smb", "nfs", "afs", "rsync", "git":
		return false
	}
	return true
}

// beforeQComponent is like beforeQuery, for a URN. The text after the first question mark of a URN
// can contain a q-component (RFC 8141, 2.3).
func beforeQComponent(query string, has bool, more string) (string, bool) {
	switch {
	case more[0] == '/' || more[0] == '?': // a q-component cannot begin with this character
		return "", false
	case !has:
		return "?=", true
	case strings.HasPrefix(query, "="), strings.HasPrefix(query, "+") && strings.Contains(query, "?="):
		return "&", true
	case strings.HasPrefix(query, "+"):
		return "?=", true
	}
	return "", false // the query has directives, or is invalid in a URN
}
