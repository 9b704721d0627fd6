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
// or IPv6address. Productions have the names that the document gives them, which are
// case-sensitive. The error is an *[Error] if s does not match, and wraps [ErrUnknownRule] if the
// dialect lacks such a production.
//
// In the drafts of 1997 and 2003 the top rules match nearly every string: a URI that is not generic
// counts as opaque, and an authority that is not a server counts as a registry name. To find out
// whether a string is, for example, a site, check the production site itself.
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

// parseRule applies the parser's own function for the production if the parser has one, because its
// fault is more specific than a mismatch with the grammar. The parser may accept more than the
// grammar, but never less.
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

// badRun returns the fault at offset i of s, without a rule. If i is in an incomplete escape,
// badRun reports the fault at the percent sign, with the rule for escapes.
func badRun(s string, i int) fault {
	for at := max(0, i-2); at <= i && at < len(s); at++ {
		if s[at] == '%' && !isEscape(s, at) {
			return fault{off: uint32(at), code: CodeEscape, rule: ruleEscape}
		}
	}
	return fault{off: uint32(i), code: CodeRule}
}
