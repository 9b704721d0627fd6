package scheme

import (
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/scheme/internal/layout"
	"github.com/nomen-project/nomen/uri"
)

// Host-specific file names (RFC 8089). In the draft of 1993, "file" is another name for the scheme
// "ftp".
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
	l := layout.Of(u)
	if l.Is1993() {
		if bad := checkFTP1993(&l); bad != nil {
			return bad
		}
		return []Finding{layout.Instead(layout.Remark(CodeForm, 0, l.Rest-1, ruleFTP1993, "file addresses must be written with the scheme ftp"), "ftp")}
	}
	if bad := checkFileAuthority(&l); bad != nil {
		return bad
	}
	path := l.PathText()
	switch {
	case isDrivePath(path): // file:c:/x
		return []Finding{layout.Instead(layout.Broken(l.Path, l.Path+1, ruleFile, "a path with a drive letter needs leading slashes (E.2)"), "///"+path[:1])}
	case path == "" || path[0] != '/':
		return layout.Refuse(l.Path, l.Path, ruleFile, "the path must begin with a slash")
	case strings.HasPrefix(path, "//"): // file:////host/share
		return []Finding{layout.Instead(layout.Broken(l.Path, l.Path+2, ruleFile, "the path must not begin with two slashes; write the host after the first two (E.3.2)"), "")}
	case l.Query >= 0:
		return []Finding{layout.Instead(layout.Broken(l.Query-1, l.QueryEnd, ruleFile, "queries are not allowed; percent-encode a question mark in a file name as %3F"), "%3F"+l.Text[l.Query:l.QueryEnd])}
	case l.Authority && l.Host < l.HostEnd && !ascii.EqualFold(l.Text[l.Host:l.HostEnd], "localhost"):
		return []Finding{layout.Warn(CodeDanger, l.Host, l.HostEnd, "RFC 8089, 5", "a file on another host: opening it may send credentials there")}
	}
	return nil
}

func checkFileAuthority(l *layout.Layout) []Finding {
	switch {
	case !l.Authority:
		return nil
	case l.Host < 0:
		return layout.Refuse(l.Rest+2, l.Path, ruleFile, "the authority must be a host")
	case l.User >= 0:
		return layout.Refuse(l.User, l.UserEnd+1, ruleFile, "user information is not allowed (E.1)")
	case l.Port == l.PortEnd && l.Port >= 0 && l.HostEnd-l.Host == 1: // file://c:/x
		return []Finding{layout.Instead(layout.Broken(l.Host, l.PortEnd, ruleFile, "a drive letter must be in the path, not in place of the host (E.2)"), "/"+l.Text[l.Host:l.PortEnd])}
	case l.Port >= 0:
		return layout.Refuse(l.Port-1, l.PortEnd, ruleFile, "a port is not allowed")
	}
	return nil
}

func isDrivePath(path string) bool {
	return len(path) >= 2 && ascii.IsLetter(path[0]) && path[1] == ':' && (len(path) == 2 || path[2] == '/')
}

func partsFile(dst []Part, u uri.URI) []Part {
	if u.Dialect() == uri.Draft1993 {
		return partsFTP(dst, u)
	}
	t := layout.Take(dst, u)
	t.Server()
	path := t.PathText()
	at := 0
	if strings.HasPrefix(path, "/") {
		at = 1
	}
	if isDrivePath(path[at:]) {
		t.Part("drive", t.Path+at, t.Path+at+1)
	}
	t.Data("path", t.Path, t.PathEnd)
	appendSuffix(&t, t.PathEnd)
	return t.Parts
}

// canonicalFile omits the host localhost, so that the URI of a local file has three slashes (RFC
// 8089, section 2 and appendix B). It writes a drive letter in upper case (appendix E.2). In the
// dialect of 1993 it replaces the scheme file by ftp.
func canonicalFile(u uri.URI) string {
	l := layout.Of(u)
	if l.Is1993() {
		return "ftp" + l.Text[l.Rest-1:]
	}
	host := ""
	if l.Authority && !ascii.EqualFold(l.Text[l.Host:l.HostEnd], "localhost") {
		host = l.Text[l.Host:l.HostEnd]
	}
	path := l.PathText()
	if isDrivePath(path[1:]) {
		path = "/" + strings.ToUpper(path[1:2]) + path[2:]
	}
	return "file://" + host + path + l.Text[l.PathEnd:]
}
