package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nomen-project/nomen/uri"
	"github.com/nomen-project/nomen/urn"
)

func (c *cli) identifierCommands() []*cobra.Command {
	return []*cobra.Command{
		c.parseCommand(), c.checkCommand(), c.normalizeCommand(),
		c.compareCommand(), c.joinCommand(), c.relativizeCommand(),
		c.namespacesCommand(), c.servicesCommand(),
	}
}

// dialects is the value of the flag --dialect. It consists of a dialect for URIs and a dialect for
// URNs, of which the user may specify either or both. A dialect is a version of the syntax, named
// after the RFC or draft that defines it.
type dialects struct {
	uri      uri.Dialect
	urn      urn.Dialect
	urnFirst bool // the last dialect given is for URNs
}

const dialectUsage = "for URIs rfc3986, rfc6874 (with zones), 2003, 1997 or 1993; for URNs rfc8141, 2012, rfc2141 or 1995"

func dialectNames() []string {
	return []string{"rfc3986", "rfc6874", "2003", "1997", "1993", "rfc8141", "2012", "rfc2141", "1995"}
}

func addDialects(cmd *cobra.Command) *dialects {
	d := &dialects{uri: uri.Latest, urn: urn.Latest}
	cmd.Flags().Var(d, "dialect", dialectUsage)
	complete(cmd, "dialect", dialectNames())
	return d
}

// valuesAnnotation is the key of the annotation that lists the possible values of a flag.
const valuesAnnotation = "nomen-values"

func complete(cmd *cobra.Command, flag string, values []string) {
	if err := cmd.Flags().SetAnnotation(flag, valuesAnnotation, values); err != nil {
		panic("nomen: " + err.Error())
	}
}

func (d *dialects) String() string { return d.uri.String() + "," + d.urn.String() }

func (d *dialects) Type() string { return "dialect" }

// Set parses a dialect for URIs, a dialect for URNs, or both, separated by a comma.
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
			return fmt.Errorf("unknown dialect %q: must be %s", name, dialectUsage)
		}
	}
	switch {
	case uris > 1:
		return fmt.Errorf("%q names %d dialects for URIs: expected at most one for URIs and one for URNs", names, uris)
	case urns > 1:
		return fmt.Errorf("%q names %d dialects for URNs: expected at most one for URIs and one for URNs", names, urns)
	}
	return nil
}

type urnDialect struct{ d urn.Dialect }

const urnDialectUsage = "version of the URN syntax: rfc8141, 2012, rfc2141 or 1995"

func addURNDialect(cmd *cobra.Command) *urnDialect {
	u := &urnDialect{urn.Latest}
	cmd.Flags().Var(u, "dialect", urnDialectUsage)
	complete(cmd, "dialect", []string{"rfc8141", "2012", "rfc2141", "1995"})
	return u
}

func (u *urnDialect) String() string { return u.d.String() }

func (u *urnDialect) Type() string { return "dialect" }

func (u *urnDialect) Set(name string) error {
	d, ok := urn.ParseDialect(name)
	if !ok {
		return fmt.Errorf("unknown URN dialect %q: must be rfc8141, 2012, rfc2141 or 1995", name)
	}
	u.d = d
	return nil
}

// An identifier is a parsed input.
type identifier struct {
	uri uri.URI
	urn urn.URN // not valid if the identifier is not a URN
}

// read parses a URI reference or a URN. Delimiters such as angle brackets may surround the input.
// An input that begins with "urn:" must be a URN. read parses a URN also as a URI, after it has
// removed white space, which URNs may contain in the dialect of 1995.
func (d *dialects) read(s string) (identifier, error) {
	inner, _ := uri.Undelimit(s)
	id, err := d.readPlain(inner)
	return id, errorAround(s, err)
}

// readAbsolute is like read, but requires a scheme.
func (d *dialects) readAbsolute(s string) (identifier, error) {
	inner, _ := uri.Undelimit(s)
	if d.looksURN(inner) {
		return d.read(s)
	}
	u, err := d.uri.Parse(inner)
	return identifier{uri: u}, errorAround(s, err)
}

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

// readPlain is like read, but for an input without delimiters.
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

// looksURN reports whether s begins with "urn:", without regard to letter case. In the dialect of
// 1995, looksURN ignores white space, and opening brackets before "urn:".
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

func isSpace1995(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// offsetIn converts an offset in the parsed identifier to an offset in the input. The offsets
// differ only in the dialect of 1995, because its parser removes white space and brackets.
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

const (
	codeMalformed    = "malformed"    // does not match the syntax of the dialect
	codeTooLong      = "too-long"     // the line is longer than the limit
	codePair         = "no-pair"      // the line does not have two identifiers
	codeUnresolvable = "unresolvable" // the reference has no target
	codeNoReference  = "no-reference" // the target has no reference
)

// A codedError adds a JSON error code to an error. It is used for errors that do not come from a
// parser.
type codedError struct {
	code string
	error
}

// explain returns the JSON form of an error.
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
