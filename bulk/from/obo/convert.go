package obo

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

	"go.yaml.in/yaml/v3"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/bulk/from"
	"github.com/nomen-project/nomen/bulk/from/rewrite"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/rule"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/uri"
)

const defaultBase = "http://purl.obolibrary.org/"

// Format returns the format of the redirect files of the OBO Foundry.
func Format() from.Format {
	return from.Format{
		Name: "obo-yaml", What: "redirects of the OBO Foundry",
		Match:   func(p string) bool { return path.Ext(p) == ".yml" || path.Ext(p) == ".yaml" },
		Convert: Convert,
	}
}

// Convert converts a file to rules of the authorities that the package documentation describes.
func Convert(_ context.Context, in *from.Input, out *from.Output) error {
	c, err := newConverter(in)
	if err != nil {
		return err
	}
	c.convert()
	if c.upper.at != c.own.at && !c.own.keeps {
		c.upper.rules = slices.Clone(c.own.rules)
	}
	for _, t := range c.targets() {
		t.finish(c)
		if set := t.set(); len(set) > 0 {
			out.Authority(1, t.at, func(a *store.Authority) { a.Rules = t.merge(a.Rules, set) })
		}
	}
	for _, d := range c.directives {
		if d.refused != "" {
			out.RefuseAt(d.line, d.column, d.text, d.refused)
		} else {
			out.Handled(1)
		}
	}
	return nil
}

// A directive is a key or an entry in a file.
type directive struct {
	line    int
	column  int // 0 if unknown
	text    string
	refused string // reason for refusing it, or ""
}

// A target is an authority, together with the rules that a file contains for it.
type target struct {
	at    name.Prefix
	rules []converted
	keeps bool // other files also have rules of the authority
}

// A converted is a rule with the data for generating its tests.
type converted struct {
	rule.Rule
	of       *directive
	expr     *rewrite.Expression
	elements []string // paths below the authority that should reach the rule
}

type converter struct {
	*file
	origin       string // scheme and host
	base         string // path of base_url
	own, parent  target
	upper        target // as own, with the ID space as the last segment
	directives   []*directive
	expectations []expectation
}

// An expectation is a test in the file.
type expectation struct {
	of       *directive
	from, to string
	met      bool
}

func newConverter(in *from.Input) (*converter, error) {
	base, err := url.Parse(cmp.Or(in.Base, defaultBase))
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, fmt.Errorf("invalid base %q: want the URL of the service, such as %s", in.Base, defaultBase)
	}
	f, err := readFile(in)
	if err != nil {
		return nil, err
	}
	c := &converter{file: f, origin: base.Scheme + "://" + base.Host, base: strings.TrimSuffix(f.BaseURL, "/")}
	c.parent.keeps, c.own.keeps = true, strings.Count(c.base, "/") == 1
	if c.own.at, err = name.ParsePrefix(c.origin + c.base); err == nil {
		c.parent.at, err = name.ParsePrefix(strings.TrimSuffix(c.origin+path.Dir(c.base), "/"))
	}
	if err == nil {
		c.upper.at, err = name.ParsePrefix(c.origin + path.Join(path.Dir(c.base), f.IDSpace))
	}
	return c, err
}

func (c *converter) targets() []*target { return []*target{&c.parent, &c.upper, &c.own} }

func (c *converter) note(line, column int, text string) *directive {
	d := &directive{line: line, column: column, text: text}
	c.directives = append(c.directives, d)
	return d
}

func (c *converter) try(line, column int, text string, convert func(*directive) error) {
	d := c.note(line, column, text)
	if err := convert(d); err != nil {
		d.refused = err.Error()
	}
}

func (c *converter) convert() {
	c.note(1, 0, "idspace: "+c.IDSpace)
	c.note(1, 0, "base_url: "+c.BaseURL)
	for key, node := range c.Other {
		c.note(node.Line, node.Column, key).refused = "unknown key"
	}
	for _, p := range c.Products {
		for file, node := range p {
			c.try(node.Line, node.Column, file, func(d *directive) error { return c.product(d, file, node.Value) })
		}
	}
	if !c.TermBrowser.IsZero() {
		c.try(c.TermBrowser.Line, c.TermBrowser.Column, "term_browser: "+c.TermBrowser.Value, c.terms)
	}
	if !c.BaseRedirect.IsZero() {
		c.try(c.BaseRedirect.Line, c.BaseRedirect.Column, "base_redirect: "+c.BaseRedirect.Value, func(d *directive) error {
			return c.add(&c.parent, d, "(?i)^"+c.base+"$", c.BaseRedirect.Value, 302, c.base)
		})
	}
	for _, e := range c.Entries {
		c.try(e.line, e.column, "entry", func(d *directive) error { return c.entry(d, e) })
	}
	for _, t := range c.Tests {
		c.expect(c.note(t.line, t.column, "test: "+t.From), t)
	}
}

// product converts the redirect of a product. The file name of the product is not quoted in the
// pattern, so each dot matches any character.
func (c *converter) product(d *directive, file, to string) error {
	p := path.Join(path.Dir(c.base), file)
	return c.add(&c.parent, d, "(?i)^"+p+"$", to, 302, p)
}

func (c *converter) terms(d *directive) error {
	id := c.IDSpace
	iri := c.origin + path.Dir(c.base) + "/" + id + "_"
	to := ""
	switch strings.ToLower(c.TermBrowser.Value) {
	case "custom":
		return nil // the entries contain the terms
	case "ontobee":
		to = "http://www.ontobee.org/browser/rdf.php?o=" + id + "&iri=" + iri + "$1"
	case "ols":
		to = "https://www.ebi.ac.uk/ols4/ontologies/" + strings.ToLower(id) + "/entities/" + url.QueryEscape(iri) + "$1"
	default:
		return fmt.Errorf("unknown browser %q", c.TermBrowser.Value)
	}
	examples := []string{path.Dir(c.base) + "/" + id + "_0000001"}
	for _, n := range c.Examples {
		examples = append([]string{path.Dir(c.base) + "/" + n.Value}, examples...)
	}
	return c.add(&c.parent, d, "^"+path.Dir(c.base)+"/"+regexp.QuoteMeta(id)+`_(\d+)$`, to, 303, examples...)
}

func (c *converter) entry(d *directive, e entry) error {
	status, err := statusOf(e.Status)
	switch {
	case err != nil:
		return err
	case len(e.Other) > 0:
		return fmt.Errorf("unknown key %q", slices.Sorted(keys(e.Other))[0])
	}
	to := strings.TrimSpace(e.Replacement)
	if kinds := len(slices.DeleteFunc([]yaml.Node{e.Exact, e.Prefix, e.Regex}, func(n yaml.Node) bool { return n.IsZero() })); kinds > 1 {
		return errors.New("must have only one of exact, prefix and regex")
	}
	switch {
	case !e.Exact.IsZero():
		p := c.base + unquote(strings.TrimSpace(e.Exact.Value))
		d.text = "exact: " + e.Exact.Value
		err = c.add(c.targetOf(p), d, "(?i)^"+quoted(p)+"$", to, status, p)
	case !e.Prefix.IsZero():
		p := c.base + unquote(strings.TrimSpace(e.Prefix.Value))
		d.text = "prefix: " + e.Prefix.Value
		err = c.add(c.targetOf(p), d, "(?i)^"+quoted(p)+"(.*)$", to+"$1", status, p+"x", p, p+"x/y")
	case !e.Regex.IsZero():
		d.text = "regex: " + e.Regex.Value
		err = c.add(c.targetOf(strings.TrimPrefix(strings.TrimPrefix(e.Regex.Value, "(?i)"), "^")), d, unquote(e.Regex.Value), to, status)
	default:
		return errors.New("must have exact, prefix or regex")
	}
	for _, t := range slices.Concat(e.Tests, e.Test) {
		c.expect(c.note(t.line, t.column, "test: "+t.From), t)
	}
	return err
}

func keys(m map[string]yaml.Node) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func (c *converter) targetOf(p string) *target {
	if strings.HasPrefix(p, c.base+"/") {
		return &c.own
	}
	return &c.parent
}

func statusOf(s string) (int, error) {
	switch s {
	case "", "temporary":
		return 302, nil
	case "permanent":
		return 301, nil
	case "see other":
		return 303, nil
	}
	return 0, fmt.Errorf("unknown status %q: must be permanent, temporary or see other", s)
}

func unquote(s string) string {
	if plain, err := url.PathUnescape(s); err == nil {
		return plain
	}
	return s
}

// expect adds a test in the file. The path of the test is relative to the base.
func (c *converter) expect(d *directive, t test) {
	c.expectations = append(c.expectations, expectation{of: d, from: c.base + t.From, to: t.To})
}

// add adds a rule to an authority. The pattern is matched against the whole path of a request. The
// parameter paths contains examples of paths that should reach the rule.
func (c *converter) add(t *target, d *directive, pattern, to string, status int, paths ...string) error {
	dir := t.path(c) + "/" // patterns are matched with what follows
	text, fold := strings.CutPrefix(pattern, "(?i)")
	below, ok := strings.CutPrefix(text, "^"+quoted(dir))
	if !ok {
		below, ok = strings.CutPrefix(text, "^"+dir)
	}
	if !ok {
		return fmt.Errorf("the pattern must begin with the path %s", dir)
	}
	expr, err := rewrite.Parse("^"+below, fold, "g")
	if err != nil {
		return err
	}
	x := rewrite.Target{}
	if err := expand(&x, to, expr.Groups()); err != nil {
		return err
	}
	url, err := x.Template()
	if err != nil {
		return err
	}
	r := converted{of: d, expr: expr}
	r.Regexp, r.Merge, r.Status, r.Query, r.Parts = expr.Whole(""), true, status, rule.QueryAppend, x.Parts
	r.Locations = []nomen.Location{{URL: url}}
	for _, p := range paths {
		r.elements = append(r.elements, strings.TrimPrefix(p, dir))
	}
	t.rules = append(t.rules, r)
	return nil
}

// quoted returns a regular expression that matches the path p literally.
func quoted(p string) string { return regexp.QuoteMeta(p) }

// path returns the URL path of the authority.
func (t *target) path(c *converter) string { return strings.TrimPrefix(t.at.String(), c.origin) }

// expand adds a replacement to a template. The replacement may refer to groups, as in
// "https://example.org/$1".
func expand(x *rewrite.Target, to string, groups int) error {
	for i := 0; i < len(to); i++ {
		if to[i] != '$' || i+1 == len(to) || to[i+1] < '1' || to[i+1] > '9' {
			x.Char(to[i:], false)
			continue
		}
		i++
		if int(to[i]-'0') > groups {
			return fmt.Errorf("the pattern has no group $%c", to[i])
		}
		x.Part("g"+to[i:i+1], true, false)
	}
	return nil
}

func (t *target) set() (set rule.Set) {
	for i := range t.rules {
		set = append(set, t.rules[i].Rule)
	}
	return set
}

// merge returns the rules of the authority after the import. If other files may also contain rules
// for the authority, merge keeps existing rules with other patterns.
func (t *target) merge(there, set rule.Set) rule.Set {
	if !t.keeps {
		return set
	}
	same := func(r rule.Rule) bool {
		return slices.ContainsFunc(set, func(o rule.Rule) bool { return o.Regexp == r.Regexp })
	}
	return append(slices.DeleteFunc(slices.Clone(there), same), set...)
}

// escape returns a path in its percent-encoded form.
func escape(p string) string {
	if plain, err := url.PathUnescape(p); err == nil {
		p = plain
	}
	return uri.EscapePath(p)
}
