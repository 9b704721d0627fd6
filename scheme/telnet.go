package scheme

import (
	"github.com/nomen-project/nomen/scheme/internal/layout"
	"github.com/nomen-project/nomen/uri"
)

// The schemes of interactive sessions, which have the same syntax (draft of 1993, section "Telnet,
// rlogin, tn3270"; RFC 4248, section 2; RFC 6270, section 2).
var telnet, rlogin, tn3270 = session(Scheme{
	Name: "telnet", Title: "Reference to interactive sessions",
	Reference: "RFC 4248; RFC 1738, 3.8; 1993, Telnet, rlogin, tn3270",
	Example:   "telnet://guest@library.example.org:2323/", DefaultPort: "23",
}), session(Scheme{
	Name: "rlogin", Title: "Remote login",
	Reference: "1993, Telnet, rlogin, tn3270; RFC 1282",
	Example:   "rlogin://guest@library.example.org", DefaultPort: "513",
	Note: "not registered; neither the draft nor any other document defines a grammar",
}), session(Scheme{
	Name: "tn3270", Title: "Interactive 3270 emulation sessions",
	Reference: "RFC 6270; 1993, Telnet, rlogin, tn3270",
	Example:   "tn3270://guest@library.example.org/", DefaultPort: "23",
})

// session sets the fields that the schemes of interactive sessions share, and returns the scheme.
func session(s Scheme) Scheme {
	s.Kind, s.Transport, s.Interactive, s.RootPath = KindLocator, "tcp", true, true
	s.Security = "input may be sent in the clear; some programs interpret a host or user name that begins with a hyphen as an option"
	s.Special = []Special{{uri.ComponentUserinfo, ":", "separates the user name and password (not in the draft of 1993)"}}
	s.Retrieval = "none: opens a session for a person, who is shown the user name and password"
	s.Rules = RuleSet{Check: checkSession, Parts: partsSession, Build: buildSession(s.Name, s.DefaultPort), Canonical: canonicalSession}
	return s
}

const (
	ruleTelnet1993 = "1993, BNF: telnetaddress"
	ruleTelnet     = "RFC 1738, 5: telneturl"
)

// checkSession checks that there is a host, followed by at most a slash.
//
//	telnetaddress = "telnet://" [ user "@" ] hostport                  (1993)
//	telneturl     = "telnet://" login [ "/" ]
func checkSession(u uri.URI) []Finding {
	l := layout.Of(u)
	rule := ruleTelnet
	if l.Is1993() {
		rule = ruleTelnet1993
	}
	if bad := l.NeedServer(rule); bad != nil {
		return bad
	}
	switch path := l.PathText(); {
	case path != "" && path != "/": // the dialect of 1993 rejects even the slash
		return layout.Refuse(l.Path, l.PathEnd, rule, "only a slash may follow the host")
	case l.Query >= 0:
		return layout.Refuse(l.Query-1, l.QueryEnd, rule, "queries are not allowed")
	}
	if bad := l.RefuseControls(rule, "a session"); bad != nil {
		return bad
	}
	switch {
	case l.Text[l.Host] == '-':
		return []Finding{layout.Warn(CodeInjection, l.Host, l.HostEnd, rule, "some programs interpret a host that begins with a hyphen as an option")}
	case l.User >= 0 && l.User < l.UserEnd && l.Text[l.User] == '-':
		return []Finding{layout.Warn(CodeInjection, l.User, l.UserEnd, rule, "some programs interpret a user name that begins with a hyphen as an option")}
	case l.Frag >= 0:
		return []Finding{layout.Remark(CodeFragment, l.Frag-1, len(l.Text), rule, "a session has no fragments")}
	}
	return nil
}

// partsSession adds the user, host and port. In the draft of 1993 the user name is everything
// before the at sign, even if it contains a colon.
func partsSession(dst []Part, u uri.URI) []Part {
	t := layout.Take(dst, u)
	if t.Is1993() && t.User >= 0 {
		t.Data("user", t.User, t.UserEnd)
	} else {
		t.Login()
	}
	t.Server()
	return t.Parts
}

// canonicalSession adds a slash at the end, except in the draft of 1993.
func canonicalSession(u uri.URI) string {
	l := layout.Of(u)
	if l.Is1993() || l.HasPath() {
		return l.Text
	}
	return l.Text[:l.Path] + "/" + l.Text[l.Path:]
}

func buildSession(name, port string) func(uri.Dialect, []Part) (string, error) {
	return func(d uri.Dialect, parts []Part) (string, error) {
		return newBuilder(d, name, port, parts).text()
	}
}
