package main

import (
	"cmp"
	"fmt"
	"maps"
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

With --scheme-ids it lists, or shows, the SchemeIDs of 1995 instead.

` + registryHelp

func (c *cli) namespacesCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "namespaces [NID...]",
		Short: "the URN namespaces that are known",
		Long:  namespacesLong,
		Example: `  nomen namespaces
  nomen namespaces isbn nbn
  nomen namespaces --json
  nomen namespaces --scheme-ids
  nomen namespaces --registry ours.json shelf`,
		ValidArgsFunction: cobra.FixedCompletions(nids(), cobra.ShellCompDirectiveNoFileComp),
	}
	old := cmd.Flags().Bool("scheme-ids", false, "the SchemeIDs of 1995 instead")
	file := addRegistry(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		known, err := readRegistries(*file)
		if err != nil {
			return err
		}
		if *old {
			return answerRegistry(c, cmd, args, schemeIDs(known.schemeIDs))
		}
		return answerRegistry(c, cmd, args, namespaceRegistry(known))
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
	Special        string   `json:"special,omitempty"`
	Equivalence    string   `json:"equivalence,omitempty"`
	Functional     string   `json:"functional,omitempty"`
	Security       string   `json:"security,omitempty"`
	Services       []string `json:"services,omitempty"`
	DefaultService string   `json:"default_service,omitempty"`

	Keywords        []urn.KeywordUse `json:"keywords,omitempty"`
	FragmentAllowed bool             `json:"fragment_allowed,omitempty"`
}

// namespaceRegistry is the catalogue, with what IANA's registry and the site add.
func namespaceRegistry(known registries) registry[namespaceEntry] {
	entries := map[string]namespaceEntry{}
	for n := range namespace.All() {
		entries[n.NID] = entryOf(n, known.namespaces)
	}
	for _, n := range known.local {
		nid := strings.ToLower(n.NID)
		entries[nid] = entries[nid].with(n)
	}
	r := registry[namespaceEntry]{what: "namespace", unknown: unknownNID, lookup: func(nid string) (namespaceEntry, bool) {
		e, ok := entries[strings.ToLower(nid)]
		return e, ok
	}}
	for _, nid := range slices.Sorted(maps.Keys(entries)) {
		r.all = append(r.all, entries[nid])
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
		Special: n.Delimiters, Equivalence: n.Equivalence,
		Functional: n.Functional, Security: n.Security,
		Services: n.Services, DefaultService: n.DefaultService,
		Keywords: n.Keywords, FragmentAllowed: n.Fragment == namespace.UseAllowed,
	}
}

// with returns what is shown of a namespace of which the site has an entry: that
// entry, and of the catalogue what no entry has.
func (e namespaceEntry) with(n urn.Namespace) namespaceEntry {
	nid := strings.ToLower(n.NID)
	return namespaceEntry{
		NID: nid, Kind: n.Kind.String(), Name: cmp.Or(e.Name, nid), Rules: e.Rules, Example: e.Example, Display: e.Display,
		Note: e.Note, Reference: n.Reference, Template: n.Template, Registered: n.Registered,
		Special: n.Special, Equivalence: n.Equivalence, Functional: n.Functional, Security: n.Security,
		Services: n.Services, DefaultService: n.DefaultService, Keywords: n.Keywords, FragmentAllowed: n.FragmentAllowed,
	}
}

// unknownNID says what is known of an identifier by its form.
func unknownNID(nid string) string {
	if urn.Latest.CheckRule("NID", nid) != nil {
		return "it is no NID"
	}
	switch kind := urn.KindOf(nid); kind {
	case urn.KindExperimental:
		return "by its form it is experimental, and never registered"
	case urn.KindReserved:
		return "by its form it is reserved (RFC 8141, 5.1)"
	case urn.KindInformal:
		return "by its form it is informal"
	}
	return ""
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
	row("special", e.Special)
	row("equivalence", e.Equivalence)
	row("functional", e.Functional)
	row("security", e.Security)
	row("services", strings.Join(e.Services, " "))
	row("default service", e.DefaultService)
	for _, use := range e.Keywords {
		row("keyword", strings.TrimSpace(use.Keyword+" "+strings.Join(use.Values, " ")))
	}
	if e.FragmentAllowed {
		row("fragment", "allowed")
	}
}

// schemeIDs is the registry of 1995.
func schemeIDs(table urn.SchemeIDs) registry[urn.SchemeID] {
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
	what    string                   // an entry is
	unknown func(name string) string // says more of a name that is not known; may be nil
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
		more := ""
		if r.unknown != nil {
			more = r.unknown(name)
		}
		if more != "" {
			more = ": " + more
		}
		err := codedError{codeUnknown, fmt.Errorf("no %s %q is known%s", r.what, name, more)}
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
