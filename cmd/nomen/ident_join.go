package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/nomen-project/nomen/uri"
	"github.com/nomen-project/nomen/urn"
)

const joinLong = `Join prints the URI to which each reference resolves in a document whose URI is BASE.

In older dialects, a reference such as #s means the current document and has no URI. Join
prints "(current document) #s" for it; with --json the answer has same_document and no
target. In the dialect rfc3986 the answer has both.

--compatible ignores the scheme of a reference such as http:g if the base has the same
scheme. The dialects 2003 and rfc3986 permit this.

A URN has no hierarchy: only absolute references, the empty reference and fragments can be
resolved against it. With --urn-base, join resolves every reference against a URN, and
prints a warning.

` + pairHelp

func (c *cli) joinCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "join BASE REF...",
		Short: "resolve references against a base",
		Long:  joinLong,
		Example: `  nomen join 'http://a/b/c/d;p?q' ../g '?y' '#s'
  nomen join --compatible 'http://a/b/c/d;p?q' http:g
  nomen join --dialect 1997 --json http://a/b '#s'
  nomen join http://a/b - < refs.txt`,
		Args: pairArguments(-1),
	}
	j := &joiner{dialects: addDialects(cmd)}
	cmd.Flags().BoolVar(&j.resolver.Compatible, "compatible", false, "ignore the scheme of a reference if the base has the same")
	cmd.Flags().BoolVar(&j.urnBase, "urn-base", false, "also resolve relative references against URNs, with a warning")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return c.answerPairs(cmd.Context(), args, j.answer)
	}
	return cmd
}

type joiner struct {
	*dialects
	resolver uri.Resolver
	urnBase  bool // also resolve relative references against URNs
}

type joined struct {
	Base         string        `json:"base"`
	Ref          string        `json:"ref"`
	Target       *string       `json:"target,omitempty"`
	SameDocument *bool         `json:"same_document,omitempty"`
	Fragment     *string       `json:"fragment,omitempty"`
	Findings     []finding     `json:"findings,omitempty"`
	Error        *resolveError `json:"error,omitempty"`
}

func (j *joiner) answer(a *answers, base, ref string) {
	r := joined{Base: base, Ref: ref}
	t, odd, err := j.join(base, ref)
	if err != nil {
		r.Error = explain(err)
		a.refuse(err, r)
		return
	}
	if a.json == nil {
		if odd != nil {
			a.warn(odd.Message)
		}
		a.text(targetText(t))
		return
	}
	if odd != nil {
		r.Findings = []finding{{Code: odd.Code, Severity: odd.Severity.String(), Message: odd.Message}}
	}
	r.SameDocument = &t.SameDocument
	r.Target = defined(t.URI.String(), t.URI.IsValid())
	r.Fragment = defined(t.Fragment, t.HasFragment)
	a.object(r)
}

func (j *joiner) join(base, ref string) (uri.Target, *uri.Finding, error) {
	b, err := j.readAbsolute(base)
	if err != nil {
		return uri.Target{}, nil, fmt.Errorf("base: %w", err)
	}
	inner, _ := uri.Undelimit(ref)
	r, err := j.uri.ParseReference(inner)
	if err != nil {
		return uri.Target{}, nil, fmt.Errorf("ref: %w", errorAround(ref, err))
	}
	f, odd := urn.InspectReference(b.uri, r)
	if odd && !j.urnBase {
		return uri.Target{}, nil, codedError{string(f.Code), errors.New("ref: " + f.Message)}
	}
	t, err := j.resolver.Resolve(b.uri, r)
	var tooLong *uri.Error
	if errors.As(err, &tooLong) { // its offset is one in the target, not in the reference
		err = codedError{codeUnresolvable, errors.New("the target exceeds the maximum length of a URI")}
	}
	if !odd {
		return t, nil, err
	}
	return t, &f, err
}

func targetText(t uri.Target) string {
	switch {
	case t.URI.IsValid():
		return t.URI.String()
	case t.HasFragment:
		return "(current document) #" + t.Fragment
	default:
		return "(current document)"
	}
}

func defined(s string, ok bool) *string {
	if !ok {
		return nil
	}
	return &s
}
