package rule

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/nomen-project/nomen/name"
)

// Limits on conditions.
const (
	maxConditions = 32             // conditions of a rule
	maxValue      = name.MaxLength // bytes of a value; a longer value counts as missing
)

// A Request has the parts of a request that rules can test.
type Request struct {
	Accept    string `json:"accept,omitempty"`                       // Accept field as sent
	Languages string `json:"languages,omitempty"`                    // Accept-Language field as sent
	UserAgent string `json:"user_agent,omitempty" toml:"user_agent"` // User-Agent field as sent
	Query     string `json:"query,omitempty"`                        // query as sent, without "?"
}

// Fields returns the parts of the request that are not empty, as texts such as "accept: text/html".
func (r Request) Fields() (all []string) {
	for _, f := range [...][2]string{{onAccept, r.Accept}, {onLanguages, r.Languages}, {onUserAgent, r.UserAgent}, {onQuery, r.Query}} {
		if f[1] != "" {
			all = append(all, f[0]+": "+f[1])
		}
	}
	return all
}

// Terms returns descriptions of the conditions of the rule, its status and its handling of queries,
// for people to read.
func (r *Rule) Terms() (all []string) {
	for _, when := range r.When {
		text := "when " + when.On
		if when.Not {
			text += " not"
		}
		text += " " + when.Regexp
		if when.Or {
			text += " or"
		}
		all = append(all, text)
	}
	if r.Status != 0 {
		all = append(all, fmt.Sprintf("status %d", r.Status))
	}
	if r.Query != "" {
		all = append(all, "query "+r.Query)
	}
	return all
}

// A Condition restricts a rule to some requests. All conditions of a rule must hold. They are
// tested in order. If Or is true, it is enough that this condition or the next holds.
type Condition struct {
	On         string `json:"on"`                                       // the part of the request or name to test; see [Conditions]
	Regexp     string `json:"regexp"`                                   // must match a part of the tested text; the named groups become parts
	IgnoreCase bool   `json:"ignore_case,omitempty" toml:"ignore_case"` // ignore case
	Not        bool   `json:"not,omitempty"`                            // the condition holds if the expression does not match
	Or         bool   `json:"or,omitempty"`                             // it is enough that this or the next condition holds
}

// The possible values of [Condition].On. Conditions test fields as the client sent them, so
// "text/html" matches every Accept field that contains it, whatever its weight.
const (
	onAccept    = "accept"
	onLanguages = "languages"
	onUserAgent = "user_agent"
	onQuery     = "query"
	onElement   = "element" // the text to which patterns are applied
	onPath      = "path"    // the decoded path of an http or https name, or the element of any other name
)

// Conditions returns the possible values of [Condition].On.
func Conditions() []string {
	return []string{onAccept, onLanguages, onUserAgent, onQuery, onElement, onPath}
}

// A compiledCondition is a condition with its compiled expression. Equal conditions of a set share
// a compiledCondition.
type compiledCondition struct {
	on    string
	re    *regexp.Regexp
	names []string
	cost  int
	raw   bool // on the element: keep its escapes
	merge bool // on the element or the path: remove empty segments
}

func (c *Compiled) compileConditions(r *compiledRule) error {
	if len(r.source.When) > maxConditions {
		return fmt.Errorf("more than %d", maxConditions)
	}
	for i, when := range r.source.When {
		if when.Or && i == len(r.source.When)-1 {
			return errors.New(`the last condition has "or", but no condition follows`)
		}
		at, err := c.condition(when, &r.source)
		if err != nil {
			return err
		}
		r.when = append(r.when, at)
		for _, label := range c.conditions[at].names {
			switch {
			case label == "" || when.Not:
			case slices.Contains(reserved(), label), slices.Contains(r.pattern.names, label):
				return fmt.Errorf("the name of the part %q is reserved or already used", label)
			case !slices.Contains(r.given, label):
				r.given = append(r.given, label)
			}
		}
	}
	return nil
}

func (c *Compiled) condition(when Condition, r *Rule) (int, error) {
	if !slices.Contains(Conditions(), when.On) {
		return 0, fmt.Errorf("invalid value %q of \"on\": must be one of %s", when.On, strings.Join(Conditions(), ", "))
	}
	expression := when.Regexp
	if when.IgnoreCase {
		expression = "(?i:" + expression + ")"
	}
	raw, merge := r.Raw && when.On == onElement, r.Merge && (when.On == onElement || when.On == onPath)
	same := func(o compiledCondition) bool {
		return o.on == when.On && o.raw == raw && o.merge == merge && o.re.String() == expression
	}
	if at := slices.IndexFunc(c.conditions, same); at >= 0 {
		return at, nil
	}
	if len(when.Regexp) > maxPattern {
		return 0, &Error{clip(when.Regexp), maxPattern, "regular expression", fmt.Sprintf("longer than %d bytes", maxPattern)}
	}
	if _, err := syntax.Parse(when.Regexp, syntax.Perl); err != nil { // parsed on its own first, so that ")(" cannot close the group around the expression
		return 0, regexpError(when.Regexp, err)
	}
	p, err := compile(when.Regexp, expression)
	if err != nil {
		return 0, err
	}
	c.conditions = append(c.conditions, compiledCondition{when.On, p.re, p.names, p.cost, raw, merge})
	return len(c.conditions) - 1, nil
}

// A situation is a request for a name, with the results of the conditions tested so far.
type situation struct {
	*Compiled
	request Request
	name    name.Name
	escaped string // the element with its escapes
	plain   string // the element with its escapes decoded
	steps   int    // steps taken so far
	agent   bool   // a condition on User-Agent was tested
	fields  bool   // a condition on any part of the request was tested
	results map[int]match
}

type match struct {
	ok    bool
	parts map[string]string
}

// element returns the element, with its escapes if raw is true, and with repeated slashes merged if
// merge is true.
func (s *situation) element(raw, merge bool) string {
	element := s.plain
	if raw {
		element = s.escaped
	}
	if merge {
		return strings.TrimPrefix(merged(element), "/")
	}
	return element
}

// merged replaces each run of slashes by one slash.
func merged(path string) string {
	if !strings.Contains(path, "//") {
		return path
	}
	var b strings.Builder
	for i := range len(path) {
		if path[i] != '/' || i == 0 || path[i-1] != '/' {
			b.WriteByte(path[i])
		}
	}
	return b.String()
}

// holds reports whether the conditions of a rule hold. If a condition matches, it adds the named
// groups of its expression to parts.
func (s *situation) holds(r *compiledRule, parts map[string]string) bool {
	for i := 0; i < len(r.when); i++ {
		when := &r.source.When[i]
		m := s.match(r.when[i])
		ok := m.ok != when.Not
		switch {
		case !ok && !when.Or:
			return false
		case !ok:
			continue
		case !when.Not:
			maps.Copy(parts, m.parts)
		}
		for r.source.When[i].Or { // one of these holds, so skip the others
			i++
		}
	}
	return true
}

// match returns the result of condition i. It evaluates each condition only once.
func (s *situation) match(i int) match {
	c := &s.conditions[i]
	s.agent = s.agent || c.on == onUserAgent
	s.fields = s.fields || c.on != onElement && c.on != onPath
	if m, ok := s.results[i]; ok {
		return m
	}
	value := s.value(c)
	s.steps += c.cost * (len(value) + 1)
	m := match{}
	if at := c.re.FindStringSubmatchIndex(value); at != nil {
		m.ok = true
		for j, label := range c.names {
			if label == "" {
				continue
			}
			if m.parts == nil {
				m.parts = make(map[string]string)
			}
			m.parts[label] = ""
			if at[2*j] >= 0 {
				m.parts[label] = value[at[2*j]:at[2*j+1]]
			}
		}
	}
	if s.results == nil {
		s.results = make(map[int]match)
	}
	s.results[i] = m
	return m
}

func (s *situation) value(c *compiledCondition) string {
	value := ""
	switch c.on {
	case onAccept:
		value = s.request.Accept
	case onLanguages:
		value = s.request.Languages
	case onUserAgent:
		value = s.request.UserAgent
	case onQuery:
		value = s.request.Query
	case onElement:
		value = s.element(c.raw, c.merge)
	case onPath:
		if value = s.path(); c.merge {
			value = merged(value)
		}
	}
	if len(value) > maxValue {
		return ""
	}
	return value
}

// path returns the decoded path of an http or https name, or the decoded element of any other name.
func (s *situation) path() string {
	key := s.name.Key()
	if rest, ok := strings.CutPrefix(key, "https://"); ok {
		return pathOf(rest)
	}
	if rest, ok := strings.CutPrefix(key, "http://"); ok {
		return pathOf(rest)
	}
	return s.plain
}

func pathOf(rest string) string {
	_, path, _ := strings.Cut(rest, "/")
	path, _, _ = strings.Cut(path, "?")
	return "/" + unescape(path)
}
