package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/spf13/cobra"

	"github.com/nomen-project/nomen/mint"
	"github.com/nomen-project/nomen/mint/reserve"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

const mintLong = `Mint creates new names and reserves them. A reserved name has a record and cannot be
created again; it is not public until 'nomen put' makes it active. Names that already
exist are skipped. Each name is printed as soon as it is reserved. --dry-run prints names
without reserving them.

NAMESPACE-OR-PREFIX is the prefix of an authority, or the identifier of a URN namespace,
such as uuid.

A template describes what follows the prefix, as literal text and parts in braces:

  {seq}          the highest existing number plus one
  {seq:6}        the same with six digits; {seq:6:100-4999} within a range
  {random:8}     eight random characters that cannot form a word
  {digit:8}      eight random digits; {hex:8} eight random hexadecimal digits
  {date}         the date as YYYYMMDD; {year}, {month}, {day}; UTC
  {uuid}         a UUID of version 7, ordered by time; {uuid:4} a random UUID
  {noid:reedeedk}
                 the names of a NOID minter with this mask, in its order; see below
  {check}        the check character of the namespace: isbn, issn, nbn:de ...
  {check:noid}   a check character; {check:luhn} a digit; {check:mod97} two digits

If the template does not begin with a delimiter, mint puts the usual delimiter of the
namespace before it: for nbn, a hyphen. For urn:nbn:fi the template x{seq} gives
urn:nbn:fi-x1, and :x-{seq} gives urn:nbn:fi:x-1.

In {noid:MASK}, MASK is a mask of NOID. Its first letter sets the order: r for random, s for
sequential, z for sequential without limit. After it, e stands for a character and d for a
digit. A k at the end adds the check character. In {noid:reedk:2191}, the number says how
many names were made before. In {noid:reedk:add3}, add3 makes the mask longer when all its
names are used up, as EZID does: three characters are added, so reedk becomes reedeedk. The mask
gives its names in a fixed order. Mint continues after the last name in this order that has
ever existed. So it never makes a name twice, even if the name was deleted.

Without --template, mint uses the templates of the authority ('nomen authority put --mint'):
the first, or the one that begins with the text of --shoulder.

If the authority has no templates, mint reads the existing names, at most 20,000. It takes
the last name in sorted order, increases the number in it by one, and adds a check character
if the namespace requires one. For urn:uuid, new names are UUIDs. For an ark prefix, new names
are random characters with a check character. ISBNs, ISSNs and similar numbers are assigned
to publishers in blocks: use a template that stays within your block.

The exit status is 1 if the template cannot give as many names as requested.`

const mintExample = `  nomen mint uuid
  nomen mint urn:dns:example.org
  nomen mint --template 'alb{seq:3}' --count 10 urn:dns:example.org
  nomen mint --template '{year}-{seq:4}' --dry-run urn:nbn:fi:x
  nomen mint --template 'x5{random:8}{check:noid}' ark:12345
  nomen mint --template '978952{seq:6:123000-123999}{check}' isbn`

const maxMint = mint.MaxRun

type mintFlags struct {
	template, shoulder string

	count int
	dry   bool
	why   string
}

func (c *cli) mintCommand() *cobra.Command {
	var m mintFlags
	cmd := &cobra.Command{
		Use:     "mint NAMESPACE-OR-PREFIX",
		Short:   "create new names and reserve them",
		Long:    mintLong,
		Example: mintExample,
		Args:    arguments(1, 1),
	}
	f := cmd.Flags()
	f.StringVar(&m.template, "template", "", "what follows the prefix in the new names (default that of the authority, or continue the existing names)")
	f.StringVar(&m.shoulder, "shoulder", "", "use the template of the authority that begins with this text")
	f.IntVar(&m.count, "count", 1, "number of names")
	f.BoolVar(&m.dry, "dry-run", false, "print the names and reserve nothing")
	whyOption(f, &m.why)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if m.count < 1 || m.count > maxMint {
			return usagef("--count %d: must be from 1 to %d", m.count, maxMint)
		}
		if m.template != "" && m.shoulder != "" {
			return usagef("--template and --shoulder cannot be used together")
		}
		p, err := reserve.ReadPrefix(args[0])
		if err != nil {
			return err
		}
		work := func(b backend) error {
			return c.mintNames(cmd.Context(), b, reserve.Options{
				Prefix: p, Template: m.template, Shoulder: m.shoulder, Count: m.count, DryRun: m.dry, Why: m.why, Now: clock, Warn: c.warn,
			})
		}
		err = c.withStore(cmd.Context(), creates.unless(m.dry), work)
		if m.dry && errors.As(err, new(*noStoreError)) {
			return work(emptyBackend{})
		}
		return err
	}
	return cmd
}

func (c *cli) mintNames(ctx context.Context, b reserve.Backend, o reserve.Options) error {
	a := newAnswers(c)
	for n, err := range reserve.Names(ctx, b, o) {
		if err != nil {
			return errors.Join(a.end(), c.mintFailed(o, err))
		}
		a.say(mintedName{n}, n.Key())
		a.flush() // at once, because the name is reserved now
	}
	return a.end()
}

// An emptyBackend replaces a store that does not exist yet in a dry run.
type emptyBackend struct{ backend }

func (emptyBackend) GetAt(context.Context, name.Name, time.Time) (*store.Record, error) {
	return nil, store.ErrNotFound
}

func (emptyBackend) Authorities(context.Context) ([]*store.Authority, error) { return nil, nil }

func (emptyBackend) Known(context.Context, name.Name) (bool, error) { return false, nil }

func (emptyBackend) Keys(context.Context, string) iter.Seq2[name.Name, error] {
	return func(func(name.Name, error) bool) {}
}

type mintedName struct {
	Name name.Name `json:"name"`
}

// mintFailed handles an error of minting. It returns a usage error for an invalid template. If the
// template cannot provide another name, mintFailed prints the reason and returns errNo.
func (c *cli) mintFailed(o reserve.Options, err error) error {
	var bad *mint.Error
	if errors.As(err, &bad) {
		return usageError{rephrasedError{bad, fmt.Sprintf("--template %q: offset %d: %s: %s", bad.Input, bad.Offset, bad.Rule, bad.Message)}}
	}
	var refused *mint.RefusedError
	no := errors.As(err, &refused)
	exhausted := errors.As(err, new(*mint.ExhaustedError))
	switch {
	case errors.As(err, new(*reserve.ShoulderError)):
	case no && o.Template == "":
		err = fmt.Errorf("%s: cannot continue the existing names of this namespace; pass --template (%w)", o.Prefix, refused.Err)
	case !no && !exhausted && !errors.Is(err, reserve.ErrCrowded):
		return err
	}
	fmt.Fprintln(c.err, "nomen: "+words(err))
	return errNo
}
