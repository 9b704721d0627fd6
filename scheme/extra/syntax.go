package extra

import (
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/internal/pid"
	"github.com/nomen-project/nomen/scheme"
	"github.com/nomen-project/nomen/scheme/internal/layout"
	"github.com/nomen-project/nomen/uri"
)

// This file has functions that many schemes need.

// firstOf returns the first result that is not nil. Its arguments are evaluated first, so a check
// cannot rely on the success of an earlier check.
func firstOf(results ...[]scheme.Finding) []scheme.Finding {
	for _, found := range results {
		if found != nil {
			return found
		}
	}
	return nil
}

// refuseAuthority returns an error if the URI has an authority. The error names the component that
// must follow the colon instead.
func refuseAuthority(l *layout.Layout, rule, component string) []scheme.Finding {
	if !l.Authority {
		return nil
	}
	return []scheme.Finding{layout.Instead(layout.Broken(l.Rest, l.Rest+2, rule, component+" must not be preceded by slashes"), "")}
}

func refuseQuery(l *layout.Layout, rule string) []scheme.Finding {
	if l.Query < 0 {
		return nil
	}
	return []scheme.Finding{layout.Instead(layout.Broken(l.Query-1, l.Query, rule, "queries are not allowed; percent-encode a question mark as %3F"), "%3F")}
}

func refuseFragment(l *layout.Layout, rule string) []scheme.Finding {
	if l.Frag < 0 {
		return nil
	}
	return []scheme.Finding{layout.Instead(layout.Broken(l.Frag-1, l.Frag, rule, "fragments are not allowed; percent-encode a number sign as %23"), "%23")}
}

// withFragment returns a check that also reports a fragment. The general syntax allows fragments in
// every scheme (RFC 3986, section 3.5), but some schemes do not define them.
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

// firstNot returns the offset of the first byte of s[from:to] for which kind is false, or -1.
func firstNot(s string, from, to int, kind func(byte) bool) int {
	for i := from; i < to; i++ {
		if !kind(s[i]) {
			return i
		}
	}
	return -1
}

func octets(s string, from, to int) int { return to - from - 2*strings.Count(s[from:to], "%") }

// badHost returns the offset of the first invalid byte of a host, or -1 if the host is valid. A
// host is a domain name, which can end with a dot, or an address in brackets. Use badHost for hosts
// in paths, because parsing only checks the host of the authority.
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

// badTopLabel returns the offset of the last label of a host name if it does not begin with a
// letter, and -1 otherwise. The name may have a dot at its end.
func badTopLabel(s string, from, to int) int {
	if to-from > 1 && s[to-1] == '.' {
		to--
	}
	last := from + strings.LastIndexByte(s[from:to], '.') + 1
	return badUnless(last < to && ascii.IsLetter(s[last]), last)
}

// isIPv4 reports whether s consists of four numbers with at most three digits each, separated by
// dots.
func isIPv4(s string) bool {
	n := 0
	for number := range strings.SplitSeq(s, ".") {
		if n++; !ascii.All(number, ascii.IsDigit) || len(number) > len("255") {
			return false
		}
	}
	return n == 4
}

func isAddress(c byte) bool { return ascii.IsHex(c) || c == ':' || c == '.' }

// isNumber reports whether s is a decimal number from least to 2^32-1.
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
