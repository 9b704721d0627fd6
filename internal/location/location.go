// Package location holds the one list of what a location may be: the schemes that
// resolvers may send clients to, and what a location of each must and must not
// contain. Every door uses it: records that are stored, rules and templates after
// their expansion, answers of other resolvers, and the links of pages.
//
// It is an allow list. Clients hand URIs of schemes that they do not know to other
// programs (ms-msdt, search-ms, vscode, ssh), and no list of those is ever complete.
package location

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/nomen-project/nomen/internal/pid"
	"github.com/nomen-project/nomen/uri"
)

// A scheme is one that a location may have, and what its locations must keep.
type scheme struct {
	name string
	host bool // it names a host
	line bool // clients send decoded parts of it in lines of commands
	link bool // a page may have it as a link that a click follows
}

// schemes are those of places where a resource is. A location may also have one of the
// schemes of persistent identifiers, which lead on to it ([pid.Schemes]).
// The first ten are those of RFC 1738 without file and prospero.
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

// Schemes returns the schemes that a location may have, in lower case.
func Schemes() []string {
	all := make([]string, len(schemes))
	for i, s := range schemes {
		all[i] = s.name
	}
	return append(all, pid.Schemes()...)
}

// Allows reports whether a location may have a scheme, in any case.
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

// Runs reports whether a browser that follows a link of this scheme, in any case,
// runs or shows what the link itself holds, or opens its own insides. Nothing of such
// a scheme is stored, not even as a name. Most other schemes that a location may not
// have are fit for names, which lead to their description.
func Runs(scheme string) bool {
	switch strings.ToLower(scheme) {
	case "javascript", "data", "vbscript", "livescript", "mocha", "jscript",
		"blob", "filesystem", "about", "view-source", "jar", "chrome",
		"chrome-extension", "moz-extension", "resource", "res", "mhtml", "ms-its", "mk":
		return true
	}
	return false
}

// An Error says why something cannot be a location.
type Error struct {
	Offset  int    // in bytes
	Rule    string // the part that is at fault
	Message string
}

func (e *Error) Error() string { return e.Message }

// Violation makes e a [uri.InputError] without the input.
func (e *Error) Violation() uri.Violation {
	return uri.Violation{Offset: e.Offset, Rule: e.Rule, Message: e.Message}
}

// Check accepts an absolute URI to which a client can be sent. The error is an
// [*Error] or that of [uri.Parse].
func Check(s string) error {
	u, err := uri.Parse(s)
	if err != nil {
		return err
	}
	return CheckURI(u)
}

// CheckURI is [Check] for a URI that was parsed. The error is nil or an [*Error].
func CheckURI(u uri.URI) error {
	_, err := check(u)
	return err
}

// maxPort is the highest port of TCP.
const maxPort = 65535

func check(u uri.URI) (scheme, error) {
	fault := func(offset int, rule, format string, args ...any) (scheme, error) {
		return scheme{}, &Error{offset, rule, fmt.Sprintf(format, args...)}
	}
	name, _ := u.Scheme()
	s, ok := lookup(name)
	if !ok {
		return fault(0, "scheme", "%q is not among the schemes that a location may have", name)
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
		return fault(len(name)+1, "host", "a location of the scheme %s names a host", s.name)
	case strings.IndexByte(user, ':') >= 0:
		return fault(authority, "userinfo", "a location holds no password")
	case beginsOption(user):
		return fault(authority, "userinfo", "%q would be an option of the program that follows the location", user)
	case beginsOption(host):
		return fault(hostAt, "host", "%q would be an option of the program that follows the location", host)
	case escapedControl(host) >= 0:
		return fault(hostAt+escapedControl(host), "host", "no name of a host has a control character")
	case !isPort(port):
		return fault(hostAt+len(host)+len(":"), "port", "no port has the number %.20s: the highest is %d", port, maxPort)
	}
	if i := escapedControl(u.String()); s.line && i >= 0 {
		return fault(i, "pct-encoded", "an escaped control character would break the line in which a client sends it")
	}
	return s, nil
}

// beginsOption reports whether s begins with a hyphen, escaped or not: what programs
// on a command line take for an option. No name of a host begins like that.
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

// escapedControl returns the offset of the first escape of a control character,
// or -1. The escapes of s are well formed.
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

// IsLink reports whether a page may have s as a link that a click follows: a
// location of a scheme with which a browser, or the program that it starts, only
// asks for something; or a telephone number.
func IsLink(s string) bool {
	u, err := uri.Parse(s)
	if err != nil {
		return false
	}
	at, err := check(u)
	return err == nil && at.link || isTelephone(u)
}

// CheckContact accepts a URL at which people can be reached, which is one that
// [IsLink]. The error is an [*Error] or that of [uri.Parse].
func CheckContact(s string) error {
	u, err := uri.Parse(s)
	if err != nil || IsLink(s) {
		return err
	}
	name, _ := u.Scheme()
	if strings.EqualFold(name, telephone) {
		return &Error{len(telephone) + 1, "tel", "want a telephone number such as tel:+1-201-555-0123"}
	}
	if _, err := check(u); err != nil && Allows(name) {
		return err
	}
	return &Error{0, "scheme", fmt.Sprintf("%q is not supported for a contact; use mailto:, https: or tel:", name)}
}

// telephone is the scheme of telephone numbers, which are contacts and never locations.
const telephone = "tel"

// isTelephone reports whether u is a telephone number (RFC 3966, section 3) of digits
// alone. One with "*" or "#" may be a command to the phone or to its network.
func isTelephone(u uri.URI) bool {
	name, _ := u.Scheme()
	if !strings.EqualFold(name, telephone) {
		return false
	}
	number, extension, extended := strings.Cut(u.String()[len(telephone)+1:], ";ext=")
	return isNumber(strings.TrimPrefix(number, "+")) && (!extended || isNumber(extension))
}

// isNumber reports whether s has digits, perhaps with visual separators, and nothing else.
func isNumber(s string) bool {
	const digits = "0123456789"
	return strings.ContainsAny(s, digits) && strings.Trim(s, digits+"-.()") == ""
}
