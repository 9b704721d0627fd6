package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nomen-project/nomen/scheme"
)

const schemesLong = `Schemes lists the URI schemes that are known: those registered at IANA, and some
that are in use without registration. Rules says whether 'nomen check' and 'nomen
parse' know what is inside of their URIs; where they do not, only the syntax that
all URIs share is known.

With names it shows what is known of each. With "-" instead, one name a line is
read from standard input. The exit status is 1 if one is not known.

The list can be narrowed to a status, to a text in name or title, and to those
with rules.`

func (c *cli) schemesCommand() *cobra.Command {
	var f schemeFilter
	cmd := &cobra.Command{
		Use:   "schemes [NAME...]",
		Short: "the URI schemes that are known",
		Long:  schemesLong,
		Example: `  nomen schemes --status historical
  nomen schemes --find gopher
  nomen schemes ftp gopher
  nomen schemes --rules --json`,
		ValidArgsFunction: cobra.FixedCompletions(schemeNames(), cobra.ShellCompDirectiveNoFileComp),
	}
	cmd.Flags().StringVar(&f.status, "status", "", "only schemes with a status: "+strings.Join(schemeStatuses(), ", "))
	cmd.Flags().StringVar(&f.find, "find", "", "only schemes with a text in name or title, in any case")
	cmd.Flags().BoolVar(&f.rules, "rules", false, "only schemes with rules")
	complete(cmd, "status", schemeStatuses())
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := f.check(args); err != nil {
			return err
		}
		return answerRegistry(c, cmd, args, schemeRegistry(f))
	}
	return cmd
}

// schemeNames returns the names of the schemes that are known.
func schemeNames() []string {
	var all []string
	for s := range scheme.All() {
		all = append(all, s.Name)
	}
	return all
}

// schemeStatuses returns the names of the statuses that a listed scheme can have.
func schemeStatuses() []string {
	return []string{
		scheme.StatusPermanent.String(), scheme.StatusProvisional.String(),
		scheme.StatusHistorical.String(), scheme.StatusUnregistered.String(),
	}
}

// A schemeFilter says which schemes are listed.
type schemeFilter struct {
	status, find string
	rules        bool
}

// check refuses a filter that makes no sense.
func (f schemeFilter) check(names []string) error {
	if _, ok := scheme.ParseStatus(f.status); f.status != "" && !ok {
		return usagef("--status %q: want %s", f.status, strings.Join(schemeStatuses(), ", "))
	}
	if len(names) > 0 && f != (schemeFilter{}) {
		return usagef("schemes: names and filters exclude each other")
	}
	return nil
}

func (f schemeFilter) lists(s scheme.Scheme) bool {
	find := strings.ToLower(f.find)
	return (f.status == "" || s.Status.String() == f.status) &&
		(strings.Contains(s.Name, find) || strings.Contains(strings.ToLower(s.Title), find)) &&
		(!f.rules || hasRules(s))
}

func hasRules(s scheme.Scheme) bool { return s.Rules.Check != nil || s.Rules.Parts != nil }

// A schemeEntry is what is known of a scheme, in JSON.
type schemeEntry struct {
	Name         string          `json:"name"`
	Status       string          `json:"status"`
	Kind         string          `json:"kind"`
	Title        string          `json:"title"`
	Reference    string          `json:"reference,omitempty"`
	Template     string          `json:"template,omitempty"`
	Rules        bool            `json:"rules"`
	DefaultPort  string          `json:"default_port,omitempty"`
	Transport    string          `json:"transport,omitempty"`
	Hierarchical bool            `json:"hierarchical"`
	Interactive  bool            `json:"interactive,omitempty"`
	Special      []schemeSpecial `json:"special,omitempty"`
	Example      string          `json:"example,omitempty"`
	Note         string          `json:"note,omitempty"`
	Security     string          `json:"security,omitempty"`
	Danger       string          `json:"danger,omitempty"`
	Retrieval    string          `json:"retrieval,omitempty"`
	Properties   string          `json:"properties,omitempty"`
}

// A schemeSpecial is a [scheme.Special] in JSON.
type schemeSpecial struct {
	Component string `json:"component"`
	Chars     string `json:"chars"`
	Meaning   string `json:"meaning"`
}

// schemeRegistry is the catalogue as a command shows it.
func schemeRegistry(f schemeFilter) registry[schemeEntry] {
	r := registry[schemeEntry]{what: "scheme", rows: schemeEntry.rows, lookup: func(name string) (schemeEntry, bool) {
		s, ok := scheme.Lookup(name)
		return schemeEntryOf(s), ok
	}}
	for s := range scheme.All() {
		if f.lists(s) {
			r.all = append(r.all, schemeEntryOf(s))
		}
	}
	r.columns = func(e schemeEntry) []string {
		rules := "-"
		if e.Rules {
			rules = "rules"
		}
		return []string{e.Name, e.Status, rules, e.Title}
	}
	return r
}

func schemeEntryOf(s scheme.Scheme) schemeEntry {
	e := schemeEntry{
		Name: s.Name, Status: s.Status.String(), Kind: s.Kind.String(), Title: s.Title,
		Reference: s.Reference, Template: s.Template, Rules: hasRules(s),
		DefaultPort: s.DefaultPort, Transport: s.Transport, Hierarchical: s.Hierarchical, Interactive: s.Interactive,
		Example: s.Example, Note: s.Note, Security: s.Security, Danger: s.Danger,
		Retrieval: s.Retrieval, Properties: s.Properties,
	}
	for _, p := range s.Special {
		e.Special = append(e.Special, schemeSpecial{p.Component.String(), p.Chars, p.Meaning})
	}
	return e
}

func (e schemeEntry) rows(row func(label string, values ...string)) {
	rules := "not known: the syntax of URIs alone is checked"
	if e.Rules {
		rules = "known"
	}
	row("name", e.Name)
	row("title", e.Title)
	row("status", e.Status)
	row("kind", e.Kind)
	row("reference", e.Reference)
	row("template", e.Template)
	row("rules", rules)
	row("default port", strings.TrimSpace(e.DefaultPort+" "+e.Transport))
	for _, s := range e.Special {
		row("special", fmt.Sprintf("%s in the %s: %s", s.Chars, s.Component, s.Meaning))
	}
	row("example", e.Example)
	row("note", e.Note)
	row("security", e.Security)
	row("danger", e.Danger)
	row("retrieval", e.Retrieval)
	row("properties", e.Properties)
}
