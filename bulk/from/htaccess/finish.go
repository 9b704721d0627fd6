package htaccess

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/bulk/from"
	"github.com/nomen-project/nomen/bulk/from/rewrite"
	"github.com/nomen-project/nomen/rule"
)

// finish refuses rules that depend on other rules in an unsupported way, and generates tests for
// all other rules.
func (c *converter) finish() {
	c.checkGoingOn()
	c.checkPassing()
	c.rewrites, c.aliases = withQueries(c.rewrites), withQueries(c.aliases)
	for {
		all := c.entries()
		set := setOf(all)
		unreached, err := rewrite.AddTests(set, c.prefix, func(i, variant int) (rewrite.Candidate, bool) {
			return c.candidate(&all[i], variant)
		})
		if err == nil && c.findWitnesses(all, unreached) {
			continue
		}
		if err == nil {
			for i := range all {
				all[i].Tests = set[i].Tests
			}
			c.dropUnreached(all, unreached)
			c.keep(all, unreached)
			_, err = setOf(c.entries()).Check(c.prefix)
			all = c.entries()
		}
		var e *rule.IndexError
		if !errors.As(err, &e) || e.Rule >= len(all) {
			if err != nil {
				c.drop(all, indexes(len(all)), err.Error())
				c.keep(all, indexes(len(all)))
			}
			return
		}
		c.drop(all, []int{e.Rule}, fmt.Sprintf("%s: %s", e.What, e.Err))
		c.keep(all, []int{e.Rule})
	}
}

// findWitnesses finds elements for these rules, which meet all tests of the path. It reports whether
// there is a new one.
func (c *converter) findWitnesses(all []entry, which []int) (found bool) {
	for _, i := range which {
		if e := &all[i]; !e.sought {
			e.sought = true
			e.witness, e.witnessed, _ = rewrite.Witness(c.requirements(all, i, "path"))
			found = found || e.witnessed
		}
	}
	if found {
		c.keep(all, nil)
	}
	return found
}

func indexes(n int) (all []int) {
	for i := range n {
		all = append(all, i)
	}
	return all
}

func (c *converter) drop(all []entry, which []int, reason string) {
	for _, i := range which {
		for _, l := range all[i].from {
			c.refuse(l, errors.New(reason))
		}
	}
}

// keep replaces the rules of the file by all, without the entries whose indexes are in removed.
func (c *converter) keep(all []entry, removed []int) {
	var rest []entry
	for i := range all {
		if !slices.Contains(removed, i) {
			rest = append(rest, all[i])
		}
	}
	c.aliases, c.rewrites, c.last = nil, rest, nil
}

// dropUnreached refuses the rules for which no test was found, except those that have no effect:
//
//   - An earlier rule answers all requests that the rule would answer alone.
//   - The expression never matches, in Apache either.
//   - The rule is for values of variables that no request gives.
//   - The rule is only for the results of earlier rules, which have rules of their own.
func (c *converter) dropUnreached(all []entry, unreached []int) {
	for _, i := range unreached {
		e := &all[i]
		switch {
		case e.synthetic, e.asked, e.applied, e.expr != nil && (e.expr.BeginsWithSlash() || e.expr.Never()):
		case len(e.variant.conds) > 0 && c.impossible(all, i):
		case c.hidden(all, i):
		case c.answers(all, i):
			c.drop(all, []int{i}, "the rule gives no valid location")
		default:
			c.drop(all, []int{i}, "no request was found that reaches this rule")
		}
	}
}

// impossible reports whether it is certain that no request reaches rule i: no path or header field
// meets its conditions and is left by the earlier rules that have no conditions, or an earlier rule
// answers all requests with these values of variables.
func (c *converter) impossible(all []entry, i int) bool {
	if slices.ContainsFunc(all[:i], func(f entry) bool { return f.answersValues(&all[i]) }) {
		return true
	}
	for _, on := range []string{"path", "accept", "user_agent", "languages", "query"} {
		if _, _, none := rewrite.Witness(c.requirements(all, i, on)); none {
			return true
		}
	}
	return false
}

// answersValues reports whether the RewriteRule of an earlier entry f answers all requests for which
// entry e is, because it depends only on variables of the environment.
func (f *entry) answersValues(e *entry) bool {
	if f.synthetic || f.asked || f.negated || f.expr == nil || f.Regexp != e.Regexp || len(f.tests) == 0 {
		return false
	}
	return !slices.ContainsFunc(f.tests, func(cond condition) bool {
		value, ok := e.variant.values[cond.env]
		if cond.on != onEnv || cond.or || !ok || strings.Contains(value, groupBegin) {
			return true
		}
		re, err := regexp.Compile(cond.expr.Anywhere())
		return err != nil || re.MatchString(value) == cond.not
	})
}

// requirements returns what a field of a request must meet to reach rule i. For the path, these are
// the requirements on the element. Conditions with alternatives are left out.
func (c *converter) requirements(all []entry, i int, on string) (out []rewrite.Requirement) {
	e := &all[i]
	if on == "path" {
		out = slices.Clone(c.possible)
	}
	if e.expr != nil && on == "path" {
		out = append(out, rewrite.Requirement{Expression: e.expr, Not: e.negated})
		for j := range all[:i] {
			if f := &all[j]; len(f.When) == 0 && f.expr != nil {
				out = append(out, rewrite.Requirement{Expression: f.expr, Not: !f.negated})
			}
		}
	}
	for k, cond := range e.conds {
		switch {
		case cond.expr == nil, cond.or, k > 0 && e.conds[k-1].or:
		case cond.on == on && on == "path":
			out = append(out, rewrite.Requirement{Expression: cond.expr, Before: c.dir, Not: cond.not})
		case cond.on == on, cond.on == "element" && on == "path":
			out = append(out, rewrite.Requirement{Expression: cond.expr, Not: cond.not})
		}
	}
	return out
}

// answers reports whether one of the candidate requests reaches rule i.
func (c *converter) answers(all []entry, i int) bool {
	for variant := range 48 {
		candidate, _ := c.candidate(&all[i], variant)
		if m, ok := rewrite.Matched(setOf(all[:i+1]), c.prefix, candidate); ok && m == i {
			return true
		}
	}
	return false
}

// hidden reports whether an earlier rule without further conditions answers all requests that rule i
// would answer on its own.
func (c *converter) hidden(all []entry, i int) bool {
	var answered []rewrite.Candidate
	for variant := range 48 {
		candidate, _ := c.candidate(&all[i], variant)
		if m, ok := rewrite.Matched(setOf(all[i:i+1]), c.prefix, candidate); ok && m == 0 {
			answered = append(answered, candidate)
		}
	}
	return len(answered) > 0 && slices.ContainsFunc(indexes(i), func(j int) bool {
		if len(all[j].When) > 0 && !slices.Equal(all[j].When, all[i].When) {
			return false
		}
		if all[j].Regexp == all[i].Regexp {
			return true
		}
		if all[i].expr != nil && all[j].expr != nil {
			only := []rewrite.Requirement{{Expression: all[i].expr, Not: all[i].negated}, {Expression: all[j].expr, Not: !all[j].negated}}
			if _, found, none := rewrite.Witness(append(only, c.possible...)); found || none {
				return none
			}
		}
		return !slices.ContainsFunc(answered, func(candidate rewrite.Candidate) bool {
			m, ok := rewrite.Matched(setOf(all[j:j+1]), c.prefix, candidate)
			return !ok || m != 0
		})
	})
}

// checkGoingOn handles rules without the flag L. In Apache httpd, a later rule is matched against
// the result of such a rule instead of the path of the request. If this has no supported
// equivalent, checkGoingOn refuses the rule.
func (c *converter) checkGoingOn() {
	var all []entry
	for i := range c.rewrites {
		var joined []entry
		if !c.rewrites[i].goesOn {
			all = append(all, c.rewrites[i])
			continue
		}
		more, later := c.after(i)
		joined = append(joined, more...)
		if later >= 0 {
			reason := fmt.Sprintf("without the flag L, the rule in line %d applies to its result", c.rewrites[i+1+later].from[0].number)
			c.drop(c.rewrites, []int{i}, reason)
		}
		all = append(append(all, joined...), c.rewrites[i])
	}
	c.rewrites = all
	c.rewrites = slices.DeleteFunc(c.rewrites, func(e entry) bool { return !e.synthetic && c.refused[e.from[0].number] != nil })
}

// checkPassing refuses rules that leave the path unchanged if the file has mod_alias directives,
// because these would apply to the same requests.
func (c *converter) checkPassing() {
	if len(c.aliases) == 0 {
		return
	}
	var passing []int
	for i := range c.rewrites {
		if c.rewrites[i].passes {
			passing = append(passing, i)
		}
	}
	c.drop(c.rewrites, passing, fmt.Sprintf("with this rule, the redirect in line %d applies in place of later rules", c.aliases[0].from[0].number))
	c.rewrites = slices.DeleteFunc(c.rewrites, func(e entry) bool { return e.passes })
}

// after determines how later rules affect the requests of rule i, which does not have the flag L.
// The result joined contains rules to insert before rule i. Each of them combines the conditions of
// rule i with the location of a later rule. If a later rule depends on the rewritten URL, it cannot
// be combined with rule i. In this case, skipped is the number of rules between rule i and the
// later rule. Otherwise skipped is -1.
func (c *converter) after(i int) (joined []entry, skipped int) {
	first := &c.rewrites[i]
	for j, e := range c.rewrites[i+1:] {
		if !e.expr.MayMatchAfter(first.result()) {
			continue
		}
		if both, ok := c.applied(first, &e); ok && both == nil {
			continue
		} else if ok {
			rest := c.rewrites[i+2+j:]
			if e.goesOn && len(both.Locations) > 0 && slices.ContainsFunc(rest, func(f entry) bool { return f.expr.MayMatchAfter(both.result()) }) {
				return nil, j
			}
			c.rewrites[i+1+j].applied = true
			if joined = append(joined, *both); len(e.When) == 0 {
				break
			}
			continue
		}
		if e.negated || e.passes || !e.expr.MatchesAll() || e.dependsOnMatch() {
			return nil, j
		}
		both := *first
		both.synthetic, both.goesOn, both.from = true, false, nil
		both.Status, both.Locations, both.Query, both.Parts = e.Status, e.Locations, e.Query, e.Parts
		both.When = slices.Concat(first.When, e.When)
		both.conds = slices.Concat(first.conds, e.conds)
		if joined = append(joined, both); len(e.When) == 0 {
			break
		}
	}
	return joined, -1
}

// result returns the beginning of the URL to which a rule rewrites, up to the first part that depends
// on the request.
func (e *entry) result() string {
	url := e.Locations[0].URL
	if i := strings.IndexAny(url, "{%?"); i >= 0 {
		url = url[:i]
	}
	return url
}

// applied returns the rule for the requests of the first rule, whose location is constant, to which a
// later rule applies. It is nil if the later rule does not match. The result ok is false if that
// depends on the request.
func (c *converter) applied(first, later *entry) (both *entry, ok bool) {
	name, literal := first.expr.Literal()
	url := first.result()
	if !literal || url != first.Locations[0].URL || first.Query != rule.QueryAppend || later.negated || strings.Contains(later.args[1], "%") {
		return nil, false
	}
	// In a directory, Apache appends what follows the first segment of the path.
	if i := strings.IndexByte(name, '/'); i >= 0 {
		url += name[i:]
	}
	re, err := regexp.Compile(later.expr.Anywhere())
	if err != nil {
		return nil, false
	}
	groups := re.FindStringSubmatch(url)
	if groups == nil {
		return nil, true
	}
	if later.passes { // the rule ends the processing and changes nothing
		both := *first
		both.When, both.conds = slices.Concat(first.When, later.When), slices.Concat(first.conds, later.conds)
		both.synthetic, both.goesOn, both.from = true, false, nil
		return &both, true
	}
	args := slices.Clone(later.args)
	args[0], args[1] = first.args[0], insertGroups(args[1], '$', groups)
	both, err = c.convert(later.from[0], args, slices.Concat(first.given, later.given))
	if err != nil || both == nil {
		return nil, false
	}
	for _, v := range []*variant{&later.variant, &first.variant} {
		both.When, both.conds = slices.Concat(v.when, both.When), slices.Concat(v.conds, both.conds)
	}
	both.synthetic, both.goesOn, both.from = true, false, nil
	return both, true
}

func (e *entry) dependsOnMatch() bool {
	return slices.ContainsFunc(e.Locations, func(l nomen.Location) bool { return strings.Contains(l.URL, "{") })
}

// entries returns all rules in order. The redirects of mod_alias come first.
func (c *converter) entries() []entry { return slices.Concat(c.rewrites, c.aliases, c.last) }

func (c *converter) set() rule.Set { return setOf(c.entries()) }

func setOf(all []entry) (set rule.Set) {
	for i := range all {
		r := all[i].Rule
		r.Merge = true
		set = append(set, r)
	}
	return set
}

func (c *converter) report(lines []line, out *from.Output) {
	for _, l := range lines {
		if reason := c.refused[l.number]; reason != nil {
			out.RefuseAt(l.number, l.column(reason), l.text, reason.Error())
		} else {
			out.Handled(1)
		}
	}
}

func (c *converter) candidate(e *entry, variant int) (out rewrite.Candidate, ok bool) {
	out.Element = "no-such-name-0"
	if e.expr != nil {
		out.Element = e.expr.Sample(variant)
		if len(e.When) > 0 && e.When[0].On == "element" && e.When[0].Not {
			out.Element = strings.Repeat("a/", variant%3) + "other"
		}
	}
	usual := [][2]string{{"", ""}, {"*/*", "curl/8.5.0"}, {"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "Mozilla/5.0 (X11; Linux x86_64)"}, {"application/x-other", "other"}, {"text/turtle", ""}}
	out.Accept, out.UserAgent = usual[variant%len(usual)][0], usual[variant/2%len(usual)][1]
	given := map[string]string{}
	for i := 0; i < len(e.conds); i++ {
		first := i
		for i < len(e.conds)-1 && e.conds[i].or {
			i++
		}
		cond := &e.conds[first+variant%(i-first+1)]
		switch {
		case cond.not && cond.on == "query" && given["query"] == "":
			given["query"] = []string{"", "x=1"}[variant%2]
			continue
		case cond.not || cond.expr == nil || cond.on == "element" && cond.text == "":
			continue
		}
		s := cond.expr.Sample(variant / (i - first + 1))
		switch {
		case cond.on == "element":
			out.Element = s
			continue
		case cond.on == "path" && variant%3 == 2 && !strings.HasPrefix(cond.text, "^"):
			out.Element += s
			continue
		case cond.on == "path":
			if s += "/"; len(s) >= len(c.dir) && strings.EqualFold(s[:len(c.dir)], c.dir) {
				s = s[len(c.dir):]
			}
			s = strings.TrimSuffix(s, "/")
			out.Element = strings.TrimPrefix(s, "/")
			continue
		}
		if given[cond.on] != "" {
			s = given[cond.on] + separator(cond.on) + s
		}
		given[cond.on] = s
	}
	if e.asked && given["query"] == "" {
		given["query"] = "x=1"
	}
	if e.witnessed && variant%2 == 0 {
		out.Element = e.witness
	}
	set(&out.Accept, given, "accept")
	set(&out.UserAgent, given, "user_agent")
	set(&out.Languages, given, "languages")
	set(&out.Query, given, "query")
	return out, true
}

func separator(on string) string {
	if on == "query" {
		return "&"
	}
	return ", "
}

func set(field *string, given map[string]string, on string) {
	if s, ok := given[on]; ok {
		*field = s
	}
}
