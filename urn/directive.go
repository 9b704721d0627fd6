package urn

import "strings"

// A Directive is one of the instructions to a resolver in the query of
// [Draft2012] (2.3).
type Directive struct {
	Keyword string // case matters
	Value   string // as spelled; case matters
	Ignored bool   // it is as if it were not there
}

// Directives are the directives of one query, in the order of the query, which
// has no meaning.
type Directives []Directive

// Get returns the value of the directive with a keyword, unless it is ignored.
func (ds Directives) Get(keyword string) (string, bool) {
	for _, d := range ds {
		if d.Keyword == keyword && !d.Ignored {
			return d.Value, true
		}
	}
	return "", false
}

// Directives splits the query of [Draft2012]: at each "&", and at the first "="
// of what is between (2.3).
//
// A directive is ignored if its keyword is not registered, if its keyword
// occurs more than once, be it with the same value, and if accepts, asked about
// the keyword and the value, says no (2.3, 2.3.1): the default of the namespace
// is then what counts. A nil accepts says yes; [Namespace.Accepts] is one.
func (u URN) Directives(registered Keywords, accepts func(keyword, value string) bool) Directives {
	query, ok := u.Query()
	if !ok {
		return nil
	}
	ds := make(Directives, 0, 1+strings.Count(query, "&"))
	times := map[string]int{}
	for directive := range strings.SplitSeq(query, "&") {
		keyword, value, _ := strings.Cut(directive, "=")
		ds = append(ds, Directive{Keyword: keyword, Value: value})
		times[keyword]++
	}
	for i, d := range ds {
		_, known := registered.Lookup(d.Keyword)
		ds[i].Ignored = !known || times[d.Keyword] > 1 || accepts != nil && !accepts(d.Keyword, d.Value)
	}
	return ds
}
