package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

const authorityCheckLong = `Check says what 'nomen authority put' with the same arguments would do, and changes
nothing. It prints:

  - why the change would be rejected, or its warnings;
  - the result of each test of the rules;
  - up to 50 names whose answers would differ, with both answers. It compares the names in
    the tests, up to 100 failed lookups and the first 500 registered names.

With "-", check reads complete authorities from standard input, one per line, in the
format that 'nomen authority list --json' prints.
The exit status is 1 if a change would be rejected.`

func (c *cli) authorityCheckCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check PREFIX|-",
		Short: "show what a change of an authority would do, and run the tests of its rules",
		Long:  authorityCheckLong,
		Example: `  nomen authority check urn:ietf --rules rules.json
  nomen authority check urn:nbn:fi --access denied --json | jq .effects
  nomen authority check - < authorities.jsonl`,
		Args: arguments(1, 1),
	}
	o := authorityOptions{FlagSet: cmd.Flags()}
	o.declare()
	o.declarePolicy(c.in)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if args[0] == "-" {
			return c.withStore(cmd.Context(), reads, func(b backend) error { return c.checkAll(cmd.Context(), b) })
		}
		p, err := name.ParsePrefix(args[0])
		if err != nil {
			return err
		}
		return c.withStore(cmd.Context(), reads, func(b backend) error {
			a, _, err := current(cmd.Context(), b, p)
			if err == nil {
				err = o.apply(a)
			}
			if err != nil {
				return err
			}
			return c.checkAuthority(cmd.Context(), b, a)
		})
	}
	return cmd
}

// checkAll checks the authorities on standard input, which has one authority per line. It continues
// after an error, so that a single run reports all errors.
func (c *cli) checkAll(ctx context.Context, b backend) error {
	rejected := false
	lines := bufio.NewScanner(c.in)
	lines.Buffer(nil, store.MaxRecord)
	for number := 1; lines.Scan(); number++ {
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		a, err := parseAuthorityLine(lines.Text())
		if err == nil {
			err = c.checkAuthority(ctx, b, a)
		}
		if err == nil {
			continue
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if rejected = true; !errors.Is(err, errNo) {
			fmt.Fprintf(c.err, "nomen: line %d: %s\n", number, words(err)+caretOn(c.err, err))
		}
	}
	if rejected {
		return cmp.Or(lines.Err(), errNo)
	}
	return lines.Err()
}

// checkAuthority prints the effects of storing an authority. It returns errNo if the store would
// reject the authority.
func (c *cli) checkAuthority(ctx context.Context, b backend, a *store.Authority) error {
	check, err := b.CheckAuthority(ctx, a)
	if err != nil {
		return err
	}
	if c.json {
		err = c.printJSON(check)
	} else {
		err = c.showCheck(a, &check)
	}
	if err == nil && check.Problem != nil {
		return errNo
	}
	return err
}

func (c *cli) showCheck(a *store.Authority, check *adminapi.AuthorityCheck) error {
	c.warn(check.Warnings)
	for _, t := range check.Tests {
		result := "passed"
		if !t.Passed {
			result = "FAILED: expected " + urlList(t.Want)
		}
		fmt.Fprintf(c.out, "rule %d test %d: %s gives %s: %s\n", t.Rule+1, t.Test+1, printable(t.From), urlList(t.Got), result)
	}
	for _, e := range check.Effects {
		fmt.Fprintf(c.out, "%s: %s -> %s\n", printable(e.Name), cmp.Or(printable(e.Before), "nothing"), cmp.Or(printable(e.After), "nothing"))
	}
	if p := check.Problem; p != nil {
		reason := cmp.Or(p.Detail, p.Title)
		if p.Field != "" {
			reason = p.Field + ": " + reason
		}
		_, err := fmt.Fprintf(c.out, "%s: would be rejected: %s\n", a.Prefix, printable(reason))
		return err
	}
	what := "changed"
	if check.Created {
		what = "created"
	}
	more := ""
	if check.More {
		more = "; there are names that were not compared"
	}
	_, err := fmt.Fprintf(c.out, "%s: would be %s; %s compared, %d with another answer%s\n", a.Prefix, what, count(int64(check.Examined), "name"), len(check.Effects), more)
	return err
}

func urlList(urls []string) string {
	return cmp.Or(printable(strings.Join(urls, ", ")), "no location")
}
