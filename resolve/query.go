package resolve

import (
	"strings"

	"github.com/nomen-project/nomen/internal/location"
	"github.com/nomen-project/nomen/rule"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/uri"
)

// passing appends the q-component and the plain query to the query of a location, as far as the
// policy permits.
func (d *decision) passing(at string) string {
	if d.q.Q != "" && d.policy.QComponent != store.PassIgnore {
		at = withQuery(at, d.q.Q)
	}
	if d.q.Query != "" && d.passesQuery() {
		at = withQuery(at, d.q.Query)
	}
	return at
}

// passesQuery reports whether to append the plain query. A setting of the rule from which the
// location comes takes precedence over the policy of the authority.
func (d *decision) passesQuery() bool {
	if d.ruling != nil && d.ruling.Query != "" {
		return d.ruling.Query == rule.QueryAppend
	}
	return d.policy.PassesQuery()
}

// withQuery appends an addition to the query of a location, before its fragment. It returns the
// location unchanged if the location cannot have a query, or if the addition is not valid in a
// query.
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

// beforeQuery returns the delimiter to insert before a text that is appended to the query of a URI.
// This is "?", or "&" if the URI already has a query. For a URN, the delimiter begins the
// q-component. The function returns false if parameters cannot be appended to queries of the
// scheme, as in mailto, ftp and ldap.
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

func takesQuery(scheme string) bool {
	switch scheme {
	case "ftp", "ftps", "sftp", "tftp", "gopher", "telnet", "tn3270", "rlogin", "ssh", "nntp", "news", "imap", "pop",
		"ldap", "ldaps", "wais", "prospero", "file", "smb", "nfs", "afs", "rsync", "git":
		return false
	}
	return true
}

// beforeQComponent is beforeQuery for a URN, whose query is the text after the first question mark
// and can contain a q-component (RFC 8141, section 2.3).
func beforeQComponent(query string, has bool, more string) (string, bool) {
	switch {
	case more[0] == '/' || more[0] == '?': // a q-component cannot begin like this
		return "", false
	case !has:
		return "?=", true
	case strings.HasPrefix(query, "="), strings.HasPrefix(query, "+") && strings.Contains(query, "?="):
		return "&", true
	case strings.HasPrefix(query, "+"):
		return "?=", true
	}
	return "", false // directives, or invalid
}
