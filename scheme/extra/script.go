package extra

import (
	"github.com/nomen-project/nomen/scheme"
	"github.com/nomen-project/nomen/scheme/internal/layout"
	"github.com/nomen-project/nomen/uri"
)

var javascript = scheme.Scheme{
	Name: "javascript", Kind: scheme.KindOther,
	Reference: "HTML Standard, 7.4.2.3.2",
	Example:   "javascript:alert(1)",
	Note:      "everything after the colon is the script, once decoded; its syntax is not checked",
	Security:  "runs with the privileges of the document in which it is followed, and can read that document",
	Danger:    "following it runs a script",

	Properties: "contains a program; its result replaces the document",
	Rules:      scheme.RuleSet{Check: checkScript, Parts: partsScript},
}

var vbscript = scheme.Scheme{
	Name: "vbscript", Kind: scheme.KindOther,
	Reference:  "Visual Basic Scripting Edition, by Microsoft",
	Example:    "vbscript:MsgBox(1)",
	Note:       "supported by old browsers only; no public document defines the scheme, and the syntax is not checked",
	Security:   javascript.Security,
	Danger:     javascript.Danger,
	Properties: javascript.Properties,
	Rules:      scheme.RuleSet{Check: checkScript, Parts: partsScript},
}

// checkScript warns of text that makes a script look like another URI.
func checkScript(u uri.URI) []scheme.Finding {
	const rule = "HTML Standard, 7.4.2.3.2"
	l := layout.Of(u)
	if l.Authority {
		return []scheme.Finding{layout.Warn(scheme.CodeHidden, l.Rest, l.Path, rule, "not a host: in a script two slashes begin a comment, which ends at the line break")}
	}
	return nil
}

func partsScript(dst []scheme.Part, u uri.URI) []scheme.Part {
	t := layout.Take(dst, u)
	t.Data("script", t.Rest, len(t.Text))
	return t.Parts
}
