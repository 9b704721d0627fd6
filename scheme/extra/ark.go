package extra

import (
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/internal/pid"
	"github.com/nomen-project/nomen/scheme"
	"github.com/nomen-project/nomen/scheme/internal/layout"
	"github.com/nomen-project/nomen/uri"
)

var ark = scheme.Scheme{
	Name: "ark", Kind: scheme.KindName,
	Reference: "draft-kunze-ark",
	Example:   "ark:12148/btv1b8449691v",
	Note: "hyphens and a slash before the NAAN are not significant; the name is followed by components (/) and then variants (.); " +
		"an empty query asks for a description of the object, a double question mark for a statement of permanence",
	Special: []scheme.Special{
		inPath("/", "separates the NAAN, the name and components"),
		inPath(".", "precedes a variant"),
		inPath("-", "is ignored"),
	},
	Properties: "never reassigned; the name assigning authority (NAAN) states how long the object is kept",
	Rules:      scheme.RuleSet{Check: checkARK, Parts: partsARK, Canonical: canonicalARK},
}

func naanOf(l *layout.Layout) (from, to int, ok bool) {
	from = l.Path
	if l.HasPath() && l.Text[from] == '/' {
		from++
	}
	to = ascii.Until(l.Text, from, l.PathEnd, '/')
	return from, to, to < l.PathEnd
}

// checkARK checks an ARK. It also remarks on valid spellings that are not recommended.
func checkARK(u uri.URI) []scheme.Finding {
	const length = 5 // all NAANs have this length
	found := checkPID(u)
	if found != nil {
		return found
	}
	l := layout.Of(u)
	from, to, _ := naanOf(&l)
	if from > l.Path {
		found = append(found, layout.Instead(layout.Remark(scheme.CodeForm, l.Path, from, pid.RuleARK, "the slash before the NAAN is obsolete"), ""))
	}
	if to-from != length || ascii.Run(l.Text, from, isBetanumeric) != to {
		found = append(found, layout.Remark(scheme.CodeForm, from, to, pid.RuleARKNAAN, "registered NAANs have five characters, digits or letters of the betanumeric alphabet, without hyphens"))
	}
	return found
}

// isBetanumeric reports whether c is a digit, or a lower-case consonant other than l and y
// (draft-kunze-ark, section 2.3).
func isBetanumeric(c byte) bool {
	return ascii.IsDigit(c) || ascii.IsLetter(c) && strings.IndexByte("aeiouly", c) < 0 && c >= 'a'
}

// partsARK adds the NAAN, the name, the components and the variants. Each component follows a
// slash, and each variant follows a dot.
func partsARK(dst []scheme.Part, u uri.URI) []scheme.Part {
	t := layout.Take(dst, u)
	from, to, ok := naanOf(&t.Layout)
	t.Part("naan", from, to)
	if ok {
		part, at := "name", to+1
		for at <= t.PathEnd {
			end := at
			for end < t.PathEnd && t.Text[end] != '/' && t.Text[end] != '.' {
				end++
			}
			t.Data(part, at, end)
			part = "component"
			if end < t.PathEnd && t.Text[end] == '.' {
				part = "variant"
			}
			at = end + 1
		}
	}
	t.Part("inflection", t.Query, t.QueryEnd)
	t.Fragment()
	return t.Parts
}

// canonicalARK returns the canonical form that draft-kunze-ark defines in section 2.7.
func canonicalARK(u uri.URI) string {
	l := layout.Of(u)
	from, to, _ := naanOf(&l)
	return pid.FoldARK(l.Text[from:to], l.Text[to+1:l.PathEnd]) + l.Text[l.PathEnd:]
}
