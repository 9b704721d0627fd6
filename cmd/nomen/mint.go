package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/nomen-project/nomen/mint"
	"github.com/nomen-project/nomen/mint/reserve"
	"github.com/nomen-project/nomen/name"
)

const mintLong = `Mint makes new names and reserves them: each is written as a reserved record,
which nobody can be given again, and which is not public until it is made active.
A name that exists already is passed over. Names are printed when they are
reserved; with --dry-run they are printed and nothing is reserved.

NAMESPACE-OR-PREFIX is what the names lie under: an authority's prefix, or the
identifier of a URN namespace, such as uuid.

A template says what follows it, in literal text and parts in braces:

  {seq}          the number after the highest there is
  {seq:6}        the same in six digits; {seq:6:100-4999} within a range
  {random:8}     eight characters from which no word arises
  {digit:8}      eight random digits; {hex:8} hexadecimal ones
  {date}         the day as YYYYMMDD; {year}, {month}, {day}; UTC
  {uuid}         a UUID of version 7, in the order of time; {uuid:4} a random one
  {check}        the check digits of the namespace: isbn, issn, nbn:de ...
  {check:noid}   a check character; {check:luhn} a digit; {check:mod97} two

Between the prefix and that comes the first delimiter of the namespace, unless
the template begins with one: under urn:nbn:fi the template x{seq} gives
urn:nbn:fi-x1, and :x-{seq} gives urn:nbn:fi:x-1.

Without a template names go on as those that are there (the last one, of at most
20,000): by the next number, with a check digit where the namespace wants one. In
urn:uuid they are UUIDs, under an ark prefix random characters with a check. Those
of which every number has a check digit, such as ISBN and ISSN, are given out in
blocks: they want a template that keeps to yours.

The exit status is 1 when the template cannot give as many names as are wanted.`

const mintExample = `  nomen mint uuid
  nomen mint urn:dns:example.org
  nomen mint --template 'alb{seq:3}' --count 10 urn:dns:example.org
  nomen mint --template '{year}-{seq:4}' --dry-run urn:nbn:fi:x
  nomen mint --template 'x5{random:8}{check:noid}' ark:12345
  nomen mint --template '978952{seq:6:123000-123999}{check}' isbn`

// maxMint bounds how many names one command makes.
const maxMint = mint.MaxRun

type mintFlags struct {
	template string
	count    int
	dry      bool
	why      string
}

func (c *cli) mintCommand() *cobra.Command {
	var m mintFlags
	cmd := &cobra.Command{
		Use:     "mint NAMESPACE-OR-PREFIX",
		Short:   "make new names and reserve them",
		Long:    mintLong,
		Example: mintExample,
		Args:    arguments(1, 1),
	}
	f := cmd.Flags()
	f.StringVar(&m.template, "template", "", "what follows the prefix (default by what is there)")
	f.IntVar(&m.count, "count", 1, "how many names")
	f.BoolVar(&m.dry, "dry-run", false, "show the names, and reserve nothing")
	f.StringVar(&m.why, "why", "", "reason, for the history")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if m.count < 1 || m.count > maxMint {
			return usagef("--count %d: want 1 to %d", m.count, maxMint)
		}
		p, err := reserve.ReadPrefix(args[0])
		if err != nil {
			return err
		}
		work := func(b backend) error {
			return c.mintNames(cmd.Context(), mintBackend{b}, reserve.Options{
				Prefix: p, Template: m.template, Count: m.count, DryRun: m.dry, Why: m.why, Now: clock, Warn: c.warn,
			})
		}
		how := creates
		if m.dry {
			how = reads
		}
		err = c.withStore(cmd.Context(), how, work)
		if m.dry && errors.As(err, new(*noStoreError)) {
			return work(emptyBackend{})
		}
		return err
	}
	return cmd
}

// mintNames makes names and prints them.
func (c *cli) mintNames(ctx context.Context, b reserve.Backend, o reserve.Options) error {
	a := newAnswers(c)
	for n, err := range reserve.Names(ctx, b, o) {
		if err != nil {
			return errors.Join(a.end(), c.mintFailed(o, err))
		}
		a.minted(n)
	}
	return a.end()
}

// minted answers with a new name, at once: it is reserved now.
func (a *answers) minted(n name.Name) {
	if a.json != nil {
		a.object(mintedName{n})
	} else {
		a.text(n.Key())
	}
	a.flush()
}

type mintedName struct {
	Name name.Name `json:"name"`
}

// mintFailed says why there are no more names. What is wrong with a template is
// wrong usage; that it has no more names is the answer no.
func (c *cli) mintFailed(o reserve.Options, err error) error {
	var bad *mint.Error
	if errors.As(err, &bad) {
		return usagef("--template %q: offset %d: %s: %s", bad.Input, bad.Offset, bad.Rule, bad.Message)
	}
	var refused *mint.RefusedError
	no := errors.As(err, &refused)
	exhausted := errors.As(err, new(*mint.ExhaustedError))
	switch {
	case no && o.Template == "":
		err = fmt.Errorf("%s: no names of its namespace go on by themselves from what is there: give a --template (%w)", o.Prefix, refused.Err)
	case !no && !exhausted && !errors.Is(err, reserve.ErrCrowded):
		return err
	}
	fmt.Fprintln(c.err, "nomen: "+printable(err.Error()))
	return errNo
}
