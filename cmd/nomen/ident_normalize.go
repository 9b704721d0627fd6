package main

import (
	"github.com/spf13/cobra"

	"github.com/nomen-project/nomen/scheme/extra"
	"github.com/nomen-project/nomen/uri"
	"github.com/nomen-project/nomen/urn"
)

const normalizeLong = `Normalize prints the normal form of each identifier. Each level includes those before it:

  string    nothing changes
  case      scheme and host in lower case, hexadecimal digits in upper case
  percent   unnecessary escapes decoded
  path      segments that are . or .. removed
  scheme    default port removed, and an empty path filled in, by the rules of the scheme

The default is "scheme". With --dialect, each level follows the standard of that dialect.

At "case" and all later levels, a URN gets its canonical form: "urn" and the namespace in
lower case, hexadecimal digits in upper case. In the dialect 1995 the authority is in lower
case too, and unnecessary escapes are decoded. At "scheme" a URN gets the spelling that its
namespace prefers: an ISBN, for example, gets thirteen digits without hyphens. What follows
?+, ?= and # is kept; in the dialect 2012, the query is kept too.

` + streamHelp

func (c *cli) normalizeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "normalize ID...",
		Short: "print the normal form of identifiers",
		Long:  normalizeLong,
		Example: `  nomen normalize HTTP://Example.ORG:80/%7Esmith/./a/../b
  nomen normalize --level case HTTP://Example.ORG:80/%7esmith/./a
  nomen normalize URN:ISBN:0-395-36341-1 URN:Example:a%2cb
  nomen normalize --level case URN:ISBN:0-395-36341-1
  nomen normalize - < urls.txt`,
		Args: arguments(1, -1),
	}
	n := &normalizer{dialects: addDialects(cmd)}
	level := cmd.Flags().String("level", uri.LevelScheme.String(), "level: string, case, percent, path or scheme")
	complete(cmd, "level", levelNames())
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		l, ok := uri.ParseLevel(*level)
		if !ok || l > uri.LevelScheme {
			return usagef("--level %q: must be string, case, percent, path or scheme", *level)
		}
		n.level = l
		return c.answerEach(cmd.Context(), args, n.answer)
	}
	return cmd
}

func levelNames() []string {
	var names []string
	for l := uri.LevelString; l <= uri.LevelScheme; l++ {
		names = append(names, l.String())
	}
	return names
}

type normalizer struct {
	*dialects
	level uri.Level
}

type normalForm struct {
	Input  string        `json:"input"`
	Normal *string       `json:"normal,omitempty"`
	Error  *resolveError `json:"error,omitempty"`
}

func (n *normalizer) answer(a *answers, s string) {
	id, err := n.read(s)
	if err != nil {
		a.refuse(err, normalForm{Input: s, Error: explain(err)})
		return
	}
	normal := n.normal(id)
	if a.json != nil {
		a.object(normalForm{Input: s, Normal: defined(normal, true)})
		return
	}
	a.text(normal)
}

// normal returns the normal form of an identifier. For a URN, this is the canonical form of the
// assigned name, followed by the normalized components. At the highest level, the canonical form
// follows the rules of the namespace.
func (n *normalizer) normal(id identifier) string {
	switch {
	case !id.urn.IsValid() && n.level == uri.LevelScheme:
		return extra.Catalogue().Canonical(id.uri).String()
	case !id.urn.IsValid():
		return id.uri.Normalize(n.level).String()
	case n.level == uri.LevelString:
		return id.urn.String()
	}
	name, rest := id.urn.Canonical(), ""
	if id.urn.Dialect() != urn.Draft1995 && len(name) < len(id.urn.String()) {
		rest = id.uri.Normalize(uri.LevelCase).String()[len(name):]
	}
	if n.level == uri.LevelScheme {
		name = canonicalName(id.urn)
	}
	return name + rest
}
