package htaccess

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/bulk/from"
	"github.com/nomen-project/nomen/bulk/from/rewrite"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/rule"
	"github.com/nomen-project/nomen/store"
)

const (
	fileName    = ".htaccess"
	defaultBase = "https://w3id.org/"
)

// Format returns the format of .htaccess files.
func Format() from.Format {
	return from.Format{
		Name: "htaccess", What: "redirects of Apache httpd, as of w3id.org",
		Match:   func(p string) bool { return path.Base(p) == fileName },
		Convert: Convert,
	}
}

// Convert converts an .htaccess file to the rules of the naming authority for its directory.
func Convert(_ context.Context, in *from.Input, out *from.Output) error {
	c, err := convert(in, out)
	if err != nil {
		return err
	}
	if set := c.set(); len(set) > 0 {
		out.Authority(1, c.prefix, func(a *store.Authority) { a.Rules = set })
	}
	return nil
}

func convert(in *from.Input, out *from.Output) (*converter, error) {
	c, err := newConverter(in)
	if err != nil {
		return nil, err
	}
	lines, err := readLines(in)
	if err != nil {
		return nil, err
	}
	c.survey(lines)
	for _, l := range lines {
		c.directive(l)
	}
	c.noRule("no rule follows")
	c.errorDocuments()
	c.finish()
	c.report(lines, out)
	return c, nil
}

type converter struct {
	origin string // scheme and host of the base
	dir    string // path of the directory, with a final slash
	prefix name.Prefix

	base    string          // value of RewriteBase, or dir
	setters []setter        // directives that set variables of the environment
	noEnv   map[string]bool // variables of the environment that are not supported
	usesEnv map[string]bool // variables of the environment that directives test or insert
	engine  bool            // the rules of mod_rewrite apply

	plain     map[int]bool // lines of the beginnings of sections without a directive for redirects
	skipped   int          // depth of sections that are refused or have no effect
	refusing  string       // the reason why the content of a section is refused; "" if it has no effect
	skips     int          // how many of the next rules the flag S of an earlier rule may skip
	chained   bool         // the rule before has the flag C
	decides   int          // line of the rule with such a flag
	pending   []condition
	badBefore error // why one of the pending conditions is refused
	rewrites  []entry
	aliases   []entry       // directives of mod_alias, which follow: in directories, mod_rewrite is first
	last      []entry       // of ErrorDocument 404
	documents map[int]entry // of ErrorDocument, by status
	refused   map[int]error

	possible []rewrite.Requirement // on elements of names
}

// impossible finds elements that no name has: empty segments are ignored, and clients remove the
// segments "." and "..".
const impossible = `^/|//|(^|/)\.{1,2}(/|$)`

// An entry is a rule, together with the directives from which it was converted.
type entry struct {
	rule.Rule
	from  []line
	expr  *rewrite.Expression
	conds []condition

	args    []string    // of the directive, with the values of variables of the environment
	given   []condition // the conditions of the directive
	variant variant     // the values of variables for which the rule is
	tests   []condition // the conditions of the directive before these values were inserted
	negated bool        // the rule is for names that do not match its expression

	sought, witnessed bool   // an element that meets all tests of the path was sought, and found
	witness           string // this element

	asked     bool // is for requests with a query
	goesOn    bool // later rules may apply to the result
	passes    bool // the rule changes nothing, so directives of mod_alias apply
	applied   bool // a later rule that applies to the result of an earlier one
	synthetic bool // shows what a later rule does with the result of an earlier one
}

func newConverter(in *from.Input) (*converter, error) {
	base, err := url.Parse(cmp.Or(in.Base, defaultBase))
	if err != nil || base.Host == "" || base.Scheme != "https" && base.Scheme != "http" {
		return nil, fmt.Errorf("invalid base %q: want the URL of the directory, such as %s", in.Base, defaultBase)
	}
	c := &converter{origin: base.Scheme + "://" + base.Host, refused: make(map[int]error), noEnv: make(map[string]bool), usesEnv: make(map[string]bool), documents: make(map[int]entry)}
	c.dir = path.Join("/", base.Path, path.Dir(in.Path))
	if c.prefix, err = name.ParsePrefix(strings.TrimSuffix(c.origin+c.dir, "/")); err != nil {
		return nil, err
	}
	if c.dir != "/" {
		c.dir += "/"
	}
	c.base = c.dir
	expr, err := rewrite.Parse(impossible, false, "")
	c.possible = []rewrite.Requirement{{Expression: expr, Not: true}}
	return c, err
}

// survey processes the directives that affect the whole file, such as RewriteEngine and
// RewriteBase.
func (c *converter) survey(lines []line) {
	for _, l := range lines {
		switch l.name {
		case "rewriteengine":
			args := arguments(l.rest)
			c.engine = len(args) > 0 && strings.EqualFold(args[0], "on")
		case "rewritebase":
			if args := arguments(l.rest); len(args) == 1 && strings.HasPrefix(args[0], "/") {
				c.base = strings.TrimSuffix(args[0], "/") + "/"
			}
		}
		c.readSetter(l)
		insertEnv(l.rest, func(name string) string {
			c.usesEnv[name] = true
			return ""
		})
	}
	c.plainSections(lines)
}

// plainSections finds sections such as <Files> and <Limit> that contain no directive for redirects.
// The directives in these sections are read as if they were outside of a section.
func (c *converter) plainSections(lines []line) {
	c.plain = make(map[int]bool)
	begin := -1
	for i, l := range lines {
		switch l.name {
		case "<files", "<filesmatch", "<limit", "<limitexcept":
			begin = i
		case "</files", "</filesmatch", "</limit", "</limitexcept":
			if begin >= 0 {
				c.plain[lines[begin].number] = true
			}
			begin = -1
		default:
			if strings.HasPrefix(l.name, "<") || strings.HasPrefix(l.name, "re") && l.name != "require" && !strings.HasPrefix(l.name, "remove") || l.name == "errordocument" {
				begin = -1
			}
		}
	}
}

// refuse records the reason for refusing a line. It keeps an earlier reason for the same line.
func (c *converter) refuse(l line, reason error) {
	if c.refused[l.number] == nil {
		c.refused[l.number] = reason
	}
}

func (c *converter) directive(l line) {
	if strings.HasPrefix(l.name, "<") || c.skipped > 0 {
		c.section(l)
		return
	}
	switch l.name {
	case "rewritecond":
		c.condition(l)
	case "rewriterule":
		c.rewriteRule(l)
	case "redirect", "redirectpermanent", "redirecttemp", "redirectmatch":
		if err := c.alias(l); err != nil {
			c.refuse(l, err)
		}
	case "errordocument":
		if err := c.errorDocument(l); err != nil {
			c.refuse(l, err)
		}
	default:
		if reason := c.other(l); reason != "" {
			c.refuse(l, errors.New(reason))
		}
	}
}

// section handles the beginning or the end of a section, and directives in skipped sections. It
// assumes that all modules are loaded: it reads the content of <IfModule> and skips the content of
// <IfModule !...>.
func (c *converter) section(l line) {
	switch {
	case strings.HasPrefix(l.name, "</"):
		c.skipped = max(c.skipped-1, 0)
		if c.skipped > 0 || c.refusing != "" {
			c.refuseInside(l)
		}
	case c.skipped > 0:
		c.refuseInside(l)
		if strings.HasPrefix(l.name, "<") {
			c.skipped++
		}
	case l.name == "<ifmodule" && !strings.HasPrefix(l.rest, "!"):
	case l.name == "<ifmodule":
		c.skipped, c.refusing = 1, ""
	case c.plain[l.number]:
	default:
		c.skipped, c.refusing = 1, "unsupported section "+l.name+">"
		c.refuse(l, errors.New(c.refusing))
	}
}

func (c *converter) refuseInside(l line) {
	if c.refusing != "" {
		c.refuse(l, errors.New(c.refusing))
	}
}

func (c *converter) condition(l line) {
	cond, err := c.parseCondition(l)
	c.pending = append(c.pending, cond)
	if err != nil {
		c.refuse(l, err)
		c.badBefore = fmt.Errorf("its condition in line %d is not supported", l.number)
	}
}

// noRule refuses pending conditions that no rule follows.
func (c *converter) noRule(reason string) {
	for _, cond := range c.pending {
		c.refuse(cond.line, errors.New(reason))
	}
	c.pending, c.badBefore = nil, nil
}

func (c *converter) rewriteRule(l line) {
	conds, err := c.pending, c.badBefore
	c.pending, c.badBefore = nil, nil
	if !c.engine {
		return // the rule has no effect
	}
	if reason := c.dependent(l); err == nil {
		err = reason
	}
	var entries []entry
	if err == nil {
		entries, err = c.convertAll(l, conds)
	}
	if err != nil {
		c.refuse(l, err)
		for _, cond := range conds {
			c.refuse(cond.line, fmt.Errorf("the rule in line %d is not supported", l.number))
		}
		return
	}
	c.rewrites = append(c.rewrites, entries...)
}

// dependent returns why a rule cannot be converted on its own: an earlier rule with the flag C or S
// decides whether it applies.
func (c *converter) dependent(l line) (reason error) {
	if c.skips > 0 || c.chained {
		reason = fmt.Errorf("the flags of the rule in line %d decide whether this rule applies", c.decides)
	}
	c.skips = max(c.skips-1, 0)
	skips, chained := 0, false
	if args := rewriteArguments(l.rest); len(args) == 3 {
		skips, chained = skipFlags(args[2])
	}
	if c.chained = chained; skips > 0 || chained && reason == nil {
		c.decides = l.number
	}
	c.skips = max(c.skips, skips)
	return reason
}

// convertAll converts a RewriteRule: to one rule for each combination of the values of the variables
// of the environment on which it depends.
func (c *converter) convertAll(l line, conds []condition) (out []entry, err error) {
	args := rewriteArguments(l.rest)
	if len(args) < 2 {
		return nil, errors.New("must have a pattern and a target")
	}
	all := []variant{{}}
	if names := envNames(args[1], conds); len(names) > 0 {
		if all, err = c.variants(names); err != nil {
			return nil, about(args[1], err)
		}
	}
	for i := range all {
		v, given := &all[i], slices.Clone(args)
		decided := conds
		if given[1], decided, err = v.withEnv(args[1], conds); err != nil {
			return nil, err
		}
		e, err := c.convert(l, given, decided)
		if err != nil {
			return nil, err
		}
		if e != nil {
			e.variant, e.tests = *v, conds
			e.When, e.conds = slices.Concat(v.when, e.When), slices.Concat(v.conds, e.conds)
			out = append(out, *e)
		}
	}
	return out, nil
}

// convert converts a RewriteRule with these arguments. The entry is nil if the rule has no effect.
func (c *converter) convert(l line, args []string, conds []condition) (*entry, error) {
	f, err := parseFlags(strings.Join(args[2:], ""))
	if err != nil {
		return nil, err
	}
	pattern, not := strings.CutPrefix(args[0], "!")
	e := &entry{from: []line{l}, args: args, given: conds, conds: conds, negated: not}
	for _, cond := range conds {
		e.from = append(e.from, cond.line)
	}
	conds = effective(conds)
	if neverHold(conds) {
		return nil, nil
	}
	e.conds = conds
	if e.expr, err = rewrite.Parse(pattern, f.fold, "g"); err != nil {
		return nil, about(pattern, err)
	}
	if e.When, err = conditionsOf(conds); err != nil {
		return nil, err
	}
	target := args[1]
	switch {
	case isError(f.status):
		e.Status = f.status
	case target == "-" && !f.last && f.status == 0:
		return nil, nil
	case target == "-" && f.status == 0:
		e.Status, e.passes = 404, true // the directories contain no files
	case target == "-":
		return nil, errors.New("redirects to the requested path itself")
	default:
		err = about(target, c.redirect(e, target, f))
	}
	if err != nil {
		return nil, err
	}
	if e.Regexp == "" {
		e.Regexp = e.expr.Whole("")
	}
	if not {
		if e.Regexp = ".*"; strings.Contains(target, "$") && e.Status < 400 {
			return nil, errors.New("a negated pattern has no groups")
		}
		e.When = append([]rule.Condition{{On: "element", Regexp: e.expr.Anywhere(), Not: true}}, e.When...)
	}
	return e, nil
}

// redirect sets the location and the status of a rule.
func (c *converter) redirect(e *entry, target string, f flags) error {
	target, err := c.absolute(target, f.status != 0)
	if err != nil {
		return err
	}
	x := expansion{converter: c, flags: f, group: "g", other: "c", groups: e.expr.Groups()}
	x.others = -1
	for _, cond := range e.conds[firstNamed(e.conds):] {
		if cond.hasGroups() {
			x.others = max(x.others, cond.expr.Groups())
		}
	}
	url, err := x.expand(target)
	if err != nil {
		return err
	}
	if x.whole {
		e.Regexp = e.expr.Whole("g0")
	}
	e.When = append(x.needs, e.When...)
	e.Status, e.Parts = cmp.Or(f.status, 302), x.Parts
	e.Query = rule.QueryAppend
	if f.discard || x.query && !f.append {
		e.Query = rule.QueryIgnore
	}
	e.Locations = []nomen.Location{{URL: url}}
	e.goesOn = !f.last
	return nil
}

// absolute returns the target as an absolute URL.
func (c *converter) absolute(target string, redirects bool) (string, error) {
	scheme, _, ok := strings.Cut(target, "://")
	isURL := ok && strings.Trim(strings.ToLower(scheme), "abcdefghijklmnopqrstuvwxyz0123456789+.-") == ""
	own := strings.HasPrefix(strings.ToLower(target)+"/", strings.ToLower(c.origin)+"/")
	switch {
	case isURL && own && !redirects, !isURL && !redirects:
		return "", errors.New("rewrites the path on the server without a redirect")
	case isURL:
		return target, nil
	case strings.HasPrefix(target, "mailto:"), strings.HasPrefix(target, "news:"):
		return "", errors.New("the target is not the URL of a page")
	case strings.HasPrefix(target, "/"):
		return c.origin + target, nil
	case strings.HasPrefix(target, "%"):
		return "", errors.New("the scheme or host of the target depends on the request")
	}
	base := c.base
	for { // a client would remove the segments "." and ".."
		if rest, ok := strings.CutPrefix(target, "./"); ok {
			target = rest
		} else if rest, ok := strings.CutPrefix(target, "../"); ok {
			target, base = rest, strings.TrimSuffix(path.Join("/", base, ".."), "/")+"/"
		} else {
			return c.origin + base + target, nil
		}
	}
}

func (c *converter) alias(l line) error {
	args := arguments(l.rest)
	status := "302"
	switch {
	case l.name == "redirectpermanent":
		status = "301"
	case len(args) > 0 && l.name != "redirecttemp" && !strings.ContainsAny(args[0], "/^"):
		status, args = args[0], args[1:]
	}
	code, err := redirectStatus(status)
	if err != nil {
		return about(status, err)
	}
	e := &entry{from: []line{l}}
	e.Regexp, e.Status = ".*", code
	if len(args) == 0 || !isError(code) && len(args) != 2 {
		return errors.New("must have a path and a URL")
	}
	pattern := args[0]
	if l.name != "redirectmatch" {
		after := "(/.*|$)"
		if strings.HasSuffix(args[0], "/") {
			after = "(.*)" // what follows the slash is appended
		}
		if pattern = "^" + regexp.QuoteMeta(args[0]) + after; !strings.HasPrefix(args[0], "/") {
			return about(args[0], errors.New("the path must begin with a slash"))
		}
	}
	expr, err := rewrite.Parse(pattern, false, "c")
	if err != nil {
		return about(args[0], err)
	}
	e.When = []rule.Condition{{On: "path", Regexp: expr.Anywhere()}}
	cond, err := rewrite.Parse(pattern, false, "")
	e.conds = []condition{{line: l, on: "path", text: pattern, expr: cond}}
	if err != nil || isError(code) {
		c.aliases = append(c.aliases, *e)
		return err
	}
	// Apache escapes the path of the result of RedirectMatch, so that "%20" becomes "%2520".
	end := len(args[1])
	if i := strings.IndexAny(args[1], "?#"); i >= 0 {
		end = i
	}
	target := strings.ReplaceAll(args[1][:end], "%", `\%25`) + strings.ReplaceAll(args[1][end:], "%", `\%`)
	if l.name != "redirectmatch" {
		target = strings.NewReplacer("%", `\%`, "$", `\$`, `\`, `\\`).Replace(args[1]) + "$1"
	}
	if strings.HasPrefix(target, "/") {
		target = c.origin + target
	}
	x := expansion{converter: c, group: "c", other: "none", groups: expr.Groups(), others: -1}
	x.noEscape = true
	url, err := x.expand(target)
	if err != nil {
		return about(args[1], err)
	}
	e.Locations, e.Parts, e.Query = []nomen.Location{{URL: url}}, x.Parts, rule.QueryAppend
	if x.query {
		e.Query = rule.QueryIgnore
	}
	c.aliases = append(c.aliases, *e)
	return nil
}

func withQueries(all []entry) (out []entry) {
	for _, e := range all {
		out = append(out, withQuery(e)...)
	}
	return out
}

// withQuery returns the rules that replace e. If the location has a fragment and the query is
// appended, Apache httpd appends the query to the fragment. In this case, withQuery adds another
// rule before e for requests with a query.
func withQuery(e entry) []entry {
	if e.Query != rule.QueryAppend || len(e.Locations) == 0 {
		return []entry{e}
	}
	url, fragment, ok := strings.Cut(e.Locations[0].URL, "#")
	if !ok {
		return []entry{e}
	}
	e.Query = rule.QueryIgnore
	asked := e
	separator := "?"
	if strings.Contains(url+fragment, "?") {
		separator = "&"
	}
	asked.When = append(slices.Clip(e.When), rule.Condition{On: "query", Regexp: "^(?P<asked>.+)$"})
	asked.Locations = []nomen.Location{{URL: url + "#" + fragment + separator + "{+asked}"}}
	asked.asked = true
	return []entry{asked, e}
}

// errorDocument converts an ErrorDocument directive with a URL to a redirect, which replaces the
// result of all rules with this status. A redirect for 404 also applies to all names that no rule
// matches.
func (c *converter) errorDocument(l line) error {
	args := arguments(l.rest)
	if len(args) != 2 || !strings.Contains(args[1], "://") {
		return errors.New("only the URL of an error document is supported")
	}
	status, err := redirectStatus(args[0])
	if err != nil || !isError(status) {
		return about(args[0], fmt.Errorf("unsupported status %s", args[0]))
	}
	x := expansion{converter: c}
	x.noEscape = true
	url, err := x.expand(strings.NewReplacer("$", `\$`, "%", `\%`).Replace(args[1]))
	if err != nil {
		return about(args[1], err)
	}
	e := entry{from: []line{l}}
	e.Regexp, e.Status, e.Query, e.Locations = ".*", 302, rule.QueryIgnore, []nomen.Location{{URL: url}}
	c.documents[status] = e
	return nil
}

func (c *converter) errorDocuments() {
	for _, all := range [][]entry{c.rewrites, c.aliases} {
		for i := range all {
			if d, ok := c.documents[all[i].Status]; ok {
				all[i].Status, all[i].Query, all[i].Locations = d.Status, d.Query, d.Locations
				all[i].passes = false
			}
		}
	}
	if d, ok := c.documents[404]; ok {
		c.last = append(c.last, d)
	}
}
