package extra

import (
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/scheme"
	"github.com/nomen-project/nomen/scheme/internal/layout"
	"github.com/nomen-project/nomen/uri"
)

var tag = scheme.Scheme{
	Name: "tag", Kind: scheme.KindName,
	Reference: "RFC 4151",
	Example:   "tag:example.org,2026-11:report/7",
	Note:      "equal only if spelled identically, including percent-encodings and case",
	Special: []scheme.Special{
		inPath(",", "separates the authority name and date"),
		inPath(":", "separates the tagging entity and the specific part"),
	},
	Properties: "unique, as guaranteed by the holder of the domain or mail address on the given date; does not locate anything",
	Rules:      scheme.RuleSet{Check: checkTag, Parts: partsTag},
}

// entityOf returns the offsets of the comma and the colon of a tagging entity. The offset of a
// missing character is -1.
func entityOf(l *layout.Layout) (comma, colon int) {
	comma = ascii.Until(l.Text, l.Path, l.PathEnd, ',')
	if comma == l.PathEnd {
		return -1, -1
	}
	if colon = ascii.Until(l.Text, comma, l.PathEnd, ':'); colon == l.PathEnd {
		return comma, -1
	}
	return comma, colon
}

// checkTag checks a tag URI. It also remarks on valid spellings that are not recommended.
func checkTag(u uri.URI) []scheme.Finding {
	const rule = "RFC 4151, 2.1"
	if found := checkPID(u); found != nil {
		return found
	}
	l := layout.Of(u)
	comma, colon := entityOf(&l)
	if name := l.Text[l.Path:comma]; strings.ToLower(name) != name {
		return []scheme.Finding{layout.Instead(layout.Remark(scheme.CodeForm, l.Path, comma, rule, "write domain names in lower case"), strings.ToLower(name))}
	}
	if strings.HasSuffix(l.Text[comma+1:colon], "-01") {
		return []scheme.Finding{layout.Remark(scheme.CodeForm, comma+1, colon, rule, "omit the first day of a month or year")}
	}
	return nil
}

func partsTag(dst []scheme.Part, u uri.URI) []scheme.Part {
	t := layout.Take(dst, u)
	comma, colon := entityOf(&t.Layout)
	switch {
	case comma < 0:
		t.Part("authority_name", t.Path, t.PathEnd)
	case colon < 0:
		t.Part("authority_name", t.Path, comma)
		t.Part("date", comma+1, t.PathEnd)
	default:
		t.Part("authority_name", t.Path, comma)
		t.Part("date", comma+1, colon)
		t.Part("specific", colon+1, t.End())
	}
	t.Fragment()
	return t.Parts
}
