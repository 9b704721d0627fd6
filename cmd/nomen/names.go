package main

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

const getLong = `Get shows the records of names, whatever their status. With --at it shows each record as it
was at a time (2026-11-20T12:00:00Z), or at the end of a day (2026-11-20, UTC).

If a running server checks the locations, get also shows the verdict about each location, and
when it was checked. The JSON form has only the record; 'nomen links check --json' has the
verdicts.

`

func (c *cli) getCommand() *cobra.Command {
	var at string
	cmd := &cobra.Command{
		Use:   "get NAME...",
		Short: "show records",
		Long:  getLong + streamHelp,
		Example: `  nomen get urn:ietf:rfc:2648
  nomen get --at 2026-11-20 urn:ietf:rfc:2648
  nomen get --json urn:ietf:rfc:2648 | jq .locations
  nomen get --json - < names.txt`,
		Args: arguments(1, -1),
	}
	cmd.Flags().StringVar(&at, "at", "", "show the record as of this time, or as of the end of this day (default now)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		when, err := asOf(at)
		if err != nil {
			return err
		}
		var checks linkReader
		return c.answerStored(cmd.Context(), reads, args, func(a *answers, b backend, arg string) error {
			rec, err := get(cmd.Context(), b, arg, when)
			if err != nil {
				return err
			}
			var checked map[string]adminapi.Link
			if when.IsZero() && !c.json {
				if checked, err = checks.of(cmd.Context(), b, rec); err != nil {
					return err
				}
			}
			return a.record(rec, checked)
		})
	}
	return cmd
}

func asOf(s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	t, err := adminapi.ParseTime(s)
	if err != nil {
		return t, usagef("--at: %w", err)
	}
	return t, nil
}

func get(ctx context.Context, b backend, spelling string, at time.Time) (*store.Record, error) {
	n, err := name.Parse(spelling)
	if err != nil {
		return nil, err
	}
	rec, err := b.GetAt(ctx, n, at)
	hint := ""
	if !at.IsZero() {
		hint = " as of " + at.UTC().Format(time.RFC3339) + "; 'nomen history' shows all revisions"
	}
	return rec, namedHint(spelling, hint, err)
}

const putLong = `Put creates a record, or changes an existing one. In an existing record it changes only
what you give:

  URL         adds a location; with --replace, the URLs replace all locations
  --same-as   adds an identifier
  --remove    removes a location, or an identifier added by --same-as
  --meta      replaces all values of the element; ELEMENT= clears the element

--type, --lang, --rel, --note and --priority apply to all the given URLs. If the record
already has a location with a given URL, only the options that you give change that
location. Its other values stay, even with --replace.

A new name is active unless --status gives another status. An active name can never be
deleted. In two cases, put warns about a new name; with --strict it rejects the name:

  - 'nomen check' finds an error in the name.
  - The name is a resolver's URL for another name: https://doi.org/10.5072/a is a URL for
    doi:10.5072/a.

To bring a retired name back, use --status active and --revision with the number of its
last revision.`

func (c *cli) putCommand() *cobra.Command {
	var p putFlags
	cmd := &cobra.Command{
		Use:   "put NAME [URL...]",
		Short: "create or change a record",
		Long:  putLong,
		Example: `  nomen put urn:dns:example.org:alb002 https://example.org/albums/2 --title "Second album"
  nomen put urn:dns:example.org:alb002 --type text/html --lang en https://example.org/albums/2.en.html
  nomen put urn:dns:example.org:alb002 --remove https://old.example.org/2 --meta creator=
  nomen put urn:dns:example.org:alb003 --status reserved`,
		Args: arguments(1, -1),
	}
	p.register(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		req, err := p.request(args[0], args[1:])
		if err != nil {
			return err
		}
		if cmd.Flags().Changed("revision") {
			req.Expected, req.OrCreate = p.revision, false
		}
		return c.withStore(cmd.Context(), creates, func(b backend) error {
			out, err := b.Put(cmd.Context(), req, p.why)
			return c.showOutcome(out, err)
		})
	}
	return cmd
}

type putFlags struct {
	status          string
	metadata, title []string
	sameAs          []string
	location        nomen.Location // attributes of all locations
	replace, strict bool
	remove          []string
	revision        uint64
	why             string
}

func (p *putFlags) register(f *pflag.FlagSet) {
	f.StringVar(&p.status, "status", "", "status of the name: reserved, active or retired (default active for a new name)")
	f.StringArrayVar(&p.metadata, "meta", nil, "ELEMENT=VALUE, where ELEMENT is an element of Dublin Core such as creator; ELEMENT= clears the element; can be repeated, for several values")
	f.StringArrayVar(&p.title, "title", nil, "short for --meta title=VALUE; can be repeated, for several titles")
	f.StringArrayVar(&p.sameAs, "same-as", nil, "another identifier of the same resource; can be repeated")
	f.StringVar(&p.location.Type, "type", "", "media type of the locations")
	f.StringVar(&p.location.Lang, "lang", "", "language of the locations")
	f.StringVar(&p.location.Rel, "rel", "", "link relation of the locations (default item)")
	f.StringVar(&p.location.Note, "note", "", "note on the locations, for people")
	f.IntVar(&p.location.Priority, "priority", 0, "priority of the locations; 1 is tried first (default 1)")
	f.BoolVar(&p.replace, "replace", false, "replace the existing locations by the given ones")
	f.StringArrayVar(&p.remove, "remove", nil, "location to remove, or identifier that was added by --same-as; can be repeated")
	strictOption(f, &p.strict)
	f.Uint64Var(&p.revision, "revision", 0, "reject the change if the record has another revision")
	whyOption(f, &p.why)
}

func (p *putFlags) request(spelling string, urls []string) (registrar.Request, error) {
	n, err := name.Parse(spelling)
	if err != nil {
		return registrar.Request{}, err
	}
	rec := &store.Record{Name: n, Spelling: spelling, Status: nomen.Status(p.status), SameAs: p.sameAs}
	req := registrar.Request{Record: rec, Fields: registrar.FieldName, Add: true, Expected: store.AnyRevision, ReplaceLocations: p.replace, Remove: p.remove, Strict: p.strict}
	if _, err := parseStatus(p.status); p.status != "" && err != nil {
		return req, err
	}
	if len(urls) == 0 && (p.replace || p.location != nomen.Location{}) {
		return req, usagef("put: --type, --lang, --rel, --note, --priority and --replace need a URL")
	}
	for _, u := range urls {
		l := p.location
		l.URL = u
		rec.Locations = append(rec.Locations, l)
	}
	if rec.Metadata, err = p.elements(); err != nil {
		return registrar.Request{}, err
	}
	for field, set := range map[registrar.Fields]bool{
		registrar.FieldStatus:    p.status != "",
		registrar.FieldLocations: len(urls) > 0 || len(p.remove) > 0,
		registrar.FieldMetadata:  len(rec.Metadata) > 0,
		registrar.FieldSameAs:    len(p.sameAs) > 0 || len(p.remove) > 0,
	} {
		if set {
			req.Fields |= field
		}
	}
	return req, nil
}

func parseStatus(s string) (nomen.Status, error) {
	switch status := nomen.Status(s); status {
	case nomen.Reserved, nomen.Active, nomen.Retired:
		return status, nil
	}
	return "", usagef("--status %q: must be reserved, active or retired", s)
}

func (p *putFlags) elements() (nomen.Metadata, error) {
	meta := nomen.Metadata{}
	if len(p.title) > 0 {
		meta["title"] = p.title
	}
	for _, m := range p.metadata {
		element, value, ok := strings.Cut(m, "=")
		cleared, before := meta[element]
		if !ok || element == "" || before && (value == "" || len(cleared) == 0) {
			return nil, usagef("--meta %q: must be ELEMENT=VALUE, or ELEMENT= alone to clear the element", m)
		}
		if meta[element] = append(meta[element], value); value == "" {
			meta[element] = []string{}
		}
	}
	return meta, nil
}

const retireLong = `Retire makes names tombstones. A tombstone is never deleted. It says why the name was
retired and, with --successor, which names to use instead. The locations stay in the
record, but readers see them only with --show-locations.

` + streamHelp

func (c *cli) retireCommand() *cobra.Command {
	var r registrar.Retirement
	var why string
	cmd := &cobra.Command{
		Use:     "retire NAME... --reason REASON",
		Short:   "retire names: make them tombstones",
		Long:    retireLong,
		Example: "  nomen retire urn:dns:example.org:alb002 --reason 'withdrawn by the label'\n  nomen retire urn:dns:example.org:alb002 --reason 'new edition' --successor urn:dns:example.org:alb003\n  nomen retire --reason 'the site was closed' - < names.txt",
		Args:    arguments(1, -1),
	}
	f := cmd.Flags()
	f.StringVar(&r.Reason, "reason", "", "reason shown to people who use the name (required)")
	f.StringArrayVar(&r.Successors, "successor", nil, "name to use instead; can be repeated")
	f.BoolVar(&r.ShowLocations, "show-locations", false, "show the locations of the tombstone to readers")
	whyOption(f, &why)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if r.Reason == "" {
			return usagef("retire: --reason is required; the tombstone shows it to people")
		}
		r.Expected = store.AnyRevision
		return c.answerStored(cmd.Context(), changes, args, func(a *answers, b backend, arg string) error {
			out, err := retire(cmd.Context(), b, arg, r, why)
			if err == nil {
				c.warn(out.Warnings)
				a.say(out.Record, inWords(out))
			}
			return err
		})
	}
	return cmd
}

func retire(ctx context.Context, b backend, spelling string, r registrar.Retirement, why string) (registrar.Outcome, error) {
	n, err := name.Parse(spelling)
	if err != nil {
		return registrar.Outcome{}, err
	}
	out, err := b.Retire(ctx, n, r, why)
	return out, named(spelling, err)
}
