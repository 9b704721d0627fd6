package scheme

import (
	"github.com/nomen-project/nomen/internal/pid"
	"github.com/nomen-project/nomen/scheme/internal/layout"
	"github.com/nomen-project/nomen/uri"
)

var http = Scheme{
	Name: "http", Title: "Hypertext Transfer Protocol", Kind: KindLocator,
	Reference:   "RFC 9110, 4.2.1; RFC 1738, 3.3; 1993, HTTP",
	Example:     "http://example.org/a/b?q=1",
	Security:    "others on the network path can read and change the data; user information before the host is used to deceive",
	DefaultPort: pid.HTTP.DefaultPort, Transport: "tcp", Hierarchical: true, RootPath: pid.HTTP.RootPath,
	Special: []Special{{uri.ComponentPath, "/", "hierarchy"}},
	Retrieval: "connect to the host and request the path and query as spelled, without the fragment; " +
		"the response is the object with its media type, or another locator",
	Rules: RuleSet{Check: checkHTTP, Parts: layout.Generic, Build: buildWeb(pid.HTTP)},
}

var https = Scheme{
	Name: "https", Title: "Hypertext Transfer Protocol Secure", Kind: KindLocator,
	Reference:   "RFC 9110, 4.2.2",
	Example:     "https://example.org/a/b?q=1",
	Security:    "the certificate proves the host, not what it publishes; user information before the host is used to deceive",
	DefaultPort: pid.HTTPS.DefaultPort, Transport: "tcp", Hierarchical: true, RootPath: pid.HTTPS.RootPath,
	Special:   []Special{{uri.ComponentPath, "/", "hierarchy"}},
	Retrieval: http.Retrieval,
	Rules:     RuleSet{Check: checkHTTP, Parts: layout.Generic, Build: buildWeb(pid.HTTPS)},
}

func httpRule(l *layout.Layout) string {
	if l.Is1993() {
		return "1993, BNF: httpaddress"
	}
	return "RFC 9110, 4.2.1: http-URI"
}

// checkHTTP checks that there is a host, and warns of user information. RFC 1738, section 3.3 does
// not allow user information, and RFC 9110, section 4.2.4 treats it as a sign of fraud.
//
//	http-URI = "http" "://" authority path-abempty [ "?" query ]
//	httpaddress = "http://" hostport [ "/" path ] [ "?" search ]       (1993)
func checkHTTP(u uri.URI) []Finding {
	l := layout.Of(u)
	switch {
	case !l.Authority:
		return layout.Refuse(l.Rest, l.Rest, httpRule(&l), "missing // and host after the colon")
	case l.Host < 0 || l.Host == l.HostEnd:
		return layout.Refuse(l.Rest+2, l.Rest+2, httpRule(&l), "the host must not be empty")
	case l.User >= 0 && l.Is1993():
		return []Finding{layout.Warn(CodeCredentials, l.User, l.UserEnd, httpRule(&l), "a user name is not allowed")}
	case l.User >= 0:
		return []Finding{layout.Warn(CodeCredentials, l.User, l.UserEnd, "RFC 9110, 4.2.4: userinfo",
			"user information can hide the real host: treat it as an error in a locator from an untrusted source")}
	}
	if f := pid.CheckWeb(u); f != nil {
		return []Finding{layout.Instead(layout.Warn(CodeValue, f.Offset, f.End, f.Rule, f.Message), f.Right)}
	}
	return nil
}

func buildWeb(rules uri.SchemeRules) func(uri.Dialect, []Part) (string, error) {
	return func(d uri.Dialect, parts []Part) (string, error) {
		w := newBuilder(d, rules.Scheme, rules.DefaultPort, parts)
		w.path()
		w.search()
		w.fragment()
		return w.text()
	}
}
