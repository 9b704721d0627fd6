package scheme

import (
	"strings"

	"github.com/nomen-project/nomen/uri"
)

// Host-specific file names (RFC 8089). In 1993 the prefix is a synonym of ftp,
// whose locators the draft calls file addresses.
var file = Scheme{
	Name: "file", Title: "Host-specific file names", Kind: KindLocator,
	Reference: "RFC 8089; 1993, BNF: fileaddress",
	Example:   "file:///etc/hosts",
	Note: "the file depends on the machine of the reader; one slash, three slashes and localhost are equivalent; " +
		"Windows drive letters and double slashes are recognised, and rejected where the standard does not derive them",
	Security:     "opening a file on another host may send the user's credentials there",
	Hierarchical: true,
	Special:      []Special{{uri.ComponentPath, "/", "separates directory names"}},
	Retrieval:    "open the file on this machine, if the host is this machine or absent",
	Rules:        RuleSet{Check: checkFile, Parts: partsFile, Canonical: canonicalFile},
}

const ruleFile = "RFC 8089, 2: file-URI"

// checkFile checks a file URI.
//
//	file-URI       = file-scheme ":" file-hier-part
//	file-hier-part = ( "//" auth-path ) / local-path
//	auth-path      = [ file-auth ] path-absolute
//	local-path     = path-absolute
//	file-auth      = "localhost" / host
func checkFile(u uri.URI) []Finding {
	l := layoutOf(u)
	if l.is1993() {
		if bad := checkFTP1993(&l); bad != nil {
			return bad
		}
		return []Finding{instead(remark(CodeForm, 0, l.rest-1, ruleFTP1993, "file addresses must be written with the scheme ftp"), "ftp")}
	}
	if bad := l.checkFileAuthority(); bad != nil {
		return bad
	}
	path := l.pathText()
	switch {
	case isDrivePath(path): // file:c:/x
		return []Finding{instead(broken(l.path, l.path+1, ruleFile, "a path with a drive letter needs leading slashes (E.2)"), "///"+path[:1])}
	case path == "" || path[0] != '/':
		return refuse(l.path, l.path, ruleFile, "the path must begin with a slash")
	case strings.HasPrefix(path, "//"): // file:////host/share
		return []Finding{instead(broken(l.path, l.path+2, ruleFile, "the path must not begin with two slashes; write the host after the first two (E.3.2)"), "")}
	case l.query >= 0:
		return []Finding{instead(broken(l.query-1, l.queryEnd, ruleFile, "queries are not allowed; percent-encode a question mark in a file name as %3F"), "%3F"+l.s[l.query:l.queryEnd])}
	case l.authority && l.host < l.hostEnd && !equalFold(l.s[l.host:l.hostEnd], "localhost"):
		return []Finding{warn(CodeDanger, l.host, l.hostEnd, "RFC 8089, 5", "a file on another host: opening it may send credentials there")}
	}
	return nil
}

// checkFileAuthority checks the authority, which may only be a host.
func (l *layout) checkFileAuthority() []Finding {
	switch {
	case !l.authority:
		return nil
	case l.host < 0:
		return refuse(l.rest+2, l.path, ruleFile, "the authority must be a host")
	case l.user >= 0:
		return refuse(l.user, l.userEnd+1, ruleFile, "user information is not allowed (E.1)")
	case l.port == l.portEnd && l.port >= 0 && l.hostEnd-l.host == 1: // file://c:/x
		return []Finding{instead(broken(l.host, l.portEnd, ruleFile, "a drive letter must be in the path, not in place of the host (E.2)"), "/"+l.s[l.host:l.portEnd])}
	case l.port >= 0:
		return refuse(l.port-1, l.portEnd, ruleFile, "a port is not allowed")
	}
	return nil
}

// isDrivePath reports whether a path begins with a drive letter and a colon.
func isDrivePath(path string) bool {
	return len(path) >= 2 && isAlpha(path[0]) && path[1] == ':' && (len(path) == 2 || path[2] == '/')
}

// partsFile adds the host, the drive letter and the path.
func partsFile(dst []Part, u uri.URI) []Part {
	if u.Dialect() == uri.Draft1993 {
		return partsFTP(dst, u)
	}
	t := take(dst, u)
	t.server()
	path := t.pathText()
	at := 0
	if strings.HasPrefix(path, "/") {
		at = 1
	}
	if isDrivePath(path[at:]) {
		t.part("drive", t.path+at, t.path+at+1)
	}
	t.data("path", t.path, t.pathEnd)
	t.suffix(t.pathEnd)
	return t.parts
}

// canonicalFile writes three slashes (RFC 8089, 2 and B) and a drive letter in
// upper case (E.2).
func canonicalFile(u uri.URI) string {
	l := layoutOf(u)
	if l.is1993() {
		return "ftp" + l.s[l.rest-1:]
	}
	host := ""
	if l.authority && !equalFold(l.s[l.host:l.hostEnd], "localhost") {
		host = l.s[l.host:l.hostEnd]
	}
	path := l.pathText()
	if isDrivePath(path[1:]) {
		path = "/" + strings.ToUpper(path[1:2]) + path[2:]
	}
	return "file://" + host + path + l.s[l.pathEnd:]
}
