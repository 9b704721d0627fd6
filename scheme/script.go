package scheme

import "github.com/nomen-project/nomen/uri"

var javascript = Scheme{
	Name: "javascript", Title: "Script to be run", Kind: KindOther,
	Reference: "HTML Standard, 7.4.2.3.2",
	Example:   "javascript:alert(1)",
	Note:      "everything after the colon is the script, once decoded; its syntax is not checked",
	Security:  "runs with the privileges of the document in which it is followed, and can read that document",
	Danger:    "following it runs a script",

	Properties: "contains a program; its result replaces the document",
	Rules:      RuleSet{Check: checkScript, Parts: partsScript},
}

var vbscript = Scheme{
	Name: "vbscript", Title: "Script to be run", Kind: KindOther,
	Reference:  "Visual Basic Scripting Edition, by Microsoft",
	Example:    "vbscript:MsgBox(1)",
	Note:       "supported by old browsers only; no public document defines the scheme, and the syntax is not checked",
	Security:   javascript.Security,
	Danger:     javascript.Danger,
	Properties: javascript.Properties,
	Rules:      RuleSet{Check: checkScript, Parts: partsScript},
}

// checkScript looks for text that disguises a script as another URI.
func checkScript(u uri.URI) []Finding {
	const rule = "HTML Standard, 7.4.2.3.2"
	l := layoutOf(u)
	if l.authority {
		return []Finding{warn(CodeHidden, l.rest, l.path, rule, "not a host: in a script two slashes begin a comment, which ends at the line break")}
	}
	return nil
}

func partsScript(dst []Part, u uri.URI) []Part {
	t := take(dst, u)
	t.data("script", t.rest, len(t.s))
	return t.parts
}
