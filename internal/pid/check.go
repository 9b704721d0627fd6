package pid

import (
	"strings"
	"time"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/uri"
)

const (
	RuleARK      = "draft-kunze-ark, 2: ARK"
	RuleARKNAAN  = "draft-kunze-ark, 2.3: NAAN"
	ruleARKName  = "draft-kunze-ark, 2.4: Name"
	ruleHandle   = "RFC 3651, 2: Handle"
	rulePrefix   = "RFC 3651, 2: NamingAuthority"
	ruleDOI      = "ISO 26324, 4.2.2: DOI prefix"
	ruleInfo     = "RFC 4452, 4.1: info-URI"
	ruleInfoName = "RFC 4452, 4.1: namespace"
	ruleInfoID   = "RFC 4452, 4.1: identifier"
	ruleTag      = "RFC 4151, 2.1: tagURI"
	ruleTagName  = "RFC 4151, 2.1: authorityName"
	ruleTagDate  = "RFC 4151, 2.1: date"
	ruleTagRest  = "RFC 4151, 2.1: specific"
)

// Check returns the first violation in u of the rules of its scheme, which must be ark, doi, hdl,
// info, swh or tag. If u is valid or has another scheme, Check returns nil and does not allocate.
func Check(u uri.URI) *uri.Finding {
	t := textOf(u)
	switch name := t.s[:max(t.rest-1, 0)]; {
	case strings.EqualFold(name, "ark"):
		return t.checkARK()
	case strings.EqualFold(name, "doi"):
		return t.checkHandle(true)
	case strings.EqualFold(name, "hdl"):
		return t.checkHandle(false)
	case strings.EqualFold(name, "info"):
		return t.checkInfo()
	case strings.EqualFold(name, "tag"):
		return t.checkTag()
	case strings.EqualFold(name, "swh"):
		return t.checkSWHID()
	}
	return nil
}

// A text is the spelling of a URI with the offsets of its components.
type text struct {
	s             string
	rest          int // offset after the colon of the scheme
	path, pathEnd int
	end           int // offset of the fragment, or of the end
	authority     bool
	query         bool
}

func textOf(u uri.URI) text {
	t := text{s: u.String()}
	if name, ok := u.Scheme(); ok {
		t.rest = len(name) + 1
	}
	t.path = t.rest
	if authority, ok := u.Authority(); ok {
		t.authority = true
		t.path += len("//") + len(authority)
	}
	t.pathEnd = t.path + len(u.Path())
	t.end = t.pathEnd
	if query, ok := u.Query(); ok {
		t.query = true
		t.end += len("?") + len(query)
	}
	return t
}

func flaw(from, to int, rule, message string) *uri.Finding {
	return &uri.Finding{Code: uri.FindingScheme, Severity: uri.SeverityError, Offset: from, End: to, Rule: rule, Message: message}
}

func (t *text) begins(c byte) bool { return t.path < t.pathEnd && t.s[t.path] == c }

// checkARK checks the core of an ARK, without the host of a resolver.
//
//	ARK = "ark:" [ "/" ] NAAN "/" Name [ Qualifier ]
func (t *text) checkARK() *uri.Finding {
	if t.authority {
		return flaw(t.rest, t.path, RuleARK, "at most one slash may precede the NAAN; the host of a resolver goes before ark:")
	}
	from := t.path
	if t.begins('/') {
		from++
	}
	to := ascii.Until(t.s, from, t.pathEnd, '/')
	digits := 0
	for i := from; i < to; i++ {
		switch c := t.s[i]; {
		case c == '-':
		case ascii.IsAlnum(c):
			digits++
		default:
			return flaw(i, i+1, RuleARKNAAN, "the NAAN must consist of letters and digits")
		}
	}
	switch {
	case digits == 0:
		return flaw(from, to, RuleARKNAAN, "missing NAAN (name assigning authority number)")
	case to == t.pathEnd:
		return flaw(to, to, RuleARK, "a slash and a name must follow the NAAN")
	}
	name := 0
	for i := to + 1; i < t.pathEnd; i++ {
		switch c := t.s[i]; {
		case ascii.IsAlnum(c), c == '%', strings.IndexByte("=~*+@_$", c) >= 0:
			name++
		case c == '-', isStructural(c):
		default:
			return flaw(i, i+1, ruleARKName, "allowed are letters, digits, = ~ * + @ _ $ and the separators - . /")
		}
	}
	if name == 0 {
		return flaw(to+1, t.pathEnd, ruleARKName, "missing name")
	}
	return nil
}

// checkHandle checks a handle. The prefix of a DOI must be the directory indicator 10 and a numeric
// registrant code.
//
//	Handle          = NamingAuthority "/" LocalName
//	NamingAuthority = *( NAsegment "." ) NAsegment
func (t *text) checkHandle(doi bool) *uri.Finding {
	slash := ascii.Until(t.s, t.path, t.pathEnd, '/')
	switch {
	case t.authority:
		return flaw(t.rest, t.rest+2, ruleHandle, "the prefix must not be preceded by slashes")
	case t.begins('/'):
		return flaw(t.path, t.path+1, ruleHandle, "the prefix must not be preceded by a slash")
	case slash == t.path:
		return flaw(t.path, t.path, ruleHandle, "missing prefix")
	case slash == t.pathEnd:
		return flaw(slash, slash, ruleHandle, "a slash and a local name must follow the prefix")
	case slash+1 == t.pathEnd:
		return flaw(t.pathEnd, t.pathEnd, ruleHandle, "missing local name")
	}
	prefix := t.s[t.path:slash]
	if i := strings.Index("."+prefix+".", ".."); i >= 0 {
		return flaw(t.path+i, t.path+i, rulePrefix, "empty segment in the prefix")
	}
	const indicator = "10."
	switch {
	case !doi:
		return nil
	case !strings.HasPrefix(prefix, indicator):
		return flaw(t.path, slash, ruleDOI, "a DOI prefix must begin with 10. (write other handles as hdl:)")
	}
	for i := len(indicator); i < len(prefix); i++ {
		if !ascii.IsDigit(prefix[i]) && prefix[i] != '.' {
			return flaw(t.path+i, t.path+i+1, ruleDOI, "a registrant code must consist of digits and dots")
		}
	}
	return nil
}

// checkInfo checks an info URI.
//
//	info-scheme = "info"
//	info-URI    = info-scheme ":" namespace "/" identifier [ "#" fragment ]
//	namespace   = ALPHA *( ALPHA / DIGIT / "." / "+" / "-" )
//	identifier  = path-rootless
func (t *text) checkInfo() *uri.Finding {
	slash := ascii.Until(t.s, t.path, t.pathEnd, '/')
	switch {
	case t.authority || t.begins('/'):
		slashes := len(t.s[t.rest:]) - len(strings.TrimLeft(t.s[t.rest:], "/"))
		return flaw(t.rest, t.rest+slashes, ruleInfo, "the namespace must not be preceded by slashes")
	case t.path == t.pathEnd:
		return flaw(t.path, t.path, ruleInfo, "missing namespace")
	}
	for i := t.path; i < slash; i++ {
		if c := t.s[i]; !ascii.IsLetter(c) && (i == t.path || !ascii.IsDigit(c) && strings.IndexByte(".+-", c) < 0) {
			return flaw(i, i+1, ruleInfoName, "a namespace must begin with a letter, followed by letters, digits, . + -")
		}
	}
	switch {
	case slash == t.pathEnd:
		return flaw(slash, slash, ruleInfo, "a slash and an identifier must follow the namespace")
	case slash+1 == t.pathEnd || t.s[slash+1] == '/':
		return flaw(slash+1, min(slash+2, t.pathEnd), ruleInfoID, "the identifier must not be empty or begin with a slash")
	case t.query:
		f := flaw(t.pathEnd, t.pathEnd+1, ruleInfo, "queries are not allowed; percent-encode a question mark as %3F")
		f.Right = "%3F"
		return f
	}
	return nil
}

// checkTag checks a tag URI.
//
//	tagURI        = "tag:" taggingEntity ":" specific [ "#" fragment ]
//	taggingEntity = authorityName "," date
//	date          = year ["-" month ["-" day]]
func (t *text) checkTag() *uri.Finding {
	comma := ascii.Until(t.s, t.path, t.pathEnd, ',')
	colon := ascii.Until(t.s, comma, t.pathEnd, ':')
	switch {
	case t.authority:
		return flaw(t.rest, t.rest+2, ruleTag, "the authority name must not be preceded by slashes")
	case comma == t.pathEnd:
		return flaw(t.pathEnd, t.pathEnd, ruleTag, "a comma and a date must follow the authority name")
	case colon == t.pathEnd:
		return flaw(t.pathEnd, t.pathEnd, ruleTag, "a colon must follow the date")
	}
	if f := checkTagAuthority(t.s, t.path, comma); f != nil {
		return f
	}
	if !isTagDate(t.s[comma+1 : colon]) {
		return flaw(comma+1, colon, ruleTagDate, "the date must be valid and written YYYY, YYYY-MM or YYYY-MM-DD")
	}
	if i := strings.IndexAny(t.s[colon+1:t.end], "[]"); i >= 0 {
		return flaw(colon+1+i, colon+2+i, ruleTagRest, "brackets must be percent-encoded")
	}
	return nil
}

func isTagDate(s string) bool {
	const day = "2006-01-02"
	switch len(s) {
	case len("2006"), len("2006-01"), len(day):
		_, err := time.Parse(day[:len(s)], s)
		return err == nil
	}
	return false
}

// checkTagAuthority checks a domain name or a mail address.
//
//	authorityName = DNSname / emailAddress
//	DNSname       = DNScomp *( "." DNScomp )
//	DNScomp       = alphaNum [*(alphaNum /"-") alphaNum]
//	emailAddress  = 1*(alphaNum /"-"/"."/"_") "@" DNSname
func checkTagAuthority(s string, from, to int) *uri.Finding {
	at := from
	if sign := ascii.Until(s, from, to, '@'); sign < to {
		for i := from; i < sign; i++ {
			if !ascii.IsAlnum(s[i]) && strings.IndexByte("-._", s[i]) < 0 {
				return flaw(i, i+1, ruleTagName, "the local part of a mail address must consist of letters, digits and - . _")
			}
		}
		if sign == from {
			return flaw(from, from+1, ruleTagName, "missing local part before the @")
		}
		at = sign + 1
	}
	if bad := BadHostName(s, at, to); bad >= 0 {
		return flaw(bad, min(bad+1, to), ruleTagName, "a domain name must consist of labels of letters, digits and inner hyphens, separated by dots")
	}
	return nil
}

// BadHostName returns the offset of the first byte of s[from:to] that a domain name cannot contain,
// or -1.
func BadHostName(s string, from, to int) int {
	start := from
	for i := from; i <= to; i++ {
		switch {
		case i == to || s[i] == '.':
			if i == start {
				return i
			}
			if s[i-1] == '-' {
				return i - 1
			}
			start = i + 1
		case ascii.IsAlnum(s[i]), s[i] == '-' && i > start:
		default:
			return i
		}
	}
	return -1
}
