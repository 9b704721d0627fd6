package scheme

import (
	"strings"

	"github.com/nomen-project/nomen/uri"
)

var ldap = Scheme{
	Name: "ldap", Title: "Lightweight Directory Access Protocol", Kind: KindLocator,
	Reference:   "RFC 4516",
	Example:     "ldap://ldap.example.net/o=University%20of%20Michigan,c=US?postalAddress?sub?(cn=Babs%20Jensen)",
	Note:        "defaults: all attributes, scope base, filter (objectClass=*); referrals have other defaults",
	Security:    "following it sends a search, perhaps with credentials, to a server chosen by the author of the link",
	DefaultPort: "389", Transport: "tcp", RootPath: true,
	Special:   ldapSpecial,
	Retrieval: "search the directory below the distinguished name for entries that match the filter, and return their attributes",
	Rules:     RuleSet{Check: withFragment(checkLDAP, ruleLDAP), Parts: partsLDAP, Canonical: canonicalLDAP},
}

var ldaps = Scheme{
	Name: "ldaps", Title: "Lightweight Directory Access Protocol over TLS", Kind: KindLocator,
	Reference:   "RFC 4516",
	Example:     "ldaps://ldap.example.net/dc=example,dc=net??one",
	Note:        "in use but never registered; " + ldap.Note,
	Security:    ldap.Security,
	DefaultPort: "636", Transport: "tcp", RootPath: true,
	Special:   ldapSpecial,
	Retrieval: ldap.Retrieval,
	Rules:     RuleSet{Check: withFragment(checkLDAP, ruleLDAP), Parts: partsLDAP, Canonical: canonicalLDAP},
}

var ldapSpecial = []Special{
	{uri.ComponentPath, ",", "separates the components of the distinguished name"},
	{uri.ComponentQuery, "?", "separates the attributes, scope, filter and extensions"},
	{uri.ComponentQuery, ",", "separates attributes, and extensions"},
	{uri.ComponentQuery, "!", "marks an extension as critical"},
}

// The grammar rules of LDAP URLs.
const (
	ruleLDAP      = "RFC 4516, 2: ldapurl"
	ruleLDAPName  = "RFC 4514, 3: distinguishedName"
	ruleLDAPAttr  = "RFC 4516, 2: attrdesc"
	ruleLDAPScope = "RFC 4516, 2: scope"
	ruleLDAPExt   = "RFC 4516, 2: extension"
	ruleFilter    = "RFC 4515, 3: filter"
)

// ldapNames lists the fields of the query in order.
var ldapNames = [...]string{"attributes", "scope", "filter", "extensions"}

// ldapField returns the range of a field of the query. ok is false if it is
// absent.
func (l *layout) ldapField(n int) (from, to int, ok bool) {
	if l.query < 0 {
		return 0, 0, false
	}
	for at := l.query; ; n-- {
		to = until(l.s, at, l.queryEnd, '?')
		if n == 0 {
			return at, to, true
		}
		if to == l.queryEnd {
			return 0, 0, false
		}
		at = to + 1
	}
}

// checkLDAP checks an LDAP URL.
//
//	ldapurl = scheme "://" [host [":" port]] ["/" dn ["?" [attributes]
//	          ["?" [scope] ["?" [filter] ["?" extensions]]]]]
func checkLDAP(u uri.URI) []Finding {
	l := layoutOf(u)
	switch {
	case !l.authority:
		return refuse(l.rest, l.rest, ruleLDAP, "missing // after the colon")
	case l.query >= 0 && !l.hasPath():
		return refuse(l.path, l.path, ruleLDAP, "missing slash before the question mark")
	}
	if bad := l.refuseUser(ruleLDAP); bad != nil {
		return bad
	}
	if bad := checkDistinguishedName(l.s, min(l.path+1, l.pathEnd), l.pathEnd); bad != nil {
		return bad
	}
	if from, to, ok := l.ldapField(len(ldapNames)); ok {
		return []Finding{instead(broken(from-1, to, ruleLDAP, "too many question marks (limit four); percent-encode one in a value as %3F"), "%3F"+l.s[from:to])}
	}
	return l.checkLDAPQuery()
}

// checkLDAPQuery checks attributes, scope, filter and extensions.
func (l *layout) checkLDAPQuery() []Finding {
	from, to, ok := l.ldapField(0)
	for at := from; ok && from < to && at <= to; {
		end := until(l.s, at, to, ',')
		if at == end {
			return refuse(at, end, ruleLDAPAttr, "missing attribute")
		}
		if i := firstNot(l.s, at, end, isAttribute); i >= 0 {
			return refuse(i, i+1, ruleLDAPAttr, "an attribute must be a name or an object identifier, optionally followed by options after semicolons")
		}
		at = end + 1
	}
	if from, to, ok := l.ldapField(1); ok && from < to {
		if scope := l.s[from:to]; !equalFold(scope, "base") && !equalFold(scope, "one") && !equalFold(scope, "sub") {
			return refuse(from, to, ruleLDAPScope, "the scope must be base, one or sub")
		}
	}
	if from, to, ok := l.ldapField(2); ok && from < to {
		if bad := checkFilter(l.s, from, to); bad != nil {
			return bad
		}
	}
	if from, to, ok := l.ldapField(3); ok {
		return l.checkLDAPExtensions(from, to)
	}
	return nil
}

// isAttribute reports whether c is allowed in an attribute selector (RFC 4511,
// 4.5.1; RFC 4512, 2.5). "*" requests all user attributes.
func isAttribute(c byte) bool { return isAlnum(c) || strings.IndexByte("-.;*+", c) >= 0 }

// checkLDAPExtensions checks the extensions.
//
//	extensions = extension *("," extension)
//	extension  = ["!"] extype ["=" exvalue]
func (l *layout) checkLDAPExtensions(from, to int) []Finding {
	var found []Finding
	for at := from; at <= to; {
		f := nextField(l.s, at, to, ',')
		critical := f.name < f.nameEnd && l.s[f.name] == '!'
		if critical {
			f.name++
		}
		if f.name == f.nameEnd {
			return refuse(at, f.end, ruleLDAPExt, "missing extension")
		}
		if i := firstNot(l.s, f.name, f.nameEnd, func(c byte) bool { return isTelName(c) || c == '.' }); i >= 0 {
			return refuse(i, i+1, "RFC 4516, 2: extype", "an extension must be a name or an object identifier")
		}
		if critical {
			found = append(found, remark(CodeUndefined, at, f.end, "RFC 4516, 2: critical extension", "critical extension: a client that does not support it must not use the locator"))
		}
		at = f.end + 1
	}
	return found
}

// checkDistinguishedName checks the distinguished name encoded in s[from:to].
//
//	distinguishedName         = [ relativeDistinguishedName *( "," relativeDistinguishedName ) ]
//	relativeDistinguishedName = attributeTypeAndValue *( "+" attributeTypeAndValue )
//	attributeTypeAndValue     = attributeType "=" attributeValue
func checkDistinguishedName(s string, from, to int) []Finding {
	start, equals := from, false
	for i := from; i < to; {
		c, next := octet(s, i)
		switch {
		case c == 0:
			f := broken(i, next, "RFC 4516, 2.1", "NUL is not allowed")
			f.Code = CodeInjection
			return []Finding{f}
		case c == '\\':
			end := escapedPair(s, next, to, true)
			if end < 0 {
				return refuse(i, min(next, to), "RFC 4514, 3: pair", "a backslash must precede two hexadecimal digits or a special character")
			}
			next = end
		case c == '=' && !equals:
			if i == start {
				return refuse(i, next, ruleLDAPName, "missing type before the equals sign")
			}
			equals = true
			if bad := checkHexString(s, next, to); bad != nil {
				return bad
			}
		case c == ',' || c == '+':
			if !equals {
				return refuse(start, i, ruleLDAPName, "a component of the name must have the form type=value")
			}
			start, equals = next, false
		case c == '"' || c == ';' || c == '<' || c == '>':
			return refuse(i, next, "RFC 4514, 3: special", "must be escaped with a backslash, %5C")
		case !equals && !isTelName(c) && c != '.' && c != ' ':
			return refuse(i, next, "RFC 4514, 3: attributeType", "a type must be a name or an object identifier")
		}
		i = next
	}
	if !equals && from < to {
		return refuse(start, to, ruleLDAPName, "a component of the name must have the form type=value")
	}
	return nil
}

// escapedPair returns the end of the pair that follows the backslash before i:
// two hexadecimal digits, or a special character where those are allowed. It
// returns -1 if the pair is invalid.
func escapedPair(s string, i, to int, special bool) int {
	if i >= to {
		return -1
	}
	first, next := octet(s, i)
	if special && strings.IndexByte("\\ #=\"+,;<>", first) >= 0 {
		return next
	}
	if next >= to || !isHex(first) {
		return -1
	}
	second, end := octet(s, next)
	if !isHex(second) || end > to {
		return -1
	}
	return end
}

// checkHexString checks a value that begins with a number sign at i, which
// means that the value is hexadecimal (RFC 4514, 2.4).
//
//	hexstring = SHARP 1*hexpair
func checkHexString(s string, i, to int) []Finding {
	if i >= to {
		return nil
	}
	c, at := octet(s, i)
	if c != '#' {
		return nil
	}
	digits := 0
	for at < to {
		c, next := octet(s, at)
		if c == ',' || c == '+' {
			break
		}
		if !isHex(c) {
			return refuse(at, next, "RFC 4514, 3: hexstring", "hexadecimal digits must follow the number sign")
		}
		digits++
		at = next
	}
	if digits == 0 || digits%2 != 0 {
		return refuse(i, at, "RFC 4514, 3: hexstring", "pairs of hexadecimal digits must follow the number sign")
	}
	return nil
}

// checkFilter checks the parentheses of a filter, and that the innermost ones
// contain a comparison. In values, \28 and \29 stand for parentheses.
//
//	filter     = "(" filtercomp ")"
//	filtercomp = and / or / not / item
func checkFilter(s string, from, to int) []Finding {
	depth := 0
	open, equals := from, false
	for i := from; i < to; {
		c, next := octet(s, i)
		switch {
		case c == 0:
			f := broken(i, next, "RFC 4516, 2.1", "NUL is not allowed")
			f.Code = CodeInjection
			return []Finding{f}
		case c == '(':
			depth++
			open, equals = i, false
		case depth == 0:
			return refuse(i, to, ruleFilter, "a filter must be enclosed in parentheses")
		case c == '=' && !equals:
			if equals = true; open >= 0 && isFirst(s, open, i) {
				return refuse(i, next, "RFC 4515, 3: attr", "missing attribute before the equals sign")
			}
		case c == '\\':
			if next = escapedPair(s, next, to, false); next < 0 {
				return refuse(i, min(i+1, to), "RFC 4515, 3: valueencoding", "a backslash must precede two hexadecimal digits")
			}
		case c == ')':
			depth--
			if open >= 0 && !equals && !isEmptyAndOr(s[open:i]) {
				return refuse(open, next, ruleFilter, "no comparison in these parentheses")
			}
			open = -1
			if depth == 0 && next < to {
				return refuse(next, to, ruleFilter, "unexpected text after the filter; combine several filters with (&...) or (|...)")
			}
		}
		i = next
	}
	if depth > 0 {
		return refuse(to, to, ruleFilter, "missing closing parenthesis")
	}
	return nil
}

// isFirst reports whether i is the first offset after the parenthesis at open.
func isFirst(s string, open, i int) bool {
	_, next := octet(s, open)
	return next == i
}

// isEmptyAndOr reports whether the filter that begins at the parenthesis is
// "(&)" or "(|)", which mean true and false (RFC 4526, 2).
func isEmptyAndOr(s string) bool {
	_, i := octet(s, 0)
	if i >= len(s) {
		return false
	}
	c, end := octet(s, i)
	return end == len(s) && (c == '&' || c == '|')
}

func partsLDAP(dst []Part, u uri.URI) []Part {
	t := take(dst, u)
	t.server()
	if t.hasPath() {
		t.data("dn", min(t.path+1, t.pathEnd), t.pathEnd)
	}
	for i, name := range ldapNames {
		from, to, ok := t.ldapField(i)
		if !ok {
			break
		}
		t.data(name, from, to)
	}
	t.fragment()
	return t.parts
}

// canonicalLDAP writes the scope in lower case and omits trailing empty fields
// (RFC 4516, 3).
func canonicalLDAP(u uri.URI) string {
	l := layoutOf(u)
	s := l.s[:l.end()]
	if from, to, ok := l.ldapField(1); ok {
		s = s[:from] + strings.ToLower(s[from:to]) + s[to:]
	}
	if l.query >= 0 {
		s = strings.TrimRight(s, "?")
	}
	return s + l.s[l.end():]
}
