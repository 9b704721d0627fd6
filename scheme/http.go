package scheme

import "github.com/nomen-project/nomen/uri"

var http = Scheme{
	Name: "http", Title: "Hypertext Transfer Protocol", Kind: KindLocator,
	Reference:   "RFC 9110, 4.2.1; RFC 1738, 3.3; 1993, HTTP",
	Example:     "http://example.org/a/b?q=1",
	Security:    "everybody on the way can read and change what is sent; user information before the host is used to deceive",
	DefaultPort: "80", Transport: "tcp", Hierarchical: true, RootPath: true,
	Special: []Special{{uri.ComponentPath, "/", "hierarchy"}},
	Retrieval: "connect to the host, ask for path and query as they are spelled, without the fragment; " +
		"the answer is the object with its media type, or another locator",
	Rules: RuleSet{Check: checkHTTP, Parts: partsHTTP, Build: buildWeb("http", "80"), Request: requestHTTP},
}

var https = Scheme{
	Name: "https", Title: "Hypertext Transfer Protocol Secure", Kind: KindLocator,
	Reference:   "RFC 9110, 4.2.2",
	Example:     "https://example.org/a/b?q=1",
	Security:    "the certificate vouches for the host, not for what it says; user information before the host is used to deceive",
	DefaultPort: "443", Transport: "tcp", Hierarchical: true, RootPath: true,
	Special:   []Special{{uri.ComponentPath, "/", "hierarchy"}},
	Retrieval: http.Retrieval,
	Rules:     RuleSet{Check: checkHTTP, Parts: partsHTTP, Build: buildWeb("https", "443"), Request: requestHTTP},
}

// httpRule names the production that a URI of HTTP has to be.
func httpRule(l *layout) string {
	if l.is1993() {
		return "1993, BNF: httpaddress"
	}
	return "RFC 9110, 4.2.1: http-URI"
}

// checkHTTP checks that there is a host, and warns of user information, which
// the documents do not provide for (RFC 1738, 3.3) and RFC 9110, 4.2.4 calls a
// sign of fraud.
//
//	http-URI = "http" "://" authority path-abempty [ "?" query ]
//	httpaddress = "http://" hostport [ "/" path ] [ "?" search ]       (1993)
func checkHTTP(u uri.URI) []Finding {
	l := layoutOf(u)
	switch {
	case !l.authority:
		return refuse(l.rest, l.rest, httpRule(&l), "needs // and a host after the colon")
	case l.host < 0 || l.host == l.hostEnd:
		return refuse(l.rest+2, l.rest+2, httpRule(&l), "the host must not be empty")
	case l.user >= 0 && l.is1993():
		return []Finding{warn(CodeCredentials, l.user, l.userEnd, httpRule(&l), "no user name is provided for")}
	case l.user >= 0:
		return []Finding{warn(CodeCredentials, l.user, l.userEnd, "RFC 9110, 4.2.4: userinfo",
			"treat user information in a locator from elsewhere as an error: it is there to hide the host")}
	}
	return nil
}

// partsHTTP takes the parts of a web locator.
func partsHTTP(dst []Part, u uri.URI) []Part {
	t := take(dst, u)
	t.login()
	t.server()
	t.rooted("path")
	t.search()
	t.fragment()
	return t.parts
}

// buildWeb writes host, port, path, search and fragment. A port that is the
// default is left out.
func buildWeb(name, port string) func(uri.Dialect, []Part) (string, error) {
	return func(d uri.Dialect, parts []Part) (string, error) {
		w := newBuilder(d, name, port, parts)
		w.path()
		w.search()
		w.fragment()
		return w.text()
	}
}

// requestHTTP asks for path and search as they are spelled; the fragment stays
// with the client (1993, HTTP).
func requestHTTP(u uri.URI, _ Client) (Request, error) {
	l := layoutOf(u)
	target := l.s[l.path:l.end()]
	if l.path == l.pathEnd {
		target = "/" + target
	}
	return Request{Send: target}, nil
}
