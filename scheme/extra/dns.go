package extra

import (
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/scheme"
	"github.com/nomen-project/nomen/scheme/internal/layout"
	"github.com/nomen-project/nomen/uri"
)

var dns = scheme.Scheme{
	Name: "dns", Title: "Domain Name System", Kind: scheme.KindLocator,
	Reference:   "RFC 4501",
	Example:     "dns://192.0.2.1/ftp.example.org?type=TXT",
	Note:        "the host is the name server to ask; the defaults are the client's own name server, class IN and type A; a backslash in a label is written %5C",
	Security:    "unsigned responses can be forged",
	DefaultPort: "53", Transport: "udp",
	Special:   []scheme.Special{inPath(".", "separates labels"), inQuery(";", "separates the class and the type")},
	Retrieval: "ask the name server for the records of the given name, class and type",
	Rules:     scheme.RuleSet{Check: withFragment(checkDNS, ruleDNS), Parts: partsDNS, Canonical: canonicalDNS},
}

const (
	ruleDNS      = "RFC 4501, 3: dnsurl"
	ruleDNSName  = "RFC 4501, 3: dnsname"
	ruleDNSQuery = "RFC 4501, 3: dnsquery"
)

func dnsNameOf(l *layout.Layout) int {
	if l.Authority {
		return min(l.Path+1, l.PathEnd)
	}
	return l.Path
}

// checkDNS checks a server, a name, a class and a type.
//
//	dnsurl   = "dns:" [ "//" dnsauthority "/" ] dnsname ["?" dnsquery]
//	dnsquery = dnsqueryelement [";" dnsquery]
func checkDNS(u uri.URI) []scheme.Finding {
	l := layout.Of(u)
	if l.Authority {
		if bad := firstOf(l.NeedServer(ruleDNS), l.RefuseUser("RFC 4501, 3: dnsauthority")); bad != nil {
			return bad
		}
		if !l.HasPath() {
			return layout.Refuse(l.Path, l.Path, ruleDNS, "a slash must follow the server; an empty name means the root")
		}
	}
	from := dnsNameOf(&l)
	if slash := ascii.Until(l.Text, from, l.PathEnd, '/'); slash < l.PathEnd {
		return layout.Refuse(slash, slash+1, ruleDNSName, "a slash in a name must be percent-encoded")
	}
	if bad := checkLabels(l.Text, from, l.PathEnd); bad != nil {
		return bad
	}
	if l.Query < 0 {
		return nil
	}
	return checkDNSQuery(&l)
}

// checkLabels checks the lengths of labels (RFC 1035, section 2.3.4). A backslash escapes the next
// character, or comes before the three decimal digits of an octet (RFC 1035, section 5.1).
func checkLabels(s string, from, to int) []scheme.Finding {
	const maxLabel, maxName = 63, 255
	rule := "RFC 1035, 2.3.4"
	label, name, start := 0, 0, from
	for i := from; i < to; {
		c, next := layout.Octet(s, i)
		switch {
		case c == '.' && label == 0 && (i > from || next < to):
			return layout.Refuse(i, next, ruleDNSName, "empty label")
		case c == '.':
			label, start = 0, next
		case c == '\\' && next >= to:
			return layout.Refuse(i, next, "RFC 1035, 5.1", "missing character after the backslash")
		case c == '\\':
			if next+3 <= to && ascii.All(s[next:next+3], ascii.IsDigit) {
				next += 3
			} else {
				_, next = layout.Octet(s, next)
			}
			label++
		default:
			label++
		}
		name++
		if label > maxLabel {
			return layout.Refuse(start, to, rule, "a label must not exceed 63 octets")
		}
		i = next
	}
	if name > maxName-1 {
		return layout.Refuse(from, to, rule, "a name must not exceed 255 octets")
	}
	return nil
}

// checkDNSQuery checks the class and the type, which may each appear once.
//
//	dnsqueryelement = ( "CLASS=" dnsclassval ) / ( "TYPE=" dnstypeval )
func checkDNSQuery(l *layout.Layout) []scheme.Finding {
	class, kind := false, false
	for f := range queryFields(l, ';') {
		seen := &class
		switch {
		case f.is(l.Text, "type"):
			seen = &kind
		case !f.is(l.Text, "class"):
			return layout.Refuse(f.name, f.end, ruleDNSQuery, "the query may contain only CLASS= and TYPE=, separated by a semicolon")
		}
		switch {
		case *seen:
			return layout.Refuse(f.name, f.end, ruleDNSQuery, "the class and the type may each appear only once")
		case f.empty() || firstNot(l.Text, f.value, f.end, isTelName) >= 0:
			return layout.Refuse(f.name, f.end, ruleDNSQuery, "the class and the type must be mnemonics or numbers")
		}
		*seen = true
	}
	return nil
}

func partsDNS(dst []scheme.Part, u uri.URI) []scheme.Part {
	t := layout.Take(dst, u)
	t.Login()
	t.Server()
	t.Data("dnsname", dnsNameOf(&t.Layout), t.PathEnd)
	appendFields(&t, "field", t.Query, t.QueryEnd, ';', "class", "type")
	t.Fragment()
	return t.Parts
}

// canonicalDNS converts the name to lower case. It omits a dot at the end of the name, and the
// default class and type (RFC 4501, section 3).
func canonicalDNS(u uri.URI) string {
	l := layout.Of(u)
	from, end := dnsNameOf(&l), l.PathEnd
	if end > from && l.Text[end-1] == '.' && !endsEscaped(l.Text, from, end) {
		end--
	}
	b := append(append(make([]byte, 0, len(l.Text)), l.Text[:from]...), lowerRaw(l.Text[from:end])...)
	sep := byte('?')
	for _, name := range [...]string{"class", "type"} {
		for f := range queryFields(&l, ';') {
			if value := l.Text[max(f.value, f.name):f.end]; f.is(l.Text, name) && !isUsual(name, value) {
				b = append(append(b, sep), strings.ToLower(name+"="+value)...)
				sep = ';'
			}
		}
	}
	return string(append(b, l.Text[l.End():]...))
}

func isUsual(name, value string) bool {
	return value == "1" || name == "class" && ascii.EqualFold(value, "in") || name == "type" && ascii.EqualFold(value, "a")
}

func endsEscaped(s string, from, end int) bool {
	escaped := false
	for i := from; i < end; {
		c, next := layout.Octet(s, i)
		if next == end {
			return escaped
		}
		escaped = c == '\\' && !escaped
		i = next
	}
	return false
}
