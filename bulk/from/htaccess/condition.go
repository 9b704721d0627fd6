package htaccess

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/nomen-project/nomen/bulk/from/rewrite"
	"github.com/nomen-project/nomen/rule"
)

// A condition is a RewriteCond.
type condition struct {
	line
	on   string
	not  bool
	or   bool
	fold bool
	text string              // the expression
	expr *rewrite.Expression // for samples
}

// variables has the variables that conditions of rules can test, in upper case.
var variables = map[string]string{
	"HTTP_ACCEPT": "accept", "HTTP:ACCEPT": "accept", "HTTP:ACCEPT-LANGUAGE": "languages",
	"HTTP_USER_AGENT": "user_agent", "HTTP:USER-AGENT": "user_agent",
	"QUERY_STRING": "query", "REQUEST_URI": "path",
}

func parseCondition(l line) (c condition, err error) {
	c.line = l
	args := rewriteArguments(l.rest)
	if len(args) < 2 {
		return c, errors.New("must have a text and a pattern")
	}
	if err := c.parseFlags(args[2:]); err != nil {
		return c, err
	}
	pattern, not := strings.CutPrefix(args[1], "!")
	c.not = not
	variable, ok := strings.CutPrefix(args[0], "%{")
	variable, closed := strings.CutSuffix(variable, "}")
	if !ok || !closed {
		return c, about(args[0], fmt.Errorf("unsupported test of %s", args[0]))
	}
	variable = strings.ToUpper(variable)
	if variable == "REQUEST_FILENAME" {
		return c, about(args[1], c.testFile(pattern))
	}
	if c.on, ok = variables[variable]; !ok {
		return c, about(args[0], fmt.Errorf("unsupported variable %s", args[0]))
	}
	switch {
	case pattern == `=""` || pattern == "=":
		pattern = "^$"
	case strings.HasPrefix(pattern, "="):
		pattern = "^" + regexp.QuoteMeta(strings.Trim(pattern[1:], `"`)) + "$"
	case strings.HasPrefix(pattern, "<"), strings.HasPrefix(pattern, ">"), len(pattern) > 1 && pattern[0] == '-':
		return c, about(args[1], fmt.Errorf("unsupported comparison %s", args[1]))
	}
	c.text = pattern
	c.expr, err = rewrite.Parse(pattern, c.fold, "")
	return c, about(pattern, err)
}

func (c *condition) parseFlags(args []string) error {
	if len(args) == 0 {
		return nil
	}
	s := args[0]
	if !strings.HasPrefix(s, "[") || !strings.HasSuffix(s, "]") {
		return about(s, fmt.Errorf("invalid flags %q: Apache rejects the file", s))
	}
	for flag := range strings.SplitSeq(s[1:len(s)-1], ",") {
		switch strings.ToLower(strings.TrimFunc(flag, isSpace)) {
		case "":
		case "nc", "nocase":
			c.fold = true
		case "or", "ornext":
			c.or = true
		case "nv", "novary":
		default:
			return about(flag, fmt.Errorf("unsupported flag %s", flag))
		}
	}
	return nil
}

// testFile parses a test for a file. The import assumes that the directory contains only .htaccess,
// so the only path that exists is that of the directory.
func (c *condition) testFile(test string) (err error) {
	c.on = "element"
	switch test {
	case "-d":
		c.text = "^$"
	case "-f", "-s", "-l", "-F":
		c.text, c.not = "", !c.not
	default:
		return fmt.Errorf("unsupported test %s of a file", test)
	}
	c.expr, err = rewrite.Parse(c.text, false, "")
	return err
}

// effective drops conditions with the flag OR at the end of the list. Apache takes such an
// alternative for true if no other condition follows.
func effective(all []condition) []condition {
	for len(all) > 0 && all[len(all)-1].or {
		all = all[:len(all)-1]
	}
	return all
}

// conditionsOf converts conditions of Apache to conditions of rules. In Apache, the target of a
// rule can use the groups of the last condition that matched. So each condition that may be the
// last one gets names for its groups.
func conditionsOf(all []condition) ([]rule.Condition, error) {
	named := len(all) - 1 // the last condition that is not negated
	for named >= 0 && all[named].not {
		named--
	}
	for named > 0 && all[named-1].or { // the first of its alternatives
		named--
	}
	var out []rule.Condition
	for i, c := range all {
		groups := ""
		if i >= named && named >= 0 && !c.not {
			groups = "c"
		}
		e, err := rewrite.Parse(c.text, c.fold, groups)
		if err != nil {
			return nil, err
		}
		text := e.Anywhere()
		if groups != "" && i >= named {
			text = "(?P<c0>" + text + ")"
		}
		out = append(out, rule.Condition{On: c.on, Regexp: text, Not: c.not, Or: c.or})
	}
	return out, nil
}
