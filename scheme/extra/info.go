package extra

import (
	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/internal/pid"
	"github.com/nomen-project/nomen/scheme"
	"github.com/nomen-project/nomen/scheme/internal/layout"
	"github.com/nomen-project/nomen/uri"
)

var info = scheme.Scheme{
	Name: "info", Kind: scheme.KindName,
	Reference:  "RFC 4452",
	Example:    "info:lccn/n78890351",
	Note:       "the registry of namespaces is closed; the rules of each namespace are not checked",
	Special:    []scheme.Special{inPath("/", "the first slash separates the namespace and the identifier")},
	Properties: "identifiers from public namespaces; does not locate anything",
	Rules:      scheme.RuleSet{Check: checkPID, Parts: partsInfo, Canonical: canonicalInfo},
}

func partsInfo(dst []scheme.Part, u uri.URI) []scheme.Part {
	t := layout.Take(dst, u)
	slash := ascii.Until(t.Text, t.Path, t.PathEnd, '/')
	t.Part("namespace", t.Path, slash)
	t.Data("identifier", slash+1, t.PathEnd)
	t.Fragment()
	return t.Parts
}

func canonicalInfo(u uri.URI) string {
	l := layout.Of(u)
	return l.Text[:l.Path] + pid.FoldInfo(l.PathText()) + l.Text[l.PathEnd:]
}
