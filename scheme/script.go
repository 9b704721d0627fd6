package scheme

import "github.com/nomen-project/nomen/uri"

var javascript = Scheme{
	Name: "javascript", Title: "Script to be run", Kind: KindOther,
	Reference: "HTML Standard, 7.4.2.3.2",
	Example:   "javascript:alert(1)",
	Note:      "all that follows the colon is the script, once it has been decoded; its syntax is not checked",
	Security:  "runs with the rights of the document in which it is followed, and reads what that document shows",
	Danger:    "following it runs a script",

	Properties: "holds a program; what comes of it takes the place of the document",
	Rules:      RuleSet{Check: checkScript, Parts: partsScript},
}

var vbscript = Scheme{
	Name: "vbscript", Title: "Script to be run", Kind: KindOther,
	Reference:  "Visual Basic Scripting Edition, by Microsoft",
	Example:    "vbscript:MsgBox(1)",
	Note:       "of old browsers; the syntax is not public as that of a scheme, and is not checked",
	Security:   javascript.Security,
	Danger:     javascript.Danger,
	Properties: javascript.Properties,
	Rules:      RuleSet{Check: checkScript, Parts: partsScript},
}

// checkScript looks for what makes a script look like something else.
func checkScript(u uri.URI) []Finding {
	const rule = "HTML Standard, 7.4.2.3.2"
	l := layoutOf(u)
	if l.authority {
		return []Finding{warn(CodeHidden, l.rest, l.path, rule, "this is no host: for a script two slashes begin a comment, which ends with the line")}
	}
	return nil
}

func partsScript(dst []Part, u uri.URI) []Part {
	t := take(dst, u)
	t.data("script", t.rest, len(t.s))
	return t.parts
}
