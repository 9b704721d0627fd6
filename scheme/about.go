package scheme

import (
	"strings"

	"github.com/nomen-project/nomen/uri"
)

var about = Scheme{
	Name: "about", Title: "Internal browser pages", Kind: KindOther,
	Reference:  "RFC 6694",
	Example:    "about:blank",
	Note:       "about:blank is an empty page; browsers define the other tokens",
	Security:   "links from other sites must not open a browser's settings pages; a blank page has the rights of the document that opened it",
	Properties: "identifies a page built into the browser",
	Rules:      RuleSet{Check: checkAbout, Parts: partsAbout},
}

const ruleAbout = "RFC 6694, 2.1: about-token"

// checkAbout checks that the path is a single token.
//
//	about-uri   = "about:" about-token [ about-query ] [ about-fragment ]
//	about-token = *pchar
func checkAbout(u uri.URI) []Finding {
	l := layoutOf(u)
	if bad := l.refuseAuthority(ruleAbout, "the token"); bad != nil {
		return bad
	}
	if slash := strings.IndexByte(l.pathText(), '/'); slash >= 0 {
		return refuse(l.path+slash, l.path+slash+1, ruleAbout, "the token must not contain a slash")
	}
	return nil
}

func partsAbout(dst []Part, u uri.URI) []Part {
	t := take(dst, u)
	t.data("token", t.path, t.pathEnd)
	t.search()
	t.fragment()
	return t.parts
}
