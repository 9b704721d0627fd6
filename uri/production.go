package uri

import (
	"embed"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
)

// ErrUnknownRule means that the dialect has no production with the given name.
var ErrUnknownRule = errors.New("unknown production")

// CheckRule checks that all of s matches a production of the dialect, such as host, site, reg-name
// or IPv6address. The parameter rule is the name of the production in the document, which is
// case-sensitive. If s does not match, the error is an *[Error]. If the dialect has no such
// production, the error wraps [ErrUnknownRule].
//
// In the drafts of 1997 and 2003, the top-level productions match nearly every string. A URI that
// is not generic counts as opaque, and an authority that is not a server counts as a registry name.
// To find out whether a string is a site, for example, check the production site itself.
func (d Dialect) CheckRule(rule, s string) error {
	switch {
	case !d.IsValid():
		return newError(d, s, fault{code: CodeDialect})
	case !slices.Contains(d.abnf().names, rule):
		return fmt.Errorf("uri: %q in dialect %s: %w", rule, d, ErrUnknownRule)
	case len(s) > MaxLength:
		return newError(d, s, fault{off: MaxLength, code: CodeTooLong})
	}
	end, ok := d.abnf().match(rule, s)
	if f := d.parseRule(rule, s); f.code != 0 && (ok || int(f.off) <= end || f.code == CodeNoScheme) {
		return newError(d, s, f)
	}
	if ok {
		return nil
	}
	e := newError(d, s, badRun(s, end))
	if e.Code == CodeRule {
		e.Rule = rule
	}
	return e
}

// Rules returns an iterator over the names that [Dialect.CheckRule] accepts, in the order of the
// document.
func (d Dialect) Rules() iter.Seq[string] {
	return func(yield func(string) bool) {
		if d.IsValid() {
			slices.Values(d.abnf().names)(yield)
		}
	}
}

// abnfFiles contains the grammars as the documents print them.
//
//go:embed abnf
var abnfFiles embed.FS

func (d Dialect) abnf() *abnf { return abnfs()[d] }

var abnfs = sync.OnceValue(func() (all [dialects]*abnf) {
	for d := Draft1993; d.IsValid(); d++ {
		text, err := abnfFiles.ReadFile("abnf/" + d.String() + ".abnf")
		if err != nil {
			panic("uri: internal error: " + err.Error())
		}
		all[d] = newABNF(string(text))
	}
	return all
})

// parseRule returns the fault that the parser finds, if the parser has a function for the
// production. This fault is more specific than a mismatch with the grammar. The parser accepts
// everything that the grammar accepts, and may accept more.
func (d Dialect) parseRule(rule, s string) fault {
	g, t := &grammars[d], &classes[d]
	var u URI
	var f fault
	switch rule {
	case "URI-reference", "URL-reference", "reference", "relative-ref", "relative-URI", "relative-part", "partial", "net-path", "net_path":
		_, f = parse(d, s)
	case "URI", "absolute-URI-reference", "absolute-URI", "absoluteURL", "opaque-URL", "generic-URL", "fragmentaddress", "url":
		if u, f = parse(d, s); f.code == 0 && u.scheme == 0 {
			f = missingScheme(d, s)
		}
	case "hier-part":
		const prefix = "x:"
		_, f = parse(d, prefix+s)
		f.off -= min(f.off, uint32(len(prefix)))
	case "authority":
		_, f = parseAuthority(g, t, &u, s, 0)
	case "server", "site":
		f = parseServer(g, t, &u, s, 0, len(s))
	case "hostport", "host":
		var end int
		if end, _, f = parseHost(g, t, s, 0); f.code == 0 && rule == "hostport" {
			f = checkPort(g, s, end)
		}
	}
	return f
}

// badRun returns the fault for the mismatch at offset i of s. If i is in an incomplete escape, the
// fault is at the percent sign and has the rule for escapes. Otherwise the fault has no rule.
func badRun(s string, i int) fault {
	for at := max(0, i-2); at <= i && at < len(s); at++ {
		if s[at] == '%' && !isEscape(s, at) {
			return fault{off: uint32(at), code: CodeEscape, rule: ruleEscape}
		}
	}
	return fault{off: uint32(i), code: CodeRule}
}
