package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/rule"
	"github.com/nomen-project/nomen/store"
)

func showPolicy(row func(label string, values ...string), a *store.Authority) error {
	if a.IsZero() {
		return nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal([]byte(a.Text()), &fields); err != nil {
		return err
	}
	if d := a.Delegation; d != nil {
		row("delegation", strings.TrimSpace(string(d.Mode)+" "+d.To))
	}
	if a.MaxAge != 0 {
		row("max age", fmt.Sprintf("%d s", a.MaxAge))
	}
	for _, field := range []string{
		"suffix", "access", "access_note", "services", "keywords", "r_component", "q_component", "query",
		"fragment", "fetch", "choice", "failover", "commitment", "check_digit", "mint",
	} {
		if value := fields[field]; value != nil {
			row(strings.ReplaceAll(field, "_", " "), strings.Trim(string(value), `"`))
		}
	}
	for i := range a.Rules {
		r := &a.Rules[i]
		row(fmt.Sprintf("rule %d", i+1), r.Match+r.Regexp)
		for _, l := range r.Locations {
			row("", "  "+l.URL)
		}
		for _, s := range r.SameAs {
			row("", "  same as "+s)
		}
		for _, s := range r.Terms() {
			row("", "  "+s)
		}
	}
	return nil
}

type triedName struct {
	Name      string           `json:"name"`
	Rule      int              `json:"rule,omitempty"` // number of the rule, counted from 1
	Match     string           `json:"match,omitempty"`
	Status    int              `json:"status,omitempty"` // the status that the rule sets
	Locations []nomen.Location `json:"locations,omitempty"`
	SameAs    []string         `json:"same_as,omitempty"`
	Left      []string         `json:"left,omitempty"`       // locations that were left out, with the reasons
	Record    nomen.Status     `json:"record,omitempty"`     // status of the record that is used instead of a rule
	Authority string           `json:"decided_by,omitempty"` // the authority with a longer prefix whose rules are used instead
}

// testNames prints the results of applying the rules of an authority to names. If a name has a
// record or belongs to another authority, testNames also prints that the rules are not used for it.
func (c *cli) testNames(ctx context.Context, b backend, a *store.Authority, names []string, request rule.Request) error {
	compiled, err := a.Compile()
	if err != nil {
		return err
	}
	all, err := b.Authorities(ctx)
	if err != nil {
		return err
	}
	unmatched := false
	for _, spelling := range names {
		n, err := name.Parse(spelling)
		if err != nil {
			return err
		}
		n = a.Fold(n)
		if !a.Prefix.Covers(n) {
			return usagef("%s is not under %s", n, a.Prefix)
		}
		t := triedName{Name: n.Key(), Authority: decider(all, a, n)}
		if err := t.try(ctx, b, compiled.Rules, n, request); err != nil {
			return err
		}
		unmatched = unmatched || t.Rule == 0
		if err := c.showTried(t); err != nil {
			return err
		}
	}
	if unmatched {
		return errNo
	}
	return nil
}

// try applies the rules to n, and looks up the status of the record for n. It stores the results in
// t. The rules are nil if the authority has no rules.
func (t *triedName) try(ctx context.Context, b backend, rules *rule.Compiled, n name.Name, request rule.Request) error {
	if rules != nil {
		if r, ok, _ := rules.Apply(n, request); ok {
			t.Status = r.Status
			t.Rule, t.Match, t.Locations, t.SameAs, t.Left = r.Rule+1, r.Pattern, r.Locations, r.SameAs, r.Left
		}
	}
	rec, err := b.GetAt(ctx, n, time.Time{})
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil
	case err != nil:
		return err
	}
	t.Record = rec.Status
	return nil
}

// decider returns the prefix of the authority that is responsible for n, or "" if this is a. The
// authority with the longest prefix of n is responsible.
func decider(all []*store.Authority, a *store.Authority, n name.Name) string {
	longest := a.Prefix.String()
	for _, other := range all {
		if p := other.Prefix.String(); len(p) > len(longest) && other.Prefix.Covers(n) {
			longest = p
		}
	}
	if longest == a.Prefix.String() {
		return ""
	}
	return longest
}

// instead returns the reasons why the rules are not used for a name. Each reason is a line.
func (t triedName) instead() string {
	var b strings.Builder
	if t.Authority != "" {
		fmt.Fprintf(&b, "  not used: the name belongs to %s\n", t.Authority)
	}
	if t.Record != "" {
		fmt.Fprintf(&b, "  not used: the name has a record (%s)\n", t.Record)
	}
	return b.String()
}

func (c *cli) showTried(t triedName) error {
	if t.Rule == 0 {
		return c.say(t, "%s\n%s  no rule matches", t.Name, t.instead())
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s  rule %d: %s\n", t.Name, t.instead(), t.Rule, printable(t.Match))
	if t.Status != 0 {
		fmt.Fprintf(&b, "  status %d\n", t.Status)
	}
	for _, l := range t.Locations {
		fmt.Fprintf(&b, "  %s\n", printable(l.URL))
	}
	for _, s := range t.SameAs {
		fmt.Fprintf(&b, "  same as %s\n", printable(s))
	}
	for _, s := range t.Left {
		fmt.Fprintf(&b, "  left out: %s\n", printable(s))
	}
	return c.say(t, "%s", strings.TrimSuffix(b.String(), "\n"))
}

// putAll writes the authorities on standard input to the store. Each line is an authority in the
// format of 'authority list --json'. After an invalid line, putAll continues with the next line.
func (c *cli) putAll(ctx context.Context, b backend, why string) error {
	rejected := 0
	var ownerless []registrar.Warning
	defer func() { c.warnOwnerless(ownerless) }()
	lines := bufio.NewScanner(c.in)
	lines.Buffer(nil, store.MaxRecord)
	for number := 1; lines.Scan(); number++ {
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		warnings, err := c.putLine(ctx, b, lines.Text(), why)
		for _, w := range warnings {
			if w.Code == registrar.WarnOwners {
				ownerless = append(ownerless, w)
			} else {
				c.warn([]registrar.Warning{w})
			}
		}
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			rejected++
			fmt.Fprintf(c.err, "nomen: line %d: %s\n", number, words(err)+caretOn(c.err, err))
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	if rejected > 0 {
		return errNo
	}
	return nil
}

const maxOwnerless = 3

func (c *cli) warnOwnerless(all []registrar.Warning) {
	if len(all) <= maxOwnerless {
		c.warn(all)
		return
	}
	fmt.Fprintf(c.err, "nomen: warning: %d authorities have fewer than two owners; name a second owner, so that their names stay maintained when one owner leaves\n", len(all))
}

func parseAuthorityLine(line string) (*store.Authority, error) {
	a := &store.Authority{}
	if err := store.DecodeText([]byte(line), a); err != nil {
		return nil, rephrasedError{err, strings.TrimPrefix(err.Error(), "line 1, ")} // the caller counts the lines
	}
	if a.Prefix.IsZero() {
		return nil, errors.New("prefix is missing")
	}
	return a, nil
}

func (c *cli) putLine(ctx context.Context, b backend, line, why string) ([]registrar.Warning, error) {
	a, err := parseAuthorityLine(line)
	if err != nil {
		return nil, err
	}
	_, revision, err := current(ctx, b, a.Prefix)
	if err != nil {
		return nil, err
	}
	out, err := b.PutAuthority(ctx, a, revision, why)
	if err != nil {
		return nil, err
	}
	return out.Warnings, c.say(out.Authority, "%s\trevision %d", a.Prefix, out.Result.Revision)
}
