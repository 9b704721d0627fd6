package uri

import (
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
)

// checkForm checks u against the rules of the draft of 1993 for searches, and against the form that
// its BNF defines for the scheme of u. It does not check the form for schemes that the BNF does not
// define.
func checkForm(u *URI) fault {
	if f := checkSearch(u); f.code != 0 {
		return f
	}
	if u.scheme == 0 || u.path == u.scheme+1 { // a partial form, or a URL without a host part
		return fault{}
	}
	switch scheme := u.s[:u.scheme]; {
	case ascii.EqualFold(scheme, "ftp"):
		return u.demand(ruleFTP, u.hasPath() && !u.hasSearch())
	case ascii.EqualFold(scheme, "afs"):
		return u.demand(ruleAFS, isCell(u) && u.hasPath() && !u.hasSearch())
	case ascii.EqualFold(scheme, "wais"):
		return u.demand(ruleWAIS, isWAIS(u.Path(), u.hasSearch()))
	case ascii.EqualFold(scheme, "prospero"):
		return u.demand(ruleProspero, u.hasPath() && !u.hasSearch() && isProspero(u.Path()[1:]))
	case ascii.EqualFold(scheme, "gopher"):
		return u.demand(ruleGopher, isGopherPath(u.Path()))
	case ascii.EqualFold(scheme, "telnet"), ascii.EqualFold(scheme, "rlogin"), ascii.EqualFold(scheme, "tn3270"):
		return u.demand(ruleTelnet, !u.hasPath() && !u.hasSearch())
	default:
		return fault{}
	}
}

func (u *URI) hasPath() bool   { return u.path < u.query }
func (u *URI) hasSearch() bool { return u.query < u.frag }

func (u *URI) demand(r rule, ok bool) fault {
	if ok {
		return fault{}
	}
	return fault{off: u.path, code: CodeForm, rule: r}
}

// checkSearch checks that the search of a URL, which is the query in later documents, has no empty
// words.
//
//	search = xalphas [ "+" search ]
func checkSearch(u *URI) fault {
	if !u.hasSearch() {
		return fault{}
	}
	bad := fault{code: CodeWord, rule: ruleQuery}
	plus := true
	for i := u.query + 1; i < u.frag; i++ {
		if u.s[i] == '+' && plus { // ?+b, ?a++b
			bad.off = i
			return bad
		}
		plus = u.s[i] == '+'
	}
	if plus {
		bad.off = u.frag
		return bad
	}
	return fault{}
}

// isWAIS reports whether path is the path of a WAIS index or document.
//
//	waisindex = "wais://" hostport "/" database [ "?" search ]
//	waisdoc   = "wais://" hostport "/" database "/" wtype "/" digits "/" path
func isWAIS(path string, search bool) bool {
	if path == "" {
		return false
	}
	database, rest, doc := strings.Cut(path[1:], "/")
	if !isXalphas(database) {
		return false
	}
	if !doc {
		return true
	}
	wtype, rest, _ := strings.Cut(rest, "/")
	digits, _, ok := strings.Cut(rest, "/")
	return ok && !search && isXalphas(wtype) && ascii.All(digits, ascii.IsDigit)
}

// isProspero reports whether path, without its first slash, is the path of a Prospero link. The
// delimiter of the fields of a link is "%00", the escape of NUL, so the path must be split before
// it is unescaped.
//
//	prosperolink = "prospero://" hostport "/" hsoname [ "%00" [ version ] *( "%00" attribute ) ]
func isProspero(path string) bool {
	_, rest, more := strings.Cut(path, "%00")
	if !more {
		return true
	}
	version, rest, more := strings.Cut(rest, "%00")
	if version != "" && !ascii.All(version, ascii.IsDigit) {
		return false
	}
	for more {
		var attribute string
		attribute, rest, more = strings.Cut(rest, "%00")
		if !ascii.All(attribute, ascii.IsAlnum) {
			return false
		}
	}
	return true
}

func isGopherPath(path string) bool {
	return len(path) < 2 || path[1] != '/' && path[1] != '+'
}

// isXalphas reports whether s, which must already match xpalphas or be empty, also matches xalphas.
func isXalphas(s string) bool { return s != "" && strings.IndexByte(s, '+') < 0 }

// isCell reports whether the authority is the name of an AFS cell, without user and port.
//
//	afsaddress = "afs://" cellname "/" path
func isCell(u *URI) bool {
	return u.kind == HostName && u.host == u.scheme+3 && u.hostEnd == u.path
}
