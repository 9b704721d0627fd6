package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nomen-project/nomen/uri"
	"github.com/nomen-project/nomen/urn"
)

// identifierCommands are those that need nothing but the identifiers that they
// are given, and the registries: no store, no network.
func (c *cli) identifierCommands() []*cobra.Command {
	return []*cobra.Command{
		c.parseCommand(), c.checkCommand(), c.normalizeCommand(),
		c.compareCommand(), c.joinCommand(), c.relativizeCommand(),
		c.namespacesCommand(), c.servicesCommand(),
	}
}

// dialects are the generations of the standards by which a command reads: one
// for URIs, one for URNs. As a flag it takes the name of either, or both.
type dialects struct {
	uri      uri.Dialect
	urn      urn.Dialect
	urnFirst bool // the last that was named is one of URNs
}

const dialectUsage = "rfc3986, rfc6874 (with zones), 2003, 1997 or 1993; of URNs rfc8141, 2012, rfc2141 or 1995"

// dialectNames are what --dialect takes.
func dialectNames() []string {
	return []string{"rfc3986", "rfc6874", "2003", "1997", "1993", "rfc8141", "2012", "rfc2141", "1995"}
}

// addDialects gives a command the flag --dialect, and returns what it says.
func addDialects(cmd *cobra.Command) *dialects {
	d := &dialects{uri: uri.Latest, urn: urn.Latest}
	cmd.Flags().Var(d, "dialect", dialectUsage)
	complete(cmd, "dialect", dialectNames())
	return d
}

// complete tells shells the values of a flag.
func complete(cmd *cobra.Command, flag string, values []string) {
	err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	if err != nil {
		panic("nomen: " + err.Error())
	}
}

func (d *dialects) String() string { return d.uri.String() + "," + d.urn.String() }

func (d *dialects) Type() string { return "dialect" }

// Set takes the names of dialects, with a comma between: one of URIs, one of URNs,
// or both.
func (d *dialects) Set(names string) error {
	var uris, urns int
	for name := range strings.SplitSeq(names, ",") {
		if u, ok := uri.ParseDialect(name); ok {
			d.uri, d.urnFirst = u, false
			uris++
		} else if n, ok := urn.ParseDialect(name); ok {
			d.urn, d.urnFirst = n, true
			urns++
		} else {
			return fmt.Errorf("%q is no dialect that is known: want %s", name, dialectUsage)
		}
	}
	switch {
	case uris > 1:
		return fmt.Errorf("%q names %d dialects of URIs: want one of them and one of URNs at most", names, uris)
	case urns > 1:
		return fmt.Errorf("%q names %d dialects of URNs: want one of them and one of URIs at most", names, urns)
	}
	return nil
}

// A urnDialect is the flag --dialect of a command that takes only those of URNs.
type urnDialect struct{ d urn.Dialect }

const urnDialectUsage = "generation of the URN syntax: rfc8141, 2012, rfc2141 or 1995"

// addURNDialect gives a command the flag --dialect for URNs.
func addURNDialect(cmd *cobra.Command) *urnDialect {
	u := &urnDialect{urn.Latest}
	cmd.Flags().Var(u, "dialect", urnDialectUsage)
	complete(cmd, "dialect", []string{"rfc8141", "2012", "rfc2141", "1995"})
	return u
}

func (u *urnDialect) String() string { return u.d.String() }

func (u *urnDialect) Type() string { return "dialect" }

// Set takes the name of a dialect.
func (u *urnDialect) Set(name string) error {
	d, ok := urn.ParseDialect(name)
	if !ok {
		return fmt.Errorf("unknown dialect %q of URNs: want rfc8141, 2012, rfc2141 or 1995", name)
	}
	u.d = d
	return nil
}

// An identifier is an input that has been read.
type identifier struct {
	uri uri.URI
	urn urn.URN // not valid if the identifier is no URN
}

// read reads a reference, which may stand between the delimiters of a text. One
// that begins with "urn:" has to be a URN, and is then read as a URI in the
// spelling that has no white space (1995, 2).
func (d *dialects) read(s string) (identifier, error) {
	inner, _ := uri.Undelimit(s)
	id, err := d.readPlain(inner)
	return id, errorAround(s, err)
}

// readAbsolute is read for what has to have a scheme.
func (d *dialects) readAbsolute(s string) (identifier, error) {
	inner, _ := uri.Undelimit(s)
	if d.looksURN(inner) {
		return d.read(s)
	}
	u, err := d.uri.Parse(inner)
	return identifier{uri: u}, errorAround(s, err)
}

// errorAround makes an error about what stands between the delimiters of s one
// about s.
func errorAround(s string, err error) error {
	if _, delimited := uri.Undelimit(s); !delimited || err == nil {
		return err
	}
	var badURI *uri.Error
	var badURN *urn.Error
	switch {
	case errors.As(err, &badURI):
		e := *badURI
		e.Input, e.Offset = s, uri.DelimitedOffset(s, e.Offset)
		return &e
	case errors.As(err, &badURN):
		e := *badURN
		e.Input, e.Offset = s, uri.DelimitedOffset(s, e.Offset)
		return &e
	}
	return err
}

// readPlain is read for what has no delimiters.
func (d *dialects) readPlain(s string) (identifier, error) {
	if !d.looksURN(s) {
		u, err := d.uri.ParseReference(s)
		return identifier{uri: u}, err
	}
	n, err := d.urn.Parse(s)
	if err != nil {
		return identifier{}, err
	}
	u, err := d.uri.ParseReference(n.String())
	id := identifier{u, n}
	if err != nil {
		err = id.errorIn(s, err)
	}
	return id, err
}

// errorIn makes an error about the spelling of id one about the input.
func (id identifier) errorIn(input string, err error) error {
	var bad *uri.Error
	if !errors.As(err, &bad) {
		return err
	}
	e := *bad
	e.Input, e.Offset = input, id.offsetIn(input, e.Offset)
	return &e
}

const urnPrefix = "urn:"

// looksURN reports whether s begins with "urn:", in any case, and in the dialect
// of 1995 after or between white space and a bracket, even one that is not closed.
func (d *dialects) looksURN(s string) bool {
	if d.urn != urn.Draft1995 {
		return len(s) >= len(urnPrefix) && s[3] == ':' && strings.EqualFold(s[:len(urnPrefix)], urnPrefix)
	}
	n := 0
	for i := 0; i < len(s) && n < len(urnPrefix); i++ {
		switch c := s[i]; {
		case isSpace1995(c), c == '<' && n == 0:
		case c|0x20 == urnPrefix[n]|0x20:
			n++
		default:
			return false
		}
	}
	return n == len(urnPrefix)
}

// isSpace1995 reports whether c is white space, which is no part of a name of
// 1995.
func isSpace1995(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// offsetIn returns the offset into an input of byte at of the spelling that was
// read from it, which is the input or, in 1995, the input without white space
// and brackets.
func (id identifier) offsetIn(input string, at int) int {
	if id.urn.Dialect() != urn.Draft1995 {
		return at
	}
	i := 0
	for ; i < len(input); i++ {
		if isSpace1995(input[i]) || input[i] == '<' {
			continue
		}
		if at == 0 {
			return i
		}
		at--
	}
	return i
}

// The codes of errors that programs meet in JSON.
const (
	codeMalformed    = "malformed"    // not what the dialect derives
	codeTooLong      = "too-long"     // a line longer than what is read
	codePair         = "no-pair"      // a line that does not have two identifiers
	codeUnresolvable = "unresolvable" // a reference that has no target
	codeNoReference  = "no-reference" // a target that has no reference
)

// A codedError is a refusal that is not a parser's.
type codedError struct {
	code string
	error
}

// explain makes of an error what JSON shows of it.
func explain(err error) *resolveError {
	var bad uri.InputError
	var coded codedError
	switch {
	case errors.As(err, &bad):
		v := bad.Violation()
		return &resolveError{Code: codeMalformed, Offset: &v.Offset, Rule: v.Rule, Message: v.Message}
	case errors.As(err, &coded):
		return &resolveError{Code: coded.code, Message: err.Error()}
	default:
		return &resolveError{Code: codeUnresolvable, Message: err.Error()}
	}
}
