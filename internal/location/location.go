// Package location says which URIs can be locations, by lists of schemes and rules for each scheme.
// These rules apply to the locations in records, to the results of rules and templates, to answers
// from other resolvers, and to links on pages.
//
// The package lists the schemes that are allowed. A list of dangerous schemes could never be
// complete, because clients pass URIs of many schemes to other programs (ms-msdt, search-ms,
// vscode, ssh).
package location

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/nomen-project/nomen/internal/pid"
	"github.com/nomen-project/nomen/uri"
)

type scheme struct {
	name string
	host bool // the URI must have a host
	line bool // clients decode parts of the URI and send them in a protocol with lines
	link bool // pages can link to the URI
}

// schemes are the schemes of resources. The first ten are the schemes of RFC 1738 except file and
// prospero. A location can also have a scheme of persistent identifiers ([pid.Schemes]), because
// these resolve to resources.
var schemes = [...]scheme{
	{name: "http", host: true, link: true},
	{name: "https", host: true, link: true},
	{name: "ftp", host: true, line: true, link: true},
	{name: "gopher", host: true, line: true, link: true},
	{name: "mailto", link: true},
	{name: "news", line: true, link: true},
	{name: "nntp", host: true, line: true, link: true},
	{name: "telnet", host: true, line: true, link: true},
	{name: "tn3270", host: true, line: true},
	{name: "wais", host: true, line: true, link: true},
	{name: "ftps", host: true, line: true, link: true},
	{name: "sftp", host: true, link: true},
	{name: "rsync", host: true, line: true},
	{name: "git", host: true, line: true},
	{name: "gemini", host: true, line: true, link: true},
	{name: "rtsp", host: true, line: true},
	{name: "ldap", link: true},
	{name: "ldaps", link: true},
	{name: "z39.50r", host: true},
	{name: "z39.50s", host: true},
	{name: "ipfs"},
	{name: "ipns"},
	{name: "magnet"},
}

// Allows reports whether a location can have the scheme. Letter case is ignored.
func Allows(name string) bool {
	_, ok := lookup(name)
	return ok
}

func lookup(name string) (scheme, bool) {
	for i := range schemes {
		if strings.EqualFold(schemes[i].name, name) {
			return schemes[i], true
		}
	}
	s := pid.Lookup(strings.ToLower(name))
	return scheme{name: s.Name}, s.Name != ""
}

// Runs reports whether following a link with this scheme, such as javascript, would make a browser
// run or show the content of the URI, or open an internal page. Letter case is ignored. Such URIs
// are not stored, not even as names. Most other schemes that locations cannot have are allowed for
// names, because the page about a name does not link to the name.
func Runs(scheme string) bool {
	switch strings.ToLower(scheme) {
	case "javascript", "data", "vbscript", "livescript", "mocha", "jscript",
		"blob", "filesystem", "about", "view-source", "jar", "chrome",
		"chrome-extension", "moz-extension", "resource", "res", "mhtml", "ms-its", "mk":
		return true
	}
	return false
}

// IsHarmless reports whether s is a URI with a scheme that browsers do not run (see [Runs]). Only
// such a URI can be a name or the target of a link in data.
func IsHarmless(s string) bool {
	u, err := uri.Parse(s)
	if err != nil {
		return false
	}
	scheme, _ := u.Scheme()
	return !Runs(scheme)
}

// An Error says why a URI cannot be a location.
type Error struct {
	Offset  int    // offset in the URI in bytes
	Rule    string // the invalid part
	Message string
}

func (e *Error) Error() string { return e.Message }

// Violation returns the violated rule, as [uri.InputError] requires. The Error itself is not an
// InputError, because it does not contain the input.
func (e *Error) Violation() uri.Violation {
	return uri.Violation{Offset: e.Offset, Rule: e.Rule, Message: e.Message}
}

// Check returns an error unless s is an absolute URI that can be a location. The error is an
// [*Error] or the error of [uri.Parse].
func Check(s string) error {
	u, err := uri.Parse(s)
	if err != nil {
		return err
	}
	return CheckURI(u)
}

// CheckURI is [Check] for a parsed URI. The error is an [*Error].
func CheckURI(u uri.URI) error {
	_, err := check(u)
	return err
}

const maxPort = 65535

func check(u uri.URI) (scheme, error) {
	fault := func(offset int, rule, format string, args ...any) (scheme, error) {
		return scheme{}, &Error{offset, rule, fmt.Sprintf(format, args...)}
	}
	name, _ := u.Scheme()
	s, ok := lookup(name)
	if !ok {
		return fault(0, "scheme", "scheme %q is not allowed in a location", name)
	}
	host, _ := u.Host()
	user, _ := u.Userinfo()
	port, _ := u.Port()
	authority := len(name) + len("://")
	hostAt := authority
	if user != "" {
		hostAt += len(user) + len("@")
	}
	switch {
	case s.host && host == "":
		return fault(len(name)+1, "host", "a location with scheme %s must have a host", s.name)
	case strings.IndexByte(user, ':') >= 0:
		return fault(authority, "userinfo", "a location must not contain a password")
	case beginsOption(user):
		return fault(authority, "userinfo", "must not begin with a hyphen: a program could take %q for an option", user)
	case beginsOption(host):
		return fault(hostAt, "host", "must not begin with a hyphen: a program could take %q for an option", host)
	case escapedControl(host) >= 0:
		return fault(hostAt+escapedControl(host), "host", "invalid control character in host")
	case !isPort(port):
		return fault(hostAt+len(host)+len(":"), "port", "invalid port %.20s: must not exceed %d", port, maxPort)
	}
	if i := escapedControl(u.String()); s.line && i >= 0 {
		return fault(i, "pct-encoded", "invalid escaped control character: it could break a line that a client sends")
	}
	return s, nil
}

// beginsOption reports whether s begins with a hyphen, escaped or not. Some programs take such text
// for a command-line option, and no host name begins with a hyphen.
func beginsOption(s string) bool {
	return strings.HasPrefix(s, "-") || strings.HasPrefix(s, "%2D") || strings.HasPrefix(s, "%2d")
}

func isPort(s string) bool {
	if s == "" {
		return true
	}
	n, err := strconv.ParseUint(s, 10, 64)
	return err == nil && n <= maxPort
}

// escapedControl returns the offset of the first escaped control character in s, or -1. All escapes
// in s must be well-formed.
func escapedControl(s string) int {
	for i := 0; i+2 < len(s); i++ {
		if s[i] != '%' {
			continue
		}
		if s[i+1] == '0' || s[i+1] == '1' || s[i+1] == '7' && s[i+2]|0x20 == 'f' {
			return i
		}
		i += 2
	}
	return -1
}

// IsLink reports whether a page can link to s. It can link to a telephone number, and to a location
// if following the link only sends a request.
func IsLink(s string) bool {
	u, err := uri.Parse(s)
	if err != nil {
		return false
	}
	at, err := check(u)
	return err == nil && at.link || isTelephone(u)
}

// CheckContact returns an error unless s is a URL where people can be contacted, for which [IsLink]
// is true. The error is an [*Error] or the error of [uri.Parse].
func CheckContact(s string) error {
	u, err := uri.Parse(s)
	if err != nil || IsLink(s) {
		return err
	}
	name, _ := u.Scheme()
	if strings.EqualFold(name, telephone) {
		return &Error{len(telephone) + 1, "tel", "invalid telephone number: expected for example tel:+1-201-555-0123"}
	}
	if _, err := check(u); err != nil && Allows(name) {
		return err
	}
	return &Error{0, "scheme", fmt.Sprintf("%q is not supported for a contact; use mailto:, https: or tel:", name)}
}

// telephone is the scheme of telephone numbers, which are contacts but not locations.
const telephone = "tel"

// isTelephone reports whether u is a telephone number (RFC 3966, section 3) of digits and
// separators. A number with "*" or "#" could be a command to the telephone or its network.
func isTelephone(u uri.URI) bool {
	name, _ := u.Scheme()
	if !strings.EqualFold(name, telephone) {
		return false
	}
	number, extension, extended := strings.Cut(u.String()[len(telephone)+1:], ";ext=")
	return isNumber(strings.TrimPrefix(number, "+")) && (!extended || isNumber(extension))
}

func isNumber(s string) bool {
	const digits = "0123456789"
	return strings.ContainsAny(s, digits) && strings.Trim(s, digits+"-.()") == ""
}
