package extra

import (
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/internal/pid"
	"github.com/nomen-project/nomen/scheme"
	"github.com/nomen-project/nomen/scheme/internal/layout"
	"github.com/nomen-project/nomen/uri"
)

// Helper functions for the schemes of this package.

// firstOf returns the first of the results of several checks that is not nil. All checks have
// already run, so none may depend on the success of another.
func firstOf(results ...[]scheme.Finding) []scheme.Finding {
	for _, found := range results {
		if found != nil {
			return found
		}
	}
	return nil
}

// refuseAuthority returns an error if there are two slashes and an authority.
// The given component is the one that should follow the colon.
func refuseAuthority(l *layout.Layout, rule, component string) []scheme.Finding {
	if !l.Authority {
		return nil
	}
	return []scheme.Finding{layout.Instead(layout.Broken(l.Rest, l.Rest+2, rule, component+" must not be preceded by slashes"), "")}
}

// refuseQuery returns an error if there is a query.
func refuseQuery(l *layout.Layout, rule string) []scheme.Finding {
	if l.Query < 0 {
		return nil
	}
	return []scheme.Finding{layout.Instead(layout.Broken(l.Query-1, l.Query, rule, "queries are not allowed; percent-encode a question mark as %3F"), "%3F")}
}

// refuseFragment returns an error if there is a fragment.
func refuseFragment(l *layout.Layout, rule string) []scheme.Finding {
	if l.Frag < 0 {
		return nil
	}
	return []scheme.Finding{layout.Instead(layout.Broken(l.Frag-1, l.Frag, rule, "fragments are not allowed; percent-encode a number sign as %23"), "%23")}
}

// withFragment returns a check that also reports a fragment, because the scheme does not define
// fragments. The general syntax always allows a fragment (RFC 3986, 3.5).
func withFragment(check func(uri.URI) []scheme.Finding, rule string) func(uri.URI) []scheme.Finding {
	return func(u uri.URI) []scheme.Finding {
		found := check(u)
		l := layout.Of(u)
		if l.Frag < 0 || scheme.HasError(found) {
			return found
		}
		return append(found, layout.Remark(scheme.CodeFragment, l.Frag-1, len(l.Text), rule, "the scheme does not define fragments"))
	}
}

// warnPassword returns a warning if there is a password.
func warnPassword(l *layout.Layout) []scheme.Finding {
	if l.User < 0 {
		return nil
	}
	colon := ascii.Until(l.Text, l.User, l.UserEnd, ':')
	if colon == l.UserEnd {
		return nil
	}
	return []scheme.Finding{layout.Warn(scheme.CodeCredentials, colon, l.UserEnd, "RFC 3986, 3.2.1", "the password is visible to all who see the locator")}
}

// firstNot returns the offset of the first byte in s[from:to] that does not
// satisfy kind, or -1.
func firstNot(s string, from, to int, kind func(byte) bool) int {
	for i := from; i < to; i++ {
		if !kind(s[i]) {
			return i
		}
	}
	return -1
}

// octets returns the number of decoded octets in s[from:to].
func octets(s string, from, to int) int { return to - from - 2*strings.Count(s[from:to], "%") }

// badHost returns the offset of the first invalid byte of a host, or -1 if the
// host is valid. A host is a domain name, with or without a trailing dot, or a
// bracketed address. badHost is for hosts in a path, which the general syntax
// does not check.
func badHost(s string, from, to int) int {
	if from < to && s[from] == '[' {
		if end := ascii.Run(s[:to], from+1, isAddress); end == from+1 || end+1 != to || s[end] != ']' {
			return min(end, to)
		}
		return -1
	}
	if to-from > 1 && s[to-1] == '.' {
		to--
	}
	return pid.BadHostName(s, from, to)
}

// badTopLabel checks that the last label of a host name begins with a letter. If it does,
// badTopLabel returns -1, otherwise the offset of the label. The host name may have a trailing dot.
func badTopLabel(s string, from, to int) int {
	if to-from > 1 && s[to-1] == '.' {
		to--
	}
	last := from + strings.LastIndexByte(s[from:to], '.') + 1
	return badUnless(last < to && ascii.IsLetter(s[last]), last)
}

// isIPv4 reports whether s consists of four numbers of at most three digits,
// separated by dots.
func isIPv4(s string) bool {
	n := 0
	for number := range strings.SplitSeq(s, ".") {
		if n++; !ascii.All(number, ascii.IsDigit) || len(number) > len("255") {
			return false
		}
	}
	return n == 4
}

// isAddress reports whether c is allowed in an IPv6 address.
func isAddress(c byte) bool { return ascii.IsHex(c) || c == ':' || c == '.' }

// isNumber reports whether s is a decimal number between least and 2^32-1.
func isNumber(s string, least uint64) bool {
	const digits = 10
	if s == "" || len(s) > digits {
		return false
	}
	n := uint64(0)
	for i := range len(s) {
		if !ascii.IsDigit(s[i]) {
			return false
		}
		n = n*10 + uint64(s[i]-'0')
	}
	return n >= least && n < 1<<32
}
