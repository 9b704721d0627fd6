package htaccess

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/nomen-project/nomen/bulk/from/rewrite"
	"github.com/nomen-project/nomen/rule"
)

// A condition is a parsed RewriteCond directive.
type condition struct {
	line
	on       string
	not      bool
	or       bool
	fold     bool
	compares bool                // with a text or a file, not with an expression
	env      string              // the variable of the environment that an onEnv condition tests
	text     string              // the expression
	expr     *rewrite.Expression // for samples
}

// onEnv marks a condition on a variable of the environment.
const onEnv = "env"

// variables maps the variables of Apache httpd that a rule can test, in upper case, to the names
// that conditions of rules use.
var variables = map[string]string{
	"HTTP_ACCEPT": "accept", "HTTP:ACCEPT": "accept", "HTTP:ACCEPT-LANGUAGE": "languages",
	"HTTP_USER_AGENT": "user_agent", "HTTP:USER-AGENT": "user_agent",
	"QUERY_STRING": "query", "REQUEST_URI": "path",
}

func (in *converter) parseCondition(l line) (c condition, err error) {
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
	if !ok || !closed || strings.Contains(variable, "}") {
		return c, about(args[0], fmt.Errorf("unsupported test of %s", args[0]))
	}
	variable = strings.ToUpper(variable)
	if variable == "REQUEST_FILENAME" || variable == "SCRIPT_FILENAME" {
		return c, about(args[1], c.testFile(pattern))
	}
	values, constant := in.constant(variable)
	if c.env, ok = strings.CutPrefix(variable, "ENV:"); ok {
		c.on = onEnv
	} else if c.on, ok = variables[variable]; !ok && !constant {
		return c, about(args[0], fmt.Errorf("unsupported variable %s", args[0]))
	}
	switch {
	case pattern == `=""` || pattern == "=":
		pattern, c.compares = "^$", true
	case strings.HasPrefix(pattern, "="):
		pattern, c.compares = "^"+regexp.QuoteMeta(pattern[1:])+"$", true
	case strings.HasPrefix(pattern, "<"), strings.HasPrefix(pattern, ">"), len(pattern) > 1 && pattern[0] == '-':
		return c, about(args[1], fmt.Errorf("unsupported comparison %s", args[1]))
	}
	c.text = pattern
	c.expr, err = rewrite.Parse(pattern, c.fold, "")
	switch {
	case err != nil:
	case constant:
		err = c.decide(values)
	case c.on == "path" && !c.expr.MayMatchAfter(in.dir): // matches no path below the directory
		c.on, c.text, c.compares = "element", "", true
		c.not = !c.not
		c.expr, err = rewrite.Parse("", false, "")
	}
	return c, about(pattern, err)
}

// constant returns the possible values of a variable that does not depend on the name in the
// request. Examples are the host and the request method. The result ok is false for any other
// variable.
func (c *converter) constant(variable string) (values []string, ok bool) {
	scheme, host, _ := strings.Cut(c.origin, "://")
	switch variable {
	case "HTTP_HOST", "HTTP:HOST", "SERVER_NAME":
		return []string{host}, true
	case "REQUEST_SCHEME":
		return []string{scheme}, true
	case "HTTPS":
		if scheme == "https" {
			return []string{"on"}, true
		}
		return []string{"off"}, true
	case "REQUEST_METHOD":
		return []string{"GET", "HEAD"}, true
	case "IS_SUBREQ":
		return []string{"false"}, true
	case "HTTP_COOKIE", "HTTP_REFERER", "HTTP_FORWARDED", "HTTP_PROXY_CONNECTION", "HTTP_ACCEPT", "HTTP_USER_AGENT":
		return nil, false
	}
	// Apache knows no other variables for header fields, so these are empty.
	return []string{""}, strings.HasPrefix(variable, "HTTP_")
}

// decide replaces a test of constant values by a condition that is always or never true.
func (c *condition) decide(values []string) error {
	re, err := regexp.Compile(c.expr.Anywhere())
	if err != nil {
		return err
	}
	if c.expr.Groups() > 0 {
		return errors.New("groups of this test are not supported")
	}
	holds := re.MatchString(values[0])
	for _, value := range values {
		if re.MatchString(value) != holds {
			return errors.New("rules answer GET and HEAD in the same way")
		}
	}
	c.on, c.text, c.compares = "element", "", true
	c.not = c.not == holds
	c.expr, err = rewrite.Parse("", false, "")
	return err
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

func (c *condition) testFile(test string) (err error) {
	c.on, c.compares = "element", true
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

// effective removes conditions with the flag OR from the end of a list. Apache httpd treats a final
// condition with OR as true.
func effective(all []condition) []condition {
	for len(all) > 0 && all[len(all)-1].or {
		all = all[:len(all)-1]
	}
	return all
}

// neverHold reports whether no request can meet the conditions. This is so if a condition and all
// its alternatives have been replaced by conditions that are never true, such as tests for a file
// or for another host.
func neverHold(all []condition) bool {
	possible := false
	for i := range all {
		c := &all[i]
		possible = possible || c.on != "element" || c.text != "" || !c.not
		if c.or {
			continue
		}
		if !possible {
			return true
		}
		possible = false
	}
	return false
}

// hasGroups reports whether "%0" to "%9" refer to this condition after it has matched. A negated
// condition or a comparison does not change the groups of the previous condition.
func (c *condition) hasGroups() bool { return !c.not && !c.compares }

// firstNamed returns the index of the first condition to which "%0" to "%9" can refer. This is the
// last condition with groups, or the first of its alternatives. If no condition has groups, the
// result is the number of conditions.
func firstNamed(all []condition) int {
	named := len(all) - 1
	for named >= 0 && !all[named].hasGroups() {
		named--
	}
	if named < 0 {
		return len(all)
	}
	for named > 0 && all[named-1].or {
		named--
	}
	return named
}

// conditionsOf converts conditions of Apache httpd to conditions of rules. The target of a rule can
// refer to the groups of the last condition that matched. conditionsOf therefore gives names to the
// groups of every condition that can be the last one to match.
func conditionsOf(all []condition) ([]rule.Condition, error) {
	named := firstNamed(all)
	var out []rule.Condition
	for i, c := range all {
		groups := ""
		if i >= named && c.hasGroups() {
			groups = "c"
		}
		e, err := rewrite.Parse(c.text, c.fold, groups)
		if err != nil {
			return nil, err
		}
		text := e.Anywhere()
		if groups != "" {
			text = "(?P<c0>" + text + ")"
		}
		out = append(out, rule.Condition{On: c.on, Regexp: text, Not: c.not, Or: c.or})
	}
	return out, nil
}
