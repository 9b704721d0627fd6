package rule

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/uri"
)

// Limits on sets.
const (
	maxRules     = 2048 // rules of a set
	maxLocations = 64   // locations of a rule
	maxTests     = 256  // tests of a rule
	maxPad       = 256  // characters to which a part can be padded
	maxDrop      = 256  // bytes of Drop and Trim
)

// A Set is the list of rules of an authority. The first rule that matches a name and a request
// applies.
type Set []Rule

// A Rule gives locations to the names that its pattern matches. Its templates can use the parts of
// the pattern and three other variables: "name" is the key of the name, "element" is the part after
// the prefix, and "prefix" is the prefix.
type Rule struct {
	Match      string           `json:"match,omitempty"`                              // a pattern; see [ParsePattern]
	Regexp     string           `json:"regexp,omitempty"`                             // a regular expression in place of Match; see [ParseRegexp]
	IgnoreCase bool             `json:"ignore_case,omitempty" toml:"ignore_case"`     // ignore the case of ASCII letters
	Merge      bool             `json:"merge_slashes,omitempty" toml:"merge_slashes"` // remove empty segments from the element before matching, as web servers do
	Raw        bool             `json:"raw,omitempty"`                                // do not decode the escapes of the element
	Parts      map[string]Part  `json:"parts,omitempty"`                              // conversions of parts, by name
	Locations  []nomen.Location `json:"locations,omitempty"`                          // the URLs are templates
	SameAs     []string         `json:"same_as,omitempty" toml:"same_as"`             // templates for aliases
	When       []Condition      `json:"when,omitempty"`                               // conditions on the request
	Status     int              `json:"status,omitempty"`                             // HTTP status, see [Rule.checkStatus]; 0 means the status of the authority
	Query      string           `json:"query,omitempty"`                              // QueryAppend or QueryIgnore; "" means the setting of the authority
	Tests      []Test           `json:"tests"`                                        // at least one test must match the rule
}

// checkStatus checks that the status of a rule fits its locations. A rule with locations redirects,
// so its status is 301, 302, 303, 307 or 308, or 0 for the status of the authority. The status of a
// rule without locations says why the rule has no locations, and is 403, 404, 406 or 410. If there is an
// error, member is the invalid field.
func (r *Rule) checkStatus() (member string, err error) {
	n := len(r.Locations) + len(r.SameAs)
	switch r.Status {
	case 403, 404, 406, 410:
		if n > 0 {
			return "locations", fmt.Errorf("must be absent, because the status is %d", r.Status)
		}
		return "", nil
	case 0, 301, 302, 303, 307, 308:
	default:
		return "status", fmt.Errorf("invalid status %d: must be 301, 302, 303, 307, 308, or 403, 404, 406, 410 without locations", r.Status)
	}
	if n == 0 || n > maxLocations {
		return "locations", fmt.Errorf("must have 1 to %d", maxLocations)
	}
	if r.Query != "" && r.Query != QueryAppend && r.Query != QueryIgnore {
		return "query", fmt.Errorf("invalid value %q: must be %s or %s", r.Query, QueryAppend, QueryIgnore)
	}
	return "", nil
}

// The possible values of Query in a rule.
const (
	QueryAppend = "append" // append the query to the location
	QueryIgnore = "ignore" // ignore the query
)

// A Part says how to convert a part of a name before inserting it into a template. The conversions
// are applied in the order of the fields.
type Part struct {
	Drop string `json:"drop,omitempty"` // characters to remove, such as "-"
	Trim string `json:"trim,omitempty"` // characters to remove from the start, such as "0"; at least one character remains
	Case string `json:"case,omitempty"` // "lower" or "upper" converts ASCII letters
	Pad  int    `json:"pad,omitempty"`  // minimum number of characters; shorter parts get zeros at the start

	Escape bool `json:"escape,omitempty"` // percent-encode characters that a path cannot contain; for templates with "{+part}"
}

// A Test is a name and the expected result.
type Test struct {
	From string   `json:"from"`         // a name, in any spelling
	To   []string `json:"to,omitempty"` // the URLs of all locations, or the aliases if the rule has no locations; empty if no rule may match

	Request     // the request of the client
	Status  int `json:"status,omitempty"` // the status of the rule; if it is 403, 404, 406 or 410, a rule must match and To is empty
}

// Matches reports whether the test expects the rule to match.
func (t *Test) Matches() bool { return len(t.To) > 0 || t.Status != 0 }

// A TestError means that a test failed.
type TestError struct {
	Rule, Test int // indexes from 0
	From       string
	Got, Want  []string
	Matched    int // index of the rule that matched, or -1

	GotStatus, WantStatus int // WantStatus is 0 if the test has no status
}

func (e *TestError) Error() string {
	which := "no rule matches"
	if e.Matched >= 0 {
		which = "rule " + strconv.Itoa(e.Matched+1) + " gives " + quoted(e.Got)
	}
	want := "the name may match no rule"
	if len(e.Want) > 0 || e.WantStatus != 0 {
		want = "the test expects " + quoted(e.Want)
	}
	if e.WantStatus != 0 && e.WantStatus != e.GotStatus {
		which += fmt.Sprintf(" with status %d", e.GotStatus)
		want += fmt.Sprintf(" with status %d", e.WantStatus)
	}
	return fmt.Sprintf("rule: test %d of rule %d: %s: %s, but %s", e.Test+1, e.Rule+1, e.From, which, want)
}

func quoted(urls []string) string {
	if len(urls) == 0 {
		return "no location"
	}
	return strings.Join(urls, " ")
}

// An IndexError means that a rule of a set is invalid.
type IndexError struct {
	Rule int    // index, from 0
	What string // the invalid field, such as "match" or "tests"
	Err  error
}

func (e *IndexError) Error() string {
	return fmt.Sprintf("rule %d: %s: %s", e.Rule+1, e.What, e.Err)
}

func (e *IndexError) Unwrap() error { return e.Err }

// A Compiled is a set that is ready for use. It is safe for concurrent use.
type Compiled struct {
	prefix     name.Prefix
	rules      []compiledRule
	conditions []compiledCondition // of all rules, without duplicates
	tested     int                 // steps that the tests took
}

type compiledRule struct {
	source    Rule
	pattern   Pattern
	locations []place
	sameAs    []template
	when      []int    // indexes in conditions
	given     []string // names of the parts that come from conditions
}

// Check compiles the set like [Set.Compile], and also returns an error if the set could take too
// long for some name. Use Check before storing a set. Compile accepts slow sets, because an older
// version of the software may have stored one.
func (s Set) Check(prefix name.Prefix) (*Compiled, error) {
	c, err := s.Compile(prefix)
	if err != nil {
		return nil, err
	}
	return c, c.checkCost()
}

// Compile prepares the set for names with a prefix, and runs its tests. If the set is invalid, the
// error is an [*IndexError]; if a test fails, it is a [*TestError].
func (s Set) Compile(prefix name.Prefix) (*Compiled, error) {
	c, err := s.prepare(prefix)
	if err != nil {
		return nil, err
	}
	for i := range s {
		if c.tested > maxTestSteps { // possible only for a set that Check would reject
			break
		}
		if err := c.test(i, s[i].Tests); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// prepare compiles the rules without running tests.
func (s Set) prepare(prefix name.Prefix) (*Compiled, error) {
	if len(s) > maxRules {
		return nil, &IndexError{maxRules, "rules", fmt.Errorf("more than %d", maxRules)}
	}
	c := &Compiled{prefix: prefix, rules: make([]compiledRule, len(s))}
	for i := range s {
		if err := c.compileRule(i, &s[i]); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func (c *Compiled) compileRule(i int, source *Rule) error {
	r := &c.rules[i]
	r.source = *source
	member, err := r.compilePattern()
	if err == nil {
		member, err = "when", c.compileConditions(r)
	}
	if err == nil {
		member, err = "parts", r.checkParts()
	}
	if err == nil {
		member, err = r.compileTemplates()
	}
	if err != nil {
		return &IndexError{i, member, err}
	}
	return nil
}

// reserved returns the variables that every template can use.
func reserved() []string { return []string{"name", "element", "prefix"} }

func (c *compiledRule) compilePattern() (member string, err error) {
	r := &c.source
	member = "match"
	switch {
	case r.Match != "" && r.Regexp != "":
		return "regexp", errors.New(`"match" is also given: use only one of them`)
	case r.Regexp != "":
		member = "regexp"
		c.pattern, err = ParseRegexp(r.Regexp, r.IgnoreCase)
	case r.Match != "":
		c.pattern, err = ParsePattern(r.Match, r.IgnoreCase)
	default:
		err = errors.New(`missing pattern; "{rest:*}" matches every name`)
	}
	if err != nil {
		return member, err
	}
	if member, err := r.checkStatus(); err != nil {
		return member, err
	}
	for label := range c.pattern.labels {
		if slices.Contains(reserved(), label) {
			return member, fmt.Errorf("the name of the part %q is reserved", label)
		}
	}
	return "", nil
}

func (c *compiledRule) checkParts() error {
	for label, p := range c.source.Parts {
		switch {
		case !slices.Contains(c.pattern.names, label) && !slices.Contains(c.given, label) || label == "":
			return fmt.Errorf("the pattern has no part %q", label)
		case p.Case != "" && p.Case != "lower" && p.Case != "upper":
			return fmt.Errorf(`%s: invalid case %q: must be "lower" or "upper"`, label, p.Case)
		case p.Pad < 0 || p.Pad > maxPad:
			return fmt.Errorf("%s: pad must be 1 to %d", label, maxPad)
		case len(p.Drop) > maxDrop || len(p.Trim) > maxDrop:
			return fmt.Errorf("%s: drop and trim must not exceed %d bytes", label, maxDrop)
		}
	}
	return nil
}

func (c *compiledRule) compileTemplates() (member string, err error) {
	known := append(slices.AppendSeq(reserved(), c.pattern.labels), c.given...)
	for _, l := range c.source.Locations {
		t, err := templateOf(l.URL, known)
		if err != nil {
			return "locations", err
		}
		p, err := newPlace(l, t)
		if err != nil {
			return "locations", err
		}
		c.locations = append(c.locations, p)
	}
	for _, s := range c.source.SameAs {
		t, err := templateOf(s, known)
		if err != nil {
			return "same_as", err
		}
		c.sameAs = append(c.sameAs, t)
	}
	return "", nil
}

func templateOf(s string, known []string) (template, error) {
	t, err := parseTemplate(s)
	if err != nil {
		return t, err
	}
	for label := range t.variables {
		if !slices.Contains(known, label) {
			return t, fmt.Errorf("%s: unknown variable %q: must be one of %s", s, label, strings.Join(known, ", "))
		}
	}
	return t, nil
}

func (c *Compiled) test(i int, tests []Test) error {
	if len(tests) > maxTests {
		return &IndexError{i, "tests", fmt.Errorf("more than %d", maxTests)}
	}
	matched := false
	for j, t := range tests {
		r, err := c.run(i, j, t)
		if err != nil {
			return err
		}
		if !r.Passed {
			return &TestError{Rule: i, Test: j, From: t.From, Got: r.Got, Want: t.To, Matched: r.Matched, GotStatus: r.Status, WantStatus: t.Status}
		}
		matched = matched || r.Matched == i
	}
	if !matched {
		return &IndexError{i, "tests", fmt.Errorf("at least one test must match the rule: a name under %q with its locations", c.rules[i].pattern)}
	}
	return nil
}

// A Result is the outcome of applying a rule to a name.
type Result struct {
	Rule      int // index of the rule, from 0
	Pattern   string
	Locations []nomen.Location
	SameAs    []string
	Left      []string // the reasons for missing locations, such as an invalid host in the result of a template
	Status    int      // Status of the rule
	Query     string   // Query of the rule
}

// A Consulted says which parts of the request influenced the result. The name always does.
type Consulted struct {
	Fields    bool // any part of the request
	UserAgent bool
}

// Apply returns the result of the first rule that matches the name and the request, and whether
// there is such a rule. After maxSteps steps, Apply gives up and returns a result without
// locations, whose field Left has the reason. This can only happen for sets that [Set.Check]
// rejects.
func (c *Compiled) Apply(n name.Name, request Request) (r *Result, ok bool, on Consulted) {
	r, ok, s := c.apply(n, request)
	return r, ok, Consulted{s.fields, s.agent}
}

func (c *Compiled) apply(n name.Name, request Request) (r *Result, ok bool, s situation) {
	s = situation{Compiled: c, name: n, request: request}
	if !c.prefix.Covers(n) {
		return nil, false, s
	}
	s.escaped = c.prefix.Element(n)
	s.plain = unescape(s.escaped)
	for i := range c.rules {
		rule := &c.rules[i]
		parts := s.try(rule)
		if s.steps > maxSteps {
			return &Result{Rule: i, Pattern: rule.pattern.String(), Left: []string{"the rules up to this one take too long for a name of this length"}}, true, s
		}
		if parts != nil {
			return rule.result(i, parts), true, s
		}
	}
	return nil, false, s
}

func (s *situation) try(rule *compiledRule) map[string]string {
	element := s.element(rule.source.Raw, rule.source.Merge)
	if s.steps += rule.pattern.steps(element); s.steps > maxSteps {
		return nil
	}
	parts := rule.pattern.Match(element)
	if parts == nil || !s.holds(rule, parts) {
		return nil
	}
	for label, p := range rule.source.Parts {
		if part, ok := parts[label]; ok {
			parts[label] = p.apply(part)
		}
	}
	parts["name"], parts["element"], parts["prefix"] = s.name.Key(), element, s.prefix.String()
	return parts
}

func (c *compiledRule) result(i int, parts map[string]string) *Result {
	r := &Result{Rule: i, Pattern: c.pattern.String(), Status: c.source.Status, Query: c.source.Query}
	value := func(label string) templateValue {
		s, ok := parts[label]
		if !ok {
			return templateValue{}
		}
		return stringValue(s)
	}
	room := maxExpanded
	for _, p := range c.locations {
		if room <= 0 {
			r.Left = append(r.Left, p.URL+": the other locations of the name have reached the size limit")
			continue
		}
		l, err := p.expand(parts, value)
		if room -= len(l.URL); errors.Is(err, errTooLong) {
			room -= maxExpansion
		}
		if err != nil {
			r.Left = append(r.Left, fmt.Sprintf("%s: %s", p.URL, err))
			continue
		}
		r.Locations = append(r.Locations, l)
	}
	for _, t := range c.sameAs {
		if room <= 0 {
			break
		}
		s, ok := t.expand(value)
		if room -= len(s); !ok {
			room -= maxExpansion
		} else if _, err := uri.Parse(s); err == nil {
			r.SameAs = append(r.SameAs, s)
		}
	}
	return r
}

func (p Part) apply(s string) string {
	if p.Drop != "" {
		s = strings.Map(func(r rune) rune {
			if strings.ContainsRune(p.Drop, r) {
				return -1
			}
			return r
		}, s)
	}
	if p.Trim != "" && s != "" {
		if trimmed := strings.TrimLeft(s, p.Trim); trimmed != "" {
			s = trimmed
		} else {
			_, size := utf8.DecodeLastRuneInString(s)
			s = s[len(s)-size:]
		}
	}
	switch p.Case {
	case "lower":
		s = mapASCII(s, 'A', 'Z')
	case "upper":
		s = mapASCII(s, 'a', 'z')
	}
	if n := p.Pad - utf8.RuneCountInString(s); n > 0 {
		s = strings.Repeat("0", n) + s
	}
	if p.Escape {
		s = uri.EscapePath(s)
	}
	return s
}

func mapASCII(s string, first, last byte) string {
	b := []byte(s)
	for i, c := range b {
		if first <= c && c <= last {
			b[i] = c ^ ('a' - 'A')
		}
	}
	return string(b)
}

func unescape(s string) string {
	plain, err := uri.Unescape(s)
	if err != nil {
		return s // s does not come from a URI, and has no escapes
	}
	return plain
}
