package scheme

import (
	"strings"

	"github.com/nomen-project/nomen/uri"
)

var dns = Scheme{
	Name: "dns", Title: "Domain Name System", Kind: KindLocator,
	Reference:   "RFC 4501",
	Example:     "dns://192.0.2.1/ftp.example.org?type=TXT",
	Note:        "the host is the name server to ask; the defaults are the client's own name server, class IN and type A; a backslash in a label is written %5C",
	Security:    "unsigned responses can be forged",
	DefaultPort: "53", Transport: "udp",
	Special:   []Special{{uri.ComponentPath, ".", "separates labels"}, {uri.ComponentQuery, ";", "separates the class and the type"}},
	Retrieval: "ask the name server for the records of the given name, class and type",
	Rules:     RuleSet{Check: withFragment(checkDNS, ruleDNS), Parts: partsDNS, Canonical: canonicalDNS},
}

// The grammar rules of dns URIs.
const (
	ruleDNS      = "RFC 4501, 3: dnsurl"
	ruleDNSName  = "RFC 4501, 3: dnsname"
	ruleDNSQuery = "RFC 4501, 3: dnsquery"
)

// dnsName returns the offset of the name.
func (l *layout) dnsName() int {
	if l.authority {
		return min(l.path+1, l.pathEnd)
	}
	return l.path
}

// checkDNS checks a server, a name, a class and a type.
//
//	dnsurl   = "dns:" [ "//" dnsauthority "/" ] dnsname ["?" dnsquery]
//	dnsquery = dnsqueryelement [";" dnsquery]
func checkDNS(u uri.URI) []Finding {
	l := layoutOf(u)
	if l.authority {
		if bad := l.needServer(ruleDNS); bad != nil {
			return bad
		}
		if bad := l.refuseUser("RFC 4501, 3: dnsauthority"); bad != nil {
			return bad
		}
		if !l.hasPath() {
			return refuse(l.path, l.path, ruleDNS, "a slash must follow the server; an empty name means the root")
		}
	}
	from := l.dnsName()
	if slash := until(l.s, from, l.pathEnd, '/'); slash < l.pathEnd {
		return refuse(slash, slash+1, ruleDNSName, "a slash in a name must be percent-encoded")
	}
	if bad := checkLabels(l.s, from, l.pathEnd); bad != nil {
		return bad
	}
	if l.query < 0 {
		return nil
	}
	return l.checkDNSQuery()
}

// checkLabels checks the lengths of labels (RFC 1035, 2.3.4). A backslash
// escapes the next character, or precedes the three decimal digits of an octet
// (RFC 1035, 5.1).
func checkLabels(s string, from, to int) []Finding {
	const maxLabel, maxName = 63, 255
	rule := "RFC 1035, 2.3.4"
	label, name, start := 0, 0, from
	for i := from; i < to; {
		c, next := octet(s, i)
		switch {
		case c == '.' && label == 0 && (i > from || next < to):
			return refuse(i, next, ruleDNSName, "empty label")
		case c == '.':
			label, start = 0, next
		case c == '\\' && next >= to:
			return refuse(i, next, "RFC 1035, 5.1", "missing character after the backslash")
		case c == '\\':
			if next+3 <= to && all(s[next:next+3], isDigit) {
				next += 3
			} else {
				_, next = octet(s, next)
			}
			label++
		default:
			label++
		}
		name++
		if label > maxLabel {
			return refuse(start, to, rule, "a label must not exceed 63 octets")
		}
		i = next
	}
	if name > maxName-1 {
		return refuse(from, to, rule, "a name must not exceed 255 octets")
	}
	return nil
}

// checkDNSQuery checks the class and the type, each of which may appear once.
//
//	dnsqueryelement = ( "CLASS=" dnsclassval ) / ( "TYPE=" dnstypeval )
func (l *layout) checkDNSQuery() []Finding {
	class, kind := false, false
	for at := l.query; at <= l.queryEnd; {
		f := nextField(l.s, at, l.queryEnd, ';')
		seen := &class
		switch {
		case f.is(l.s, "type"):
			seen = &kind
		case !f.is(l.s, "class"):
			return refuse(f.name, f.end, ruleDNSQuery, "the query may contain only CLASS= and TYPE=, separated by a semicolon")
		}
		switch {
		case *seen:
			return refuse(f.name, f.end, ruleDNSQuery, "the class and the type may each appear only once")
		case f.empty() || firstNot(l.s, f.value, f.end, isTelName) >= 0:
			return refuse(f.name, f.end, ruleDNSQuery, "the class and the type must be mnemonics or numbers")
		}
		*seen = true
		at = f.end + 1
	}
	return nil
}

func partsDNS(dst []Part, u uri.URI) []Part {
	t := take(dst, u)
	t.login()
	t.server()
	t.data("dnsname", t.dnsName(), t.pathEnd)
	if t.query >= 0 {
		t.fields(t.query, t.queryEnd, ';')
	}
	t.fragment()
	return t.parts
}

// canonicalDNS converts the name to lower case and omits the trailing dot and
// the default class and type (RFC 4501, 3).
func canonicalDNS(u uri.URI) string {
	l := layoutOf(u)
	from, end := l.dnsName(), l.pathEnd
	if end > from && l.s[end-1] == '.' && !endsEscaped(l.s, from, end) {
		end--
	}
	b := append(append(make([]byte, 0, len(l.s)), l.s[:from]...), lowerRaw(l.s[from:end])...)
	sep := byte('?')
	for _, name := range [...]string{"class", "type"} {
		for at := l.query; l.query >= 0 && at <= l.queryEnd; {
			f := nextField(l.s, at, l.queryEnd, ';')
			if value := l.s[max(f.value, f.name):f.end]; f.is(l.s, name) && !isUsual(name, value) {
				b = append(append(b, sep), strings.ToLower(name+"="+value)...)
				sep = ';'
			}
			at = f.end + 1
		}
	}
	return string(append(b, l.s[l.end():]...))
}

// isUsual reports whether value is the default class or type.
func isUsual(name, value string) bool {
	return value == "1" || name == "class" && equalFold(value, "in") || name == "type" && equalFold(value, "a")
}

// endsEscaped reports whether the trailing dot is escaped with a backslash.
func endsEscaped(s string, from, end int) bool {
	escaped := false
	for i := from; i < end; {
		c, next := octet(s, i)
		if next == end {
			return escaped
		}
		escaped = c == '\\' && !escaped
		i = next
	}
	return false
}
