package scheme

import (
	"github.com/nomen-project/nomen/uri"
)

// Interactive sessions. They share a syntax (1993, Telnet, rlogin, tn3270; RFC
// 4248, 2; RFC 6270, 2).
var telnet, rlogin, tn3270 = session(Scheme{
	Name: "telnet", Title: "Reference to interactive sessions",
	Reference: "RFC 4248; RFC 1738, 3.8; 1993, Telnet, rlogin, tn3270",
	Example:   "telnet://guest@library.example.org:2323/", DefaultPort: "23",
}), session(Scheme{
	Name: "rlogin", Title: "Remote login",
	Reference: "1993, Telnet, rlogin, tn3270; RFC 1282",
	Example:   "rlogin://guest@library.example.org", DefaultPort: "513",
	Note: "not registered; there is no grammar of its own in the draft, nor elsewhere",
}), session(Scheme{
	Name: "tn3270", Title: "Interactive 3270 emulation sessions",
	Reference: "RFC 6270; 1993, Telnet, rlogin, tn3270",
	Example:   "tn3270://guest@library.example.org/", DefaultPort: "23",
})

// session completes a scheme of interactive sessions.
func session(s Scheme) Scheme {
	s.Kind, s.Transport, s.Interactive, s.RootPath = KindLocator, "tcp", true, true
	s.Security = "what is typed may go over the network in the clear; a name of a host or a user that begins with a hyphen is an option to some programs"
	s.Special = []Special{{uri.ComponentUserinfo, ":", "separates user name and password (not in 1993)"}}
	s.Retrieval = "none: a session is opened for a person, who is told the user name and the password"
	s.Rules = RuleSet{Check: checkSession, Parts: partsSession, Build: buildSession(s.Name, s.DefaultPort), Canonical: canonicalSession}
	return s
}

// The productions of sessions.
const (
	ruleTelnet1993 = "1993, BNF: telnetaddress"
	ruleTelnet     = "RFC 1738, 5: telneturl"
)

// checkSession checks that there are a host and nothing after it.
//
//	telnetaddress = "telnet://" [ user "@" ] hostport                  (1993)
//	telneturl     = "telnet://" login [ "/" ]
func checkSession(u uri.URI) []Finding {
	l := layoutOf(u)
	rule := ruleTelnet
	if l.is1993() {
		rule = ruleTelnet1993
	}
	if bad := l.needServer(rule); bad != nil {
		return bad
	}
	switch path := l.pathText(); {
	case path != "" && path != "/": // in 1993 the dialect has refused the slash too
		return refuse(l.path, l.pathEnd, rule, "nothing but a slash follows the host")
	case l.query >= 0:
		return refuse(l.query-1, l.queryEnd, rule, "there are no queries")
	}
	if bad := l.refuseControls(rule, "a session"); bad != nil {
		return bad
	}
	switch {
	case l.s[l.host] == '-':
		return []Finding{warn(CodeInjection, l.host, l.hostEnd, rule, "a host that begins with a hyphen is an option to some programs")}
	case l.user >= 0 && l.user < l.userEnd && l.s[l.user] == '-':
		return []Finding{warn(CodeInjection, l.user, l.userEnd, rule, "a user name that begins with a hyphen is an option to some programs")}
	case l.frag >= 0:
		return []Finding{remark(CodeFragment, l.frag-1, len(l.s), rule, "a session has no fragments")}
	}
	return nil
}

// partsSession takes user, host and port. In 1993 the user name is all that
// stands before the at-sign.
func partsSession(dst []Part, u uri.URI) []Part {
	t := take(dst, u)
	if t.is1993() && t.user >= 0 {
		t.data("user", t.user, t.userEnd)
	} else {
		t.login()
	}
	t.server()
	return t.parts
}

// canonicalSession writes the slash that may be omitted; in 1993 there is none.
func canonicalSession(u uri.URI) string {
	l := layoutOf(u)
	if l.is1993() || l.hasPath() {
		return l.s
	}
	return l.s[:l.path] + "/" + l.s[l.path:]
}

func buildSession(name, port string) func(uri.Dialect, []Part) (string, error) {
	return func(d uri.Dialect, parts []Part) (string, error) {
		return newBuilder(d, name, port, parts).text()
	}
}
