package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/nomen-project/nomen/uri"
)

const joinLong = `Join prints the URI that each reference means in a document whose URI is the
base. Where the dialect says that a reference means the current document, which
it calls no URI, the answer is "(current document)" and the fragment, if the
reference has one; as JSON it has same_document and no target. RFC 3986 has both.

--compatible reads a reference with the scheme of the base, such as http:g, as if
it had none, where the dialect permits it (2003, RFC 3986).

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
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return c.answerPairs(cmd.Context(), args, j.answer)
	}
	return cmd
}

// A joiner answers with the targets of references.
type joiner struct {
	*dialects
	resolver uri.Resolver
}

// A joined is the result for one reference in JSON.
type joined struct {
	Base         string        `json:"base"`
	Ref          string        `json:"ref"`
	Target       *string       `json:"target,omitempty"`
	SameDocument *bool         `json:"same_document,omitempty"`
	Fragment     *string       `json:"fragment,omitempty"`
	Error        *resolveError `json:"error,omitempty"`
}

func (j *joiner) answer(a *answers, base, ref string) {
	r := joined{Base: base, Ref: ref}
	t, err := j.join(base, ref)
	if err != nil {
		r.Error = explain(err)
		a.refuse(err, r)
		return
	}
	if a.json == nil {
		a.text(targetText(t))
		return
	}
	r.SameDocument = &t.SameDocument
	r.Target = defined(t.URI.String(), t.URI.IsValid())
	r.Fragment = defined(t.Fragment, t.HasFragment)
	a.object(r)
}

func (j *joiner) join(base, ref string) (uri.Target, error) {
	b, err := j.uri.Parse(base)
	if err != nil {
		return uri.Target{}, fmt.Errorf("base: %w", err)
	}
	r, err := j.uri.ParseReference(ref)
	if err != nil {
		return uri.Target{}, fmt.Errorf("ref: %w", err)
	}
	t, err := j.resolver.Resolve(b, r)
	var tooLong *uri.Error
	if errors.As(err, &tooLong) { // its offset is not one of the reference
		err = codedError{codeUnresolvable, errors.New("the target is longer than a URI may be")}
	}
	return t, err
}

// targetText says for people what a reference means.
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

// defined returns a component for JSON, in which what is undefined is absent.
func defined(s string, ok bool) *string {
	if !ok {
		return nil
	}
	return &s
}
