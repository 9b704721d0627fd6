package extra

import (
	"strings"

	"github.com/nomen-project/nomen/scheme"
	"github.com/nomen-project/nomen/scheme/internal/layout"
	"github.com/nomen-project/nomen/uri"
)

var about = scheme.Scheme{
	Name: "about", Title: "Internal browser pages", Kind: scheme.KindOther,
	Reference:  "RFC 6694",
	Example:    "about:blank",
	Note:       "about:blank is an empty page; browsers define the other tokens",
	Security:   "links from other sites must not open a browser's settings pages; a blank page has the rights of the document that opened it",
	Properties: "identifies a page built into the browser",
	Rules:      scheme.RuleSet{Check: checkAbout, Parts: partsAbout},
}

const ruleAbout = "RFC 6694, 2.1: about-token"

// checkAbout checks that the path is a single token.
//
//	about-uri   = "about:" about-token [ about-query ] [ about-fragment ]
//	about-token = *pchar
func checkAbout(u uri.URI) []scheme.Finding {
	l := layout.Of(u)
	if bad := refuseAuthority(&l, ruleAbout, "the token"); bad != nil {
		return bad
	}
	if slash := strings.IndexByte(l.PathText(), '/'); slash >= 0 {
		return layout.Refuse(l.Path+slash, l.Path+slash+1, ruleAbout, "the token must not contain a slash")
	}
	return nil
}

func partsAbout(dst []scheme.Part, u uri.URI) []scheme.Part {
	t := layout.Take(dst, u)
	t.Data("token", t.Path, t.PathEnd)
	t.Search()
	t.Fragment()
	return t.Parts
}
