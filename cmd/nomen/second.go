package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/registrar"
)

// secondPersonText describes which requests require the approval of a second person, and which
// requests the rule does not cover. The result is "" if the server does not have such a rule.
func secondPersonText(rule adminapi.SecondPerson) string {
	var what []string
	if rule.Redact {
		what = append(what, "redactions")
	}
	if rule.RelocateAbove > 0 {
		what = append(what, "relocations of more than "+count(int64(rule.RelocateAbove), "name"))
	}
	if len(what) == 0 {
		return ""
	}
	return "a second person must approve " + strings.Join(what, " and ") + " over the admin API and the pages; " +
		"a command that opens the store without the server is not bound by this rule, so limit who can read the data directory or the password of the database"
}

// secondPersonHint returns a hint about requests that do not require the approval of a second
// person. The hint refers to the source of the option that defines the rule. If there is no such
// rule, secondPersonHint returns nil.
func (c *cli) secondPersonHint(f *serveFlags) []error {
	rule, option := f.limits.second, "second-person.redact"
	text := secondPersonText(rule)
	if text == "" {
		return nil
	}
	if !rule.Redact {
		option = "second-person.relocate-above"
	}
	return []error{c.sources[option].errorf("%w", fmt.Errorf("second-person: %s", text))}
}

func secondPerson(ctx context.Context, b backend) (adminapi.SecondPerson, error) {
	api, ok := b.(*adminapi.Client)
	if !ok {
		return adminapi.SecondPerson{}, nil
	}
	v, err := api.Version(ctx)
	return v.SecondPerson, err
}

// announceRedaction prints a message if a redaction requires the approval of a second person.
func (c *cli) announceRedaction(ctx context.Context, b backend) error {
	rule, err := secondPerson(ctx, b)
	if err == nil && rule.Redact {
		fmt.Fprintln(c.err, "nomen: a second person must approve this redaction: another person with the role administrator for it, with 'nomen jobs approve' or on the pages; until then nothing is changed")
	}
	return err
}

// announceRelocation prints a message if a relocation of this number of names requires the approval
// of a second person, and reports whether it does. It is called after a dry run.
func (c *cli) announceRelocation(ctx context.Context, b backend, names int64) (bool, error) {
	rule, err := secondPerson(ctx, b)
	waits := err == nil && rule.RelocateAbove > 0 && names > int64(rule.RelocateAbove)
	if waits {
		fmt.Fprintf(c.err, "nomen: a second person must approve a relocation of more than %s: another person with the role editor for all of these names, with 'nomen jobs approve' or on the pages; until then nothing is changed\n", count(int64(rule.RelocateAbove), "name"))
	}
	return waits, err
}

// A redactableLine is the JSON result of a dry run of a redaction. Exactly one of the fields Name,
// Prefix, User and Token is set.
type redactableLine struct {
	Name         string   `json:"name,omitempty"`
	Prefix       string   `json:"prefix,omitempty"`
	User         string   `json:"user,omitempty"`
	Token        string   `json:"token,omitempty"`
	Revision     uint64   `json:"revision"`          // the current one
	Redacts      []uint64 `json:"redacts,omitempty"` // absent if all revisions are redacted
	DryRun       bool     `json:"dry_run"`
	SecondPerson bool     `json:"second_person,omitempty"` // a second person would have to approve it
}

func (c *cli) sayRedactable(ctx context.Context, b backend, line redactableLine, red registrar.Redaction, out registrar.Outcome) error {
	rule, err := secondPerson(ctx, b)
	if err != nil {
		return err
	}
	line.Revision, line.Redacts, line.DryRun, line.SecondPerson = out.Result.Revision, red.Revisions, true, rule.Redact
	what := "all revisions"
	if len(red.Revisions) > 0 {
		what = fmt.Sprint("revisions ", red.Revisions)
	}
	return c.say(line, "%s: %s would be redacted (dry run: nothing was changed)", printable(line.Name+line.Prefix+line.User+line.Token), what)
}
