package scheme

import (
	"slices"
	"strings"

	"github.com/nomen-project/nomen/uri"
)

// What the schemes in use today have in common.

// refuseAuthority refuses two slashes and what belongs to them.
func (l *layout) refuseAuthority(rule, what string) []Finding {
	if !l.authority {
		return nil
	}
	return []Finding{broken(l.rest, l.rest+2, rule, what+" comes without slashes").instead("")}
}

// refuseUser refuses user information.
func (l *layout) refuseUser(rule string) []Finding {
	if l.user < 0 {
		return nil
	}
	return refuse(l.user, l.userEnd+1, rule, "no user information is provided for")
}

// refuseQuery refuses a query.
func (l *layout) refuseQuery(rule string) []Finding {
	if l.query < 0 {
		return nil
	}
	return []Finding{broken(l.query-1, l.query, rule, "there are no queries: a question mark is %3F").instead("%3F")}
}

// refuseFragment refuses a fragment.
func (l *layout) refuseFragment(rule string) []Finding {
	if l.frag < 0 {
		return nil
	}
	return []Finding{broken(l.frag-1, l.frag, rule, "there are no fragments: a number sign is %23").instead("%23")}
}

// withFragment is a check that also tells of a fragment, which the general syntax
// allows everywhere (RFC 3986, 3.5) and to which the scheme gives no meaning.
func withFragment(check func(uri.URI) []Finding, rule string) func(uri.URI) []Finding {
	return func(u uri.URI) []Finding {
		found := check(u)
		l := layoutOf(u)
		if l.frag < 0 || HasError(found) {
			return found
		}
		return append(found, remark(CodeFragment, l.frag-1, len(l.s), rule, "the scheme gives fragments no meaning"))
	}
}

// warnPassword warns of a password.
func (l *layout) warnPassword() []Finding {
	if l.user < 0 {
		return nil
	}
	colon := until(l.s, l.user, l.userEnd, ':')
	if colon == l.userEnd {
		return nil
	}
	return []Finding{warn(CodeCredentials, colon, l.userEnd, "RFC 3986, 3.2.1", "everybody who sees the locator can read the password")}
}

// A field is name=value, one of several between separators.
type field struct {
	name, nameEnd int
	value         int // -1 if there is no equals sign
	end           int
}

// nextField returns the field that begins at an offset.
func nextField(s string, at, to int, sep byte) field {
	end := until(s, at, to, sep)
	equals := until(s, at, end, '=')
	if equals == end {
		return field{at, end, -1, end}
	}
	return field{at, equals, equals + 1, end}
}

// is reports whether the field has a name, in any case.
func (f field) is(s, name string) bool { return equalFold(s[f.name:f.nameEnd], name) }

// empty reports whether there is no value, or none in it.
func (f field) empty() bool { return f.value < 0 || f.value == f.end }

// fields takes fields under their names in lower case.
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

// fewFields is how many fields are compared with each other without a table.
const fewFields = 16

// repeatedField returns a field whose name one before it has, without regard to
// case; ok is false if there is none.
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

// sortedFields returns the fields in the order of their names, which write puts
// down.
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

// firstNot returns the first byte between two offsets that is not of a kind, or
// -1.
func firstNot(s string, from, to int, kind func(byte) bool) int {
	for i := from; i < to; i++ {
		if !kind(s[i]) {
			return i
		}
	}
	return -1
}

// octet returns the octet that is spelled at an offset, and where the next one
// begins.
func octet(s string, i int) (c byte, next int) {
	if s[i] == '%' && i+2 < len(s) {
		return unhex(s[i+1])<<4 | unhex(s[i+2]), i + 3
	}
	return s[i], i + 1
}

// octets returns how many octets are spelled between two offsets.
func octets(s string, from, to int) int { return to - from - 2*strings.Count(s[from:to], "%") }

// badHost returns the offset of what is neither a domain name, perhaps with a
// dot at its end, nor an address in brackets; -1 if it is one. For hosts that are
// a part of a path, which the general syntax has not looked at.
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
	return badHostName(s, from, to)
}

// badTopLabel returns the offset of the last label of a name of a host, perhaps
// with a dot at its end, if that does not begin with a letter; otherwise -1.
func badTopLabel(s string, from, to int) int {
	if to-from > 1 && s[to-1] == '.' {
		to--
	}
	last := from + strings.LastIndexByte(s[from:to], '.') + 1
	return badUnless(last < to && isAlpha(s[last]), last)
}

// isIPv4 reports whether s is four numbers with dots between, each of three
// digits at most.
func isIPv4(s string) bool {
	n := 0
	for number := range strings.SplitSeq(s, ".") {
		if n++; !all(number, isDigit) || len(number) > len("255") {
			return false
		}
	}
	return n == 4
}

// isAddress reports whether c may stand in an IPv6 address.
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

// isNumber reports whether s is a decimal number below 2^32, at least min.
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
