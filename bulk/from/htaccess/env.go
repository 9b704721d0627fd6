package htaccess

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/nomen-project/nomen/bulk/from/rewrite"
	"github.com/nomen-project/nomen/rule"
)

// Limits of what a rule may depend on.
const (
	maxSetters  = 20 // directives SetEnvIf
	maxVariants = 32 // combinations of values of variables for one rule
)

// A setter is a SetEnvIf, which sets variables if a header field or the path of a request matches.
type setter struct {
	line
	on     string
	text   string
	fold   bool
	always bool // matches all requests, so that no condition is needed
	sets   []assignment
}

// An assignment sets a variable. In its value, groupBegin and groupEnd enclose the name of a group.
type assignment struct{ name, value string }

const (
	groupBegin = "\x01"
	groupEnd   = "\x02"
)

// readSetter reads a directive that sets variables. The variables of a directive that is not
// supported are not either.
func (c *converter) readSetter(l line) {
	args := arguments(l.rest)
	switch l.name {
	case "setenvif", "setenvifnocase":
	case "browsermatch", "browsermatchnocase":
		args = append([]string{"User-Agent"}, args...)
	case "rewriterule":
		if args := rewriteArguments(l.rest); len(args) == 3 {
			c.flagVariables(args[2])
		}
		return
	case "setenv", "unsetenv", "passenv": // these apply after the rules
		for _, arg := range args {
			c.noEnv[strings.ToUpper(arg)] = true
		}
		return
	default:
		return
	}
	if len(args) < 3 {
		return
	}
	s := setter{line: l, text: args[1], fold: strings.HasSuffix(l.name, "nocase")}
	s.on = map[string]string{"accept": "accept", "accept-language": "languages", "user-agent": "user_agent", "request_uri": "path"}[strings.ToLower(args[0])]
	_, err := rewrite.Parse(s.text, s.fold, "")
	known := s.on != "" && err == nil && len(c.setters) < maxSetters
	s.always = matchesAnything(s.on, s.text)
	for _, arg := range args[2:] {
		name, value, given := strings.Cut(arg, "=")
		name, unset := strings.CutPrefix(strings.ToUpper(name), "!")
		switch {
		case unset:
			value = ""
		case !given:
			value = "1"
		}
		value, ok := groupsIn(value, "e"+string(rune('a'+len(c.setters))))
		if !ok || !known {
			c.noEnv[name] = true
		}
		s.sets = append(s.sets, assignment{name, value})
	}
	if known {
		c.setters = append(c.setters, s)
	}
}

// matchesAnything reports whether an expression matches all values that a request can have.
func matchesAnything(on, text string) bool {
	switch text {
	case "^", "$", ".*", "^.*", "^.*$", "(.*)", "^(.*)$":
		return true
	case ".+", "^.+$", "/", "^/":
		return on == "path"
	}
	return false
}

// flagVariables finds the variables that the flags of a RewriteRule set. They are not supported.
func (c *converter) flagVariables(flags string) {
	for flag := range strings.SplitSeq(strings.Trim(flags, "[]"), ",") {
		key, value, _ := strings.Cut(strings.TrimFunc(flag, isSpace), "=")
		if strings.EqualFold(key, "e") || strings.EqualFold(key, "env") {
			name, _, _ := strings.Cut(value, ":")
			c.noEnv[strings.ToUpper(strings.TrimPrefix(name, "!"))] = true
		}
	}
}

// groupsIn marks the groups in the value of a variable. It returns false if the value has a group
// that has no name.
func groupsIn(value, prefix string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(value); i++ {
		next := byte(0)
		if i+1 < len(value) {
			next = value[i+1]
		}
		switch c := value[i]; {
		case c == '\\' && (next == '$' || next == '\\'):
			i++
			b.WriteByte(next)
		case c == '$' && next == '0' || c < ' ':
			return "", false
		case c == '$' && '1' <= next && next <= '9':
			i++
			b.WriteString(groupBegin + prefix + string(next) + groupEnd)
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), true
}

// A variant is a combination of values that variables have in some requests.
type variant struct {
	values map[string]string
	when   []rule.Condition
	conds  []condition // the same, for samples
}

// variants returns the combinations of the values of variables. The conditions of each exclude all
// others.
func (c *converter) variants(names []string) ([]variant, error) {
	for _, name := range names {
		set := name == "REDIRECT_STATUS" // the server sets it only for requests of its own
		for _, s := range c.setters {
			set = set || slices.ContainsFunc(s.sets, func(a assignment) bool { return a.name == name })
		}
		if c.noEnv[name] || !set {
			return nil, fmt.Errorf("unsupported variable %%{ENV:%s}", name)
		}
	}
	var out []variant
	err := c.vary(len(c.setters)-1, names, variant{values: map[string]string{}}, &out)
	return out, err
}

// vary adds the combinations that follow from the setters up to the one with index i: the last one
// that matches determines a variable.
func (c *converter) vary(i int, open []string, v variant, out *[]variant) error {
	for ; i >= 0 && len(open) > 0; i-- {
		s := &c.setters[i]
		var left []string
		values := map[string]string{}
		for _, name := range open {
			at := -1
			for k, a := range s.sets {
				if a.name == name {
					at = k
				}
			}
			if at < 0 {
				left = append(left, name)
				continue
			}
			values[name] = s.sets[at].value
		}
		if len(values) == 0 {
			continue
		}
		for name, value := range v.values {
			values[name] = value
		}
		matched := variant{values: values, when: v.when, conds: v.conds}
		if !s.always || s.hasGroups() {
			if err := matched.add(s, i, false); err != nil {
				return err
			}
		}
		if s.always {
			v, open = matched, left
			continue
		}
		if err := c.vary(i-1, left, matched, out); err != nil {
			return err
		}
		if err := v.add(s, i, true); err != nil {
			return err
		}
	}
	if *out = append(*out, v); len(*out) > maxVariants {
		return fmt.Errorf("the variables have more than %d combinations of values", maxVariants)
	}
	return nil
}

// hasGroups reports whether a value has groups of the expression.
func (s *setter) hasGroups() bool {
	return slices.ContainsFunc(s.sets, func(a assignment) bool { return strings.Contains(a.value, groupBegin) })
}

// add adds the condition that a setter matches, or that it does not.
func (v *variant) add(s *setter, index int, not bool) error {
	prefix := "e" + string(rune('a'+index))
	if not {
		prefix = ""
	}
	expr, err := rewrite.Parse(s.text, s.fold, prefix)
	if err != nil {
		return err
	}
	v.when = append(slices.Clip(v.when), rule.Condition{On: s.on, Regexp: expr.Anywhere(), Not: not})
	v.conds = append(slices.Clip(v.conds), condition{line: s.line, on: s.on, text: s.text, fold: s.fold, not: not, expr: expr})
	return nil
}

// envNames returns the variables of the environment on which a rule depends.
func envNames(target string, conds []condition) (names []string) {
	add := func(name string) string {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
		return ""
	}
	insertEnv(target, add)
	for _, cond := range conds {
		if cond.on == onEnv {
			add(cond.env)
		}
	}
	return names
}

// insertEnv replaces the variables of the environment in a text. The function value gets the name of
// a variable in upper case.
func insertEnv(s string, value func(name string) string) string {
	const begin = "%{ENV:"
	var b strings.Builder
	for {
		i := strings.Index(strings.ToUpper(s), begin)
		end := strings.IndexByte(s[max(i, 0):], '}')
		if i < 0 || end < 0 {
			return b.String() + s
		}
		b.WriteString(s[:i] + value(strings.ToUpper(s[i+len(begin):i+end])))
		s = s[i+end+1:]
	}
}

// withEnv inserts the values of a variant into a target, and decides the conditions that depend on
// them.
func (v *variant) withEnv(target string, conds []condition) (string, []condition, error) {
	target = insertEnv(target, func(name string) string {
		escape := strings.NewReplacer("$", `\$`, "%", `\%`, `\`, `\\`, groupBegin, "%{"+groupBegin, groupEnd, "}")
		return escape.Replace(v.values[name])
	})
	conds = slices.Clone(conds)
	count := len(effective(conds))
	named := firstNamed(conds[:count])
	for i := range conds {
		cond := &conds[i]
		if cond.on != onEnv {
			continue
		}
		value := v.values[cond.env]
		if strings.Contains(value, groupBegin) {
			return "", nil, fmt.Errorf("the variable %%{ENV:%s} depends on the path", cond.env)
		}
		re, err := regexp.Compile(cond.expr.Anywhere())
		if err != nil {
			return "", nil, err
		}
		groups := re.FindStringSubmatch(value)
		if i >= named && i < count && cond.hasGroups() && strings.Contains(target, "%") {
			if named != count-1 && conds[named].or {
				return "", nil, errors.New("the groups of a variable of the environment are in an alternative")
			}
			target = insertGroups(target, '%', groups)
		}
		holds := groups != nil
		cond.on, cond.text, cond.compares = "element", "", true
		cond.not = cond.not == holds
		if cond.expr, err = rewrite.Parse("", false, ""); err != nil {
			return "", nil, err
		}
	}
	return target, conds, nil
}

// insertGroups replaces the references to groups in a target, such as "%1", by their values.
func insertGroups(target string, mark byte, groups []string) string {
	var b strings.Builder
	for i := 0; i < len(target); i++ {
		c := target[i]
		switch {
		case c == '\\' && i+1 < len(target):
			i++
			b.WriteString(target[i-1 : i+1])
		case c == mark && i+1 < len(target) && '0' <= target[i+1] && target[i+1] <= '9':
			i++
			if n, _ := strconv.Atoi(target[i : i+1]); n < len(groups) {
				b.WriteString(strings.NewReplacer("$", `\$`, "%", `\%`, `\`, `\\`).Replace(groups[n]))
			}
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}
