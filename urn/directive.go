package urn

import "strings"

// A Directive is an instruction to a resolver in the query of [Draft2012] (2.3).
type Directive struct {
	Keyword string // case-sensitive
	Value   string // as spelled; case-sensitive
	Ignored bool   // the directive has no effect; see [URN.Directives]
}

// Directives are the directives of one query, in the order of the query, which is
// not significant.
type Directives []Directive

// Get returns the value of the directive with a keyword. It reports false if there is no such
// directive, or if the directive is ignored.
func (ds Directives) Get(keyword string) (string, bool) {
	for _, d := range ds {
		if d.Keyword == keyword && !d.Ignored {
			return d.Value, true
		}
	}
	return "", false
}

// Directives splits the query of [Draft2012] at each "&", and each part at its first "=" (2.3).
//
// It marks a directive as ignored, so that the default of the namespace applies, in three cases
// (2.3, 2.3.1):
//
//   - The keyword is not registered.
//   - The keyword occurs more than once, even with the same value.
//   - The namespace does not accept the value: the function in the parameter accepts returns false
//     for the keyword and the value. If the parameter is nil, every value is accepted.
//     [Namespace.Accepts] is a suitable function.
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
