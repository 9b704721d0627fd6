package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/nomen-project/nomen/scheme/extra"
	"github.com/nomen-project/nomen/uri"
	"github.com/nomen-project/nomen/urn"
)

const compareLong = `Compare says whether two identifiers are equivalent, and at which level: string, case,
percent, path or scheme, as in 'nomen normalize'. Two URNs are equivalent at the level urn
if they are the same name by the rules of URNs and of their namespace. This comparison
ignores what follows ?+, ?= and #.

"Not established" means that the identifiers do not show that they are equivalent. They
may still identify the same resource.

Fragments of URIs are compared. With --purpose cache they are ignored, because fragments
are not sent to a server. With --purpose cache, two URNs of the dialect 2012 are equivalent
only if the directives in their queries are the same, in any order.

The exit status is 1 if the answer for a pair is "not established".

` + pairHelp

func (c *cli) compareCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "compare A B",
		Short: "check whether two identifiers are equivalent",
		Long:  compareLong,
		Example: `  nomen compare HTTP://example.org/%7Esmith http://EXAMPLE.org:80/~smith
  nomen compare --purpose cache 'http://example.org/a#x' 'http://example.org/a#y'
  nomen compare URN:ISBN:0395363411 'urn:isbn:978-0-395-36341-6?=page=4'
  nomen compare --dialect 2012 --purpose cache 'urn:example:a?s=I2L' 'urn:example:a?s=I2C'
  nomen compare --json - < pairs.tsv`,
		Args: pairArguments(2),
	}
	e := &equality{dialects: addDialects(cmd), comparer: uri.Comparer{Rules: extra.Catalogue().Rules()}}
	purpose := cmd.Flags().String("purpose", "resource", "purpose of the comparison: resource, or cache (ignores fragments, compares directives)")
	complete(cmd, "purpose", []string{"resource", "cache"})
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch *purpose {
		case "resource":
		case "cache":
			e.comparer.NoFragment, e.purpose = true, urn.PurposeCache
		default:
			return usagef("--purpose %q: must be resource or cache", *purpose)
		}
		return c.answerPairs(cmd.Context(), args, e.answer)
	}
	return cmd
}

type equality struct {
	*dialects
	comparer uri.Comparer
	purpose  urn.Purpose
}

type comparison struct {
	A          string        `json:"a"`
	B          string        `json:"b"`
	Equivalent *bool         `json:"equivalent,omitempty"`
	Level      string        `json:"level,omitempty"`
	Error      *resolveError `json:"error,omitempty"`
}

func (e *equality) answer(a *answers, first, second string) {
	r := comparison{A: first, B: second}
	x, y, err := e.readBoth(first, second)
	if err != nil {
		r.Error = explain(err)
		a.refuse(err, r)
		return
	}
	level, ok := e.compare(x, y)
	if !ok {
		a.no = true
	}
	r.Equivalent, r.Level = &ok, level
	switch {
	case a.json != nil:
		a.object(r)
	case ok:
		a.text(a.paint(colourGreen, "equivalent", len("not established")) + "  " + level)
	default:
		a.text(a.paint(colourYellow, "not established", 0))
	}
}

func (e *equality) readBoth(first, second string) (x, y identifier, err error) {
	if x, err = e.read(first); err != nil {
		return x, y, fmt.Errorf("a: %w", err)
	}
	if y, err = e.read(second); err != nil {
		return x, y, fmt.Errorf("b: %w", err)
	}
	return x, y, nil
}

// compare returns the lowest level at which x and y are equivalent. Two URNs are compared as
// strings and by the rules of URNs. The other levels for URIs do not apply to URNs, because they
// ignore differences that distinguish URNs, such as percent-encoding.
func (e *equality) compare(x, y identifier) (string, bool) {
	if !x.urn.IsValid() || !y.urn.IsValid() {
		if level, ok := e.comparer.Compare(x.uri, y.uri); ok {
			return level.String(), true
		}
		if extra.Catalogue().Canonical(x.uri) == extra.Catalogue().Canonical(y.uri) {
			return uri.LevelScheme.String(), true
		}
		return "", false
	}
	switch {
	case x.urn == y.urn:
		return uri.LevelString.String(), true
	case e.names().Equivalent(x.urn, y.urn):
		return "urn", true
	default:
		return "", false
	}
}

// names returns a comparer of URNs that also applies the rules of the namespaces.
func (e *equality) names() urn.Comparer {
	return urn.Comparer{Purpose: e.purpose, Fold: func(canonical string) string {
		n, err := e.urn.Parse(canonical)
		if err != nil {
			return canonical
		}
		return canonicalName(n)
	}}
}
