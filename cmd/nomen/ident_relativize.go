package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/nomen-project/nomen/urn"
)

const relativizeLong = `Relativize prints for each target the shortest reference that gives exactly that target
when joined with the base. A few targets have no such reference, for example targets with
dot segments; the exit status is then 1. From one URN to another the reference is the whole
URN, because URNs have no hierarchy.

` + pairHelp

func (c *cli) relativizeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "relativize BASE TARGET...",
		Short: "print the shortest references from a base to targets",
		Long:  relativizeLong,
		Example: `  nomen relativize http://example.org/a/b http://example.org/a/c/d http://example.com/
  nomen relativize --json http://example.org/a/b?q http://example.org/a/b
  nomen relativize - < pairs.tsv`,
		Args: pairArguments(-1),
	}
	r := &relativizer{addDialects(cmd)}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return c.answerPairs(cmd.Context(), args, r.answer)
	}
	return cmd
}

type relativizer struct{ *dialects }

type relative struct {
	Base   string        `json:"base"`
	Target string        `json:"target"`
	Ref    *string       `json:"ref,omitempty"`
	Error  *resolveError `json:"error,omitempty"`
}

func (r *relativizer) answer(a *answers, base, target string) {
	ref, err := r.relativize(base, target)
	switch {
	case err != nil:
		a.refuse(err, relative{Base: base, Target: target, Error: explain(err)})
	case a.json != nil:
		a.object(relative{Base: base, Target: target, Ref: defined(ref, true)})
	default:
		a.text(ref)
	}
}

func (r *relativizer) relativize(base, target string) (string, error) {
	b, err := r.readAbsolute(base)
	if err != nil {
		return "", fmt.Errorf("base: %w", err)
	}
	t, err := r.readAbsolute(target)
	if err != nil {
		return "", fmt.Errorf("target: %w", err)
	}
	ref, ok := b.uri.Relativize(t.uri)
	if !ok {
		return "", codedError{codeNoReference, errors.New("no reference resolves to exactly " + target)}
	}
	if _, odd := urn.InspectReference(b.uri, ref); odd {
		ref = t.uri
	}
	return ref.String(), nil
}
