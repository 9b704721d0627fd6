package nomen

import (
	"strings"

	"github.com/nomen-project/nomen/uri"
	"github.com/nomen-project/nomen/urn"
)

// Requested returns the question in the components of u, by its dialect, without Name and
// Subject: the r- and q-component of RFC 8141, 2.3, or the service of the directive s and the
// component of c in 2012, 2.3. Unregistered directives may have a meaning in the namespace of
// the name and go into Query. Directives that occur twice or name an unknown service are
// ignored, so that the default applies (2012, 2.3, 2.3.1).
func Requested(u urn.URN) Question {
	var q Question
	q.R, _ = u.RComponent()
	q.Q, _ = u.QComponent()
	keywords := urn.Keywords2012()
	all := u.Directives(keywords, func(keyword, value string) bool { return keyword != "s" || Service(value).Known() })
	if s, ok := all.Get("s"); ok {
		q.Service = Service(s)
	}
	if c, ok := all.Get("c"); ok {
		if text, err := uri.Unescape(c); err == nil {
			q.Component = text
		}
	}
	var others []string
	for _, d := range all {
		if _, registered := keywords.Lookup(d.Keyword); !registered {
			others = append(others, d.Keyword+"="+d.Value)
		}
	}
	q.Query = strings.Join(others, "&")
	return q
}
