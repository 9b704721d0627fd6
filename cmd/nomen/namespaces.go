package main

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/nomen-project/nomen/namespace"
	"github.com/nomen-project/nomen/urn"
)

const namespacesLong = `Namespaces lists the URN namespaces that are known: those registered at IANA, and
some that are in use without registration. Rules says whether 'nomen check' knows
what a valid name is there; where it does not, it checks the syntax of URNs alone.

With identifiers it shows what is known of each. With "-" instead, one identifier
a line is read from standard input. The exit status is 1 if one is not known.

With --scheme-ids it lists, or shows, the SchemeIDs of 1995 instead.`

func (c *cli) namespacesCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "namespaces [NID...]",
		Short: "the URN namespaces that are known",
		Long:  namespacesLong,
		Example: `  nomen namespaces
  nomen namespaces isbn nbn
  nomen namespaces --json
  nomen namespaces --scheme-ids`,
		ValidArgsFunction: cobra.FixedCompletions(nids(), cobra.ShellCompDirectiveNoFileComp),
	}
	old := cmd.Flags().Bool("scheme-ids", false, "the SchemeIDs of 1995 instead")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if *old {
			return answerRegistry(c, cmd, args, schemeIDs())
		}
		return answerRegistry(c, cmd, args, namespaceRegistry(urn.IANANamespaces()))
	}
	return cmd
}

// nids returns the identifiers of the namespaces that are known.
func nids() []string {
	var all []string
	for n := range namespace.All() {
		all = append(all, n.NID)
	}
	return all
}

// A namespaceEntry is what is known of a namespace, in JSON.
type namespaceEntry struct {
	NID            string   `json:"nid"`
	Kind           string   `json:"kind"`
	Name           string   `json:"name"`
	Reference      string   `json:"reference"`
	Template       string   `json:"template,omitempty"`
	Registered     string   `json:"registered,omitempty"`
	Rules          bool     `json:"rules"`
	Example        string   `json:"example,omitempty"`
	Display        string   `json:"display,omitempty"` // the example as people of the trade write it
	Note           string   `json:"note,omitempty"`
	Functional     string   `json:"functional,omitempty"`
	Security       string   `json:"security,omitempty"`
	Services       []string `json:"services,omitempty"`
	DefaultService string   `json:"default_service,omitempty"`
}

// namespaceRegistry is the catalogue, with what IANA's registry adds.
func namespaceRegistry(iana urn.Namespaces) registry[namespaceEntry] {
	r := registry[namespaceEntry]{what: "namespace", lookup: func(nid string) (namespaceEntry, bool) {
		n, ok := namespace.Lookup(nid)
		return entryOf(n, iana), ok
	}}
	for n := range namespace.All() {
		r.all = append(r.all, entryOf(n, iana))
	}
	r.columns = func(e namespaceEntry) []string {
		rules := "-"
		if e.Rules {
			rules = "rules"
		}
		return []string{e.NID, e.Kind, rules, e.Name}
	}
	r.rows = namespaceEntry.rows
	return r
}

// entryOf returns what is shown of a namespace.
func entryOf(n namespace.Namespace, iana urn.Namespaces) namespaceEntry {
	registered, _ := iana.Lookup(n.NID)
	return namespaceEntry{
		NID: n.NID, Kind: n.Kind.String(), Name: n.Name, Reference: n.Reference,
		Template: registered.Template, Registered: registered.Registered,
		Rules: n.Rules.Check != nil, Example: n.Example, Display: displayOf(n), Note: n.Note,
		Functional: n.Functional, Security: n.Security,
		Services: n.Services, DefaultService: n.DefaultService,
	}
}

// displayOf returns the example of a namespace as people of the trade write it,
// if they have a way of their own.
func displayOf(n namespace.Namespace) string {
	u, err := urn.Parse(n.Example)
	if err != nil || n.Rules.Display == nil {
		return ""
	}
	return n.Display(u.NSS())
}

func (e namespaceEntry) rows(row func(label string, values ...string)) {
	rules := "not known: the syntax of URNs alone is checked"
	if e.Rules {
		rules = "known"
	}
	row("nid", e.NID)
	row("name", e.Name)
	row("kind", e.Kind)
	row("reference", e.Reference)
	row("template", e.Template)
	row("registered", e.Registered)
	row("rules", rules)
	row("example", e.Example)
	row("for people", e.Display)
	row("note", e.Note)
	row("functional", e.Functional)
	row("security", e.Security)
	row("services", strings.Join(e.Services, " "))
	row("default service", e.DefaultService)
}

// schemeIDs is the registry of 1995.
func schemeIDs() registry[urn.SchemeID] {
	table := urn.SchemeIDs1995()
	return registry[urn.SchemeID]{
		what: "SchemeID", all: slices.Collect(table.All()), lookup: table.Lookup,
		columns: func(s urn.SchemeID) []string { return []string{s.ID, s.Description, s.Reference} },
		rows: func(s urn.SchemeID, row func(string, ...string)) {
			row("scheme id", s.ID)
			row("description", s.Description)
			row("reference", s.Reference)
		},
	}
}

// A registry is what a command lists and looks up.
type registry[E any] struct {
	what    string // an entry is
	all     []E
	lookup  func(name string) (E, bool)
	columns func(E) []string // of an entry in the list
	rows    func(e E, row func(label string, values ...string))
}

// codeUnknown: a name that a registry does not have.
const codeUnknown = "unknown"

// answerRegistry lists a registry, or shows its entries with the names given.
func answerRegistry[E any](c *cli, cmd *cobra.Command, names []string, r registry[E]) error {
	if len(names) == 0 {
		a := newAnswers(c)
		if err := r.list(a); err != nil {
			return err
		}
		return a.end()
	}
	return c.answerEach(cmd.Context(), names, r.answer)
}

// list answers with an entry a line.
func (r registry[E]) list(a *answers) error {
	w := tabwriter.NewWriter(a, 0, 0, 2, ' ', 0)
	for _, e := range r.all {
		if a.json != nil {
			a.object(e)
			continue
		}
		fmt.Fprintln(w, strings.Join(r.columns(e), "\t"))
	}
	return w.Flush()
}

// answer shows the entry with a name: a row for each thing known, and an empty
// line.
func (r registry[E]) answer(a *answers, name string) {
	e, ok := r.lookup(name)
	switch {
	case !ok:
		err := codedError{codeUnknown, fmt.Errorf("no %s %q is known", r.what, name)}
		a.refuse(err, badLine{name, explain(err)})
	case a.json != nil:
		a.object(e)
	default:
		w := tabwriter.NewWriter(a, 0, 0, 2, ' ', 0)
		r.rows(e, rowsOf(w))
		w.Flush() // into a, which cannot fail
		a.text("")
	}
}
