package urn

import "strings"

// A Directive is an instruction to a resolver in the query of a URN, of the form keyword=value
// (draft of 2012, section 2.3).
type Directive struct {
	Keyword string // case-sensitive
	Value   string // not decoded; case-sensitive
	Ignored bool   // a resolver ignores it; see [URN.Directives]
}

// Directives are the directives of a query, in the order of the query. The order has no meaning.
type Directives []Directive

// Get returns the value of the directive with the given keyword. It returns false if there is no
// such directive or if the directive is ignored.
func (ds Directives) Get(keyword string) (string, bool) {
	for _, d := range ds {
		if d.Keyword == keyword && !d.Ignored {
			return d.Value, true
		}
	}
	return "", false
}

// Directives returns the directives in the query of a URN in [Draft2012]. It splits the query at
// each "&", and each part at its first "=" (section 2.3).
//
// A resolver must ignore some directives, and use the default of the namespace instead (sections
// 2.3 and 2.3.1). Directives sets Ignored in these directives, in three cases:
//
//   - registered does not contain the keyword;
//   - the keyword occurs more than once in the query, even with the same value; or
//   - accepts(keyword, value) returns false, because the namespace does not accept this value.
//
// If accepts is nil, every value is accepted. For a registered namespace, pass [Namespace.Accepts].
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
