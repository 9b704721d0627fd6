package nomen

import (
	"strings"

	"github.com/nomen-project/nomen/uri"
	"github.com/nomen-project/nomen/urn"
)

// Requested returns the question that the components of a URN express, without Name and Subject.
// The dialect of u determines the possible components:
//
//   - RFC 8141, section 2.3: the r-component and the q-component.
//   - draft of 2012, sections 2.3 and 2.3.1: the directives s for the service and c for the
//     component. Unregistered directives become part of Query, because the namespace of the name
//     may define them. Repeated directives and unknown services are ignored.
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
