package scheme

import (
	"strings"

	"github.com/nomen-project/nomen/uri"
)

var about = Scheme{
	Name: "about", Title: "Pages of the browser itself", Kind: KindOther,
	Reference:  "RFC 6694",
	Example:    "about:blank",
	Note:       "blank is an empty page; what other words mean is for each browser to say",
	Security:   "pages with the settings of a browser must not be led to by others; a blank page has the rights of who opened it",
	Properties: "a page that the browser has, or none",
	Rules:      RuleSet{Check: checkAbout, Parts: partsAbout},
}

const ruleAbout = "RFC 6694, 2.1: about-token"

// checkAbout checks a word.
//
//	about-uri   = "about:" about-token [ about-query ] [ about-fragment ]
//	about-token = *pchar
func checkAbout(u uri.URI) []Finding {
	l := layoutOf(u)
	if bad := l.refuseAuthority(ruleAbout, "the word"); bad != nil {
		return bad
	}
	if slash := strings.IndexByte(l.pathText(), '/'); slash >= 0 {
		return refuse(l.path+slash, l.path+slash+1, ruleAbout, "there is one word, without slashes")
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
