package scheme

import (
	"slices"
	"strings"

	"github.com/nomen-project/nomen/internal/pid"
	"github.com/nomen-project/nomen/uri"
)

// Helpers for the schemes in use today.

// refuseAuthority returns an error if there are two slashes and an authority.
// what names the component that should follow the colon.
func (l *layout) refuseAuthority(rule, what string) []Finding {
	if !l.authority {
		return nil
	}
	return []Finding{instead(broken(l.rest, l.rest+2, rule, what+" must not be preceded by slashes"), "")}
}

// refuseUser returns an error if there is user information.
func (l *layout) refuseUser(rule string) []Finding {
	if l.user < 0 {
		return nil
	}
	return refuse(l.user, l.userEnd+1, rule, "user information is not allowed")
}

// refuseQuery returns an error if there is a query.
func (l *layout) refuseQuery(rule string) []Finding {
	if l.query < 0 {
		return nil
	}
	return []Finding{instead(broken(l.query-1, l.query, rule, "queries are not allowed; percent-encode a question mark as %3F"), "%3F")}
}

// refuseFragment returns an error if there is a fragment.
func (l *layout) refuseFragment(rule string) []Finding {
	if l.frag < 0 {
		return nil
	}
	return []Finding{instead(broken(l.frag-1, l.frag, rule, "fragments are not allowed; percent-encode a number sign as %23"), "%23")}
}

// withFragment returns a check that also reports a fragment, which the general
// syntax always allows (RFC 3986, 3.5) and the scheme does not define.
func withFragment(check func(uri.URI) []Finding, rule string) func(uri.URI) []Finding {
	return func(u uri.URI) []Finding {
		found := check(u)
		l := layoutOf(u)
		if l.frag < 0 || HasError(found) {
			return found
		}
		return append(found, remark(CodeFragment, l.frag-1, len(l.s), rule, "the scheme does not define fragments"))
	}
}

// warnPassword returns a warning if there is a password.
func (l *layout) warnPassword() []Finding {
	if l.user < 0 {
		return nil
	}
	colon := until(l.s, l.user, l.userEnd, ':')
	if colon == l.userEnd {
		return nil
	}
	return []Finding{warn(CodeCredentials, colon, l.userEnd, "RFC 3986, 3.2.1", "the password is visible to all who see the locator")}
}

// A field is a name=value pair in a list of such pairs.
type field struct {
	name, nameEnd int
	value         int // -1 if there is no equals sign
	end           int
}

// nextField returns the field that begins at the given offset.
func nextField(s string, at, to int, sep byte) field {
	end := until(s, at, to, sep)
	equals := until(s, at, end, '=')
	if equals == end {
		return field{at, end, -1, end}
	}
	return field{at, equals, equals + 1, end}
}

// is reports whether the field has the given name, ignoring case.
func (f field) is(s, name string) bool { return equalFold(s[f.name:f.nameEnd], name) }

// empty reports whether the value is empty or absent.
func (f field) empty() bool { return f.value < 0 || f.value == f.end }

// fields adds parts for the fields, by their names in lower case.
func (t *taker) fields(from, to int, sep byte) {
	for at := from; at <= to; {
		f := nextField(t.s, at, to, sep)
		name := strings.ToLower(t.s[f.name:f.nameEnd])
		if name == "" {
			name = "field"
		}
		t.data(name, max(f.value, min(f.nameEnd+1, f.end)), f.end)
		at = f.end + 1
	}
}

// fewFields is the number of fields up to which repeatedField compares all
// pairs.
const fewFields = 16

// repeatedField returns the first field whose name, ignoring case, has already
// appeared. ok is false if there is none.
func repeatedField(s string, from, to int, sep byte) (again field, ok bool) {
	var few [fewFields]field
	var seen map[string]bool
	n := 0
	for at := from; at <= to; n++ {
		f := nextField(s, at, to, sep)
		at = f.end + 1
		if n < fewFields {
			for _, before := range few[:n] {
				if before.is(s, s[f.name:f.nameEnd]) {
					return f, true
				}
			}
			few[n] = f
			continue
		}
		if seen == nil {
			seen = make(map[string]bool)
			for _, before := range few {
				seen[strings.ToLower(s[before.name:before.nameEnd])] = true
			}
		}
		name := strings.ToLower(s[f.name:f.nameEnd])
		if seen[name] {
			return f, true
		}
		seen[name] = true
	}
	return field{}, false
}

// sortedFields returns the fields sorted by name, each written by write.
func sortedFields(s string, from, to int, sep byte, write func(b []byte, f field) []byte) []string {
	var list []string
	for at := from; at <= to; {
		f := nextField(s, at, to, sep)
		list = append(list, string(write(nil, f)))
		at = f.end + 1
	}
	slices.SortStableFunc(list, func(a, b string) int {
		a, _, _ = strings.Cut(a, "=")
		b, _, _ = strings.Cut(b, "=")
		return strings.Compare(a, b)
	})
	return list
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

// octet decodes the octet at an offset, and returns the offset of the next one.
func octet(s string, i int) (c byte, next int) {
	if s[i] == '%' && i+2 < len(s) {
		return unhex(s[i+1])<<4 | unhex(s[i+2]), i + 3
	}
	return s[i], i + 1
}

// octets returns the number of decoded octets in s[from:to].
func octets(s string, from, to int) int { return to - from - 2*strings.Count(s[from:to], "%") }

// badHost returns the offset of the first byte that is not valid in a domain
// name, perhaps with a trailing dot, or a bracketed address; -1 if the host is
// valid. It is for hosts in a path, which the general syntax does not check.
func badHost(s string, from, to int) int {
	if from < to && s[from] == '[' {
		if end := run(s[:to], from+1, isAddress); end == from+1 || end+1 != to || s[end] != ']' {
			return min(end, to)
		}
		return -1
	}
	if to-from > 1 && s[to-1] == '.' {
		to--
	}
	return pid.BadHostName(s, from, to)
}

// badTopLabel returns the offset of the last label of a host name, perhaps with
// a trailing dot, if it does not begin with a letter; otherwise -1.
func badTopLabel(s string, from, to int) int {
	if to-from > 1 && s[to-1] == '.' {
		to--
	}
	last := from + strings.LastIndexByte(s[from:to], '.') + 1
	return badUnless(last < to && isAlpha(s[last]), last)
}

// isIPv4 reports whether s consists of four numbers of at most three digits,
// separated by dots.
func isIPv4(s string) bool {
	n := 0
	for number := range strings.SplitSeq(s, ".") {
		if n++; !all(number, isDigit) || len(number) > len("255") {
			return false
		}
	}
	return n == 4
}

// isAddress reports whether c is allowed in an IPv6 address.
func isAddress(c byte) bool { return isHex(c) || c == ':' || c == '.' }

// isUUID reports whether s is a UUID (RFC 9562, 4).
func isUUID(s string) bool {
	const length = 36
	if len(s) != length {
		return false
	}
	for i := range length {
		switch i {
		case 8, 13, 18, 23:
			if s[i] != '-' {
				return false
			}
		default:
			if !isHex(s[i]) {
				return false
			}
		}
	}
	return true
}

// isNumber reports whether s is a decimal number from min to 2^32-1.
func isNumber(s string, least uint64) bool {
	const digits = 10
	if s == "" || len(s) > digits {
		return false
	}
	n := uint64(0)
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
		n = n*10 + uint64(s[i]-'0')
	}
	return n >= least && n < 1<<32
}
