package extra

import (
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/internal/pid"
	"github.com/nomen-project/nomen/scheme"
	"github.com/nomen-project/nomen/scheme/internal/layout"
	"github.com/nomen-project/nomen/uri"
)

var hdl = scheme.Scheme{
	Name: "hdl", Kind: scheme.KindName,
	Reference:  "RFC 3651, 2",
	Example:    "hdl:2027/mdp.39015012345678",
	Note:       "not registered; the prefix is case-insensitive, and each service decides about the local name",
	Special:    []scheme.Special{inPath("/", "the first slash separates the prefix and the local name")},
	Properties: "unique among all handles; the handle registry assigns the prefix",
	Rules:      scheme.RuleSet{Check: checkPID, Parts: partsHandle, Canonical: canonicalHandle},
}

var doi = scheme.Scheme{
	Name: "doi", Kind: scheme.KindName,
	Reference:  "ISO 26324; RFC 3651, 2",
	Example:    "doi:10.1000/182",
	Note:       "ASCII letters are case-insensitive",
	Special:    []scheme.Special{inPath("/", "the first slash separates the prefix and the suffix")},
	Properties: "unique and never reassigned; a registration agency assigns the prefix",
	Rules:      scheme.RuleSet{Check: checkPID, Parts: partsHandle, Canonical: canonicalDOI},
}

// partsHandle adds the prefix, the local name, and the query, which only the resolver interprets.
func partsHandle(dst []scheme.Part, u uri.URI) []scheme.Part {
	t := layout.Take(dst, u)
	slash := ascii.Until(t.Text, t.Path, t.PathEnd, '/')
	t.Data("prefix", t.Path, slash)
	t.Data("local_name", slash+1, t.PathEnd)
	t.Part("query", t.Query, t.QueryEnd)
	t.Fragment()
	return t.Parts
}

func canonicalHandle(u uri.URI) string {
	l := layout.Of(u)
	return l.Text[:l.Path] + pid.FoldHandle(l.PathText()) + l.Text[l.PathEnd:]
}

// canonicalDOI converts the letters of a DOI to lower case and decodes percent-encodings. If
// decoded slashes would create a dot segment, canonicalDOI keeps them encoded. Otherwise
// normalisation by the general syntax would remove the segment.
func canonicalDOI(u uri.URI) string {
	l := layout.Of(u)
	doi := pid.FoldDOI(l.PathText())
	if path := "/" + doi + "/"; strings.Contains(path, "/./") || strings.Contains(path, "/../") {
		doi = pid.FoldDOIKeepingSlashes(l.PathText())
	}
	return l.Text[:l.Path] + doi + l.Text[l.PathEnd:]
}

// lowerRaw converts s to lower case, except for percent-encodings.
func lowerRaw(s string) string {
	b := []byte(s)
	for i := 0; i < len(b); i++ {
		if b[i] == '%' {
			i += 2
			continue
		}
		b[i] = ascii.Lower(b[i])
	}
	return string(b)
}

func checkPID(u uri.URI) []scheme.Finding {
	if f := pid.Check(u); f != nil {
		return []scheme.Finding{*f}
	}
	return nil
}
