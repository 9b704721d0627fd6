package extra

import (
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/scheme"
	"github.com/nomen-project/nomen/scheme/internal/layout"
	"github.com/nomen-project/nomen/uri"
)

var ldap = scheme.Scheme{
	Name: "ldap", Title: "Lightweight Directory Access Protocol", Kind: scheme.KindLocator,
	Reference:   "RFC 4516",
	Example:     "ldap://ldap.example.net/o=University%20of%20Michigan,c=US?postalAddress?sub?(cn=Babs%20Jensen)",
	Note:        "defaults: all attributes, scope base, filter (objectClass=*); referrals have other defaults",
	Security:    "following it sends a search, perhaps with credentials, to a server chosen by the author of the link",
	DefaultPort: "389", Transport: "tcp", RootPath: true,
	Special:   ldapSpecial,
	Retrieval: "search the directory below the distinguished name for entries that match the filter, and return their attributes",
	Rules:     scheme.RuleSet{Check: withFragment(checkLDAP, ruleLDAP), Parts: partsLDAP, Canonical: canonicalLDAP},
}

var ldaps = scheme.Scheme{
	Name: "ldaps", Title: "Lightweight Directory Access Protocol over TLS", Kind: scheme.KindLocator,
	Reference:   "RFC 4516",
	Example:     "ldaps://ldap.example.net/dc=example,dc=net??one",
	Note:        "in use but never registered; " + ldap.Note,
	Security:    ldap.Security,
	DefaultPort: "636", Transport: "tcp", RootPath: true,
	Special:   ldapSpecial,
	Retrieval: ldap.Retrieval,
	Rules:     scheme.RuleSet{Check: withFragment(checkLDAP, ruleLDAP), Parts: partsLDAP, Canonical: canonicalLDAP},
}

var ldapSpecial = []scheme.Special{
	inPath(",", "separates the components of the distinguished name"),
	inQuery("?", "separates the attributes, scope, filter and extensions"),
	inQuery(",", "separates attributes, and extensions"),
	inQuery("!", "marks an extension as critical"),
}

const (
	ruleLDAP      = "RFC 4516, 2: ldapurl"
	ruleLDAPName  = "RFC 4514, 3: distinguishedName"
	ruleLDAPAttr  = "RFC 4516, 2: attrdesc"
	ruleLDAPScope = "RFC 4516, 2: scope"
	ruleLDAPExt   = "RFC 4516, 2: extension"
	ruleFilter    = "RFC 4515, 3: filter"
)

var ldapNames = [...]string{"attributes", "scope", "filter", "extensions"}

func ldapField(l *layout.Layout, n int) (from, to int, ok bool) {
	if l.Query < 0 {
		return 0, 0, false
	}
	for at := l.Query; ; n-- {
		to = ascii.Until(l.Text, at, l.QueryEnd, '?')
		if n == 0 {
			return at, to, true
		}
		if to == l.QueryEnd {
			return 0, 0, false
		}
		at = to + 1
	}
}

// checkLDAP checks an LDAP URL.
//
//	ldapurl = scheme "://" [host [":" port]] ["/" dn ["?" [attributes]
//	          ["?" [scope] ["?" [filter] ["?" extensions]]]]]
func checkLDAP(u uri.URI) []scheme.Finding {
	l := layout.Of(u)
	switch {
	case !l.Authority:
		return layout.Refuse(l.Rest, l.Rest, ruleLDAP, "missing // after the colon")
	case l.Query >= 0 && !l.HasPath():
		return layout.Refuse(l.Path, l.Path, ruleLDAP, "missing slash before the question mark")
	}
	if bad := firstOf(l.RefuseUser(ruleLDAP), checkDistinguishedName(l.Text, min(l.Path+1, l.PathEnd), l.PathEnd)); bad != nil {
		return bad
	}
	if from, to, ok := ldapField(&l, len(ldapNames)); ok {
		return []scheme.Finding{layout.Instead(layout.Broken(from-1, to, ruleLDAP, "too many question marks (limit four); percent-encode one in a value as %3F"), "%3F"+l.Text[from:to])}
	}
	return checkLDAPQuery(&l)
}

func checkLDAPQuery(l *layout.Layout) []scheme.Finding {
	from, to, ok := ldapField(l, 0)
	for at := from; ok && from < to && at <= to; {
		end := ascii.Until(l.Text, at, to, ',')
		if at == end {
			return layout.Refuse(at, end, ruleLDAPAttr, "missing attribute")
		}
		if i := firstNot(l.Text, at, end, isAttribute); i >= 0 {
			return layout.Refuse(i, i+1, ruleLDAPAttr, "an attribute must be a name or an object identifier, optionally followed by options after semicolons")
		}
		at = end + 1
	}
	if from, to, ok := ldapField(l, 1); ok && from < to {
		if scope := l.Text[from:to]; !ascii.EqualFold(scope, "base") && !ascii.EqualFold(scope, "one") && !ascii.EqualFold(scope, "sub") {
			return layout.Refuse(from, to, ruleLDAPScope, "the scope must be base, one or sub")
		}
	}
	if from, to, ok := ldapField(l, 2); ok && from < to {
		if bad := checkFilter(l.Text, from, to); bad != nil {
			return bad
		}
	}
	if from, to, ok := ldapField(l, 3); ok {
		return checkLDAPExtensions(l, from, to)
	}
	return nil
}

// isAttribute reports whether an attribute selector may contain c (RFC 4511, section 4.5.1; RFC
// 4512, section 2.5). The selector "*" requests all user attributes.
func isAttribute(c byte) bool { return ascii.IsAlnum(c) || strings.IndexByte("-.;*+", c) >= 0 }

// checkLDAPExtensions checks the extensions.
//
//	extensions = extension *("," extension)
//	extension  = ["!"] extype ["=" exvalue]
func checkLDAPExtensions(l *layout.Layout, from, to int) []scheme.Finding {
	var found []scheme.Finding
	for f := range fields(l.Text, from, to, ',') {
		start := f.name
		critical := f.name < f.nameEnd && l.Text[f.name] == '!'
		if critical {
			f.name++
		}
		if f.name == f.nameEnd {
			return layout.Refuse(start, f.end, ruleLDAPExt, "missing extension")
		}
		if i := firstNot(l.Text, f.name, f.nameEnd, isNameOrDot); i >= 0 {
			return layout.Refuse(i, i+1, "RFC 4516, 2: extype", "an extension must be a name or an object identifier")
		}
		if critical {
			found = append(found, layout.Remark(scheme.CodeUndefined, start, f.end, "RFC 4516, 2: critical extension", "critical extension: a client that does not support it must not use the locator"))
		}
	}
	return found
}

// checkDistinguishedName checks the distinguished name in s[from:to], which is percent-encoded.
//
//	distinguishedName         = [ relativeDistinguishedName *( "," relativeDistinguishedName ) ]
//	relativeDistinguishedName = attributeTypeAndValue *( "+" attributeTypeAndValue )
//	attributeTypeAndValue     = attributeType "=" attributeValue
func checkDistinguishedName(s string, from, to int) []scheme.Finding {
	start, equals := from, false
	for i := from; i < to; {
		c, next := layout.Octet(s, i)
		switch {
		case c == 0:
			return layout.RefuseAs(scheme.CodeInjection, i, next, "RFC 4516, 2.1", "NUL is not allowed")
		case c == '\\':
			end := escapedPair(s, next, to, true)
			if end < 0 {
				return layout.Refuse(i, min(next, to), "RFC 4514, 3: pair", "a backslash must precede two hexadecimal digits or a special character")
			}
			next = end
		case c == '=' && !equals:
			if i == start {
				return layout.Refuse(i, next, ruleLDAPName, "missing type before the equals sign")
			}
			equals = true
			if bad := checkHexString(s, next, to); bad != nil {
				return bad
			}
		case c == ',' || c == '+':
			if !equals {
				return layout.Refuse(start, i, ruleLDAPName, "a component of the name must have the form type=value")
			}
			start, equals = next, false
		case c == '"' || c == ';' || c == '<' || c == '>':
			return layout.Refuse(i, next, "RFC 4514, 3: special", "must be escaped with a backslash, %5C")
		case !equals && !isTelName(c) && c != '.' && c != ' ':
			return layout.Refuse(i, next, "RFC 4514, 3: attributeType", "a type must be a name or an object identifier")
		}
		i = next
	}
	if !equals && from < to {
		return layout.Refuse(start, to, ruleLDAPName, "a component of the name must have the form type=value")
	}
	return nil
}

// escapedPair returns the end of the two hexadecimal digits at offset i, which follow a backslash,
// or -1 if they are missing. If special is true, it also accepts a single special character.
func escapedPair(s string, i, to int, special bool) int {
	if i >= to {
		return -1
	}
	first, next := layout.Octet(s, i)
	if special && strings.IndexByte("\\ #=\"+,;<>", first) >= 0 {
		return next
	}
	if next >= to || !ascii.IsHex(first) {
		return -1
	}
	second, end := layout.Octet(s, next)
	if !ascii.IsHex(second) || end > to {
		return -1
	}
	return end
}

// checkHexString checks a hexadecimal value, which begins with a number sign at i (RFC 4514,
// section 2.4).
//
//	hexstring = SHARP 1*hexpair
func checkHexString(s string, i, to int) []scheme.Finding {
	if i >= to {
		return nil
	}
	c, at := layout.Octet(s, i)
	if c != '#' {
		return nil
	}
	digits := 0
	for at < to {
		c, next := layout.Octet(s, at)
		if c == ',' || c == '+' {
			break
		}
		if !ascii.IsHex(c) {
			return layout.Refuse(at, next, "RFC 4514, 3: hexstring", "hexadecimal digits must follow the number sign")
		}
		digits++
		at = next
	}
	if digits == 0 || digits%2 != 0 {
		return layout.Refuse(i, at, "RFC 4514, 3: hexstring", "pairs of hexadecimal digits must follow the number sign")
	}
	return nil
}

// checkFilter checks that the parentheses of a filter are balanced, and that each innermost pair
// contains a comparison. In values, \28 and \29 represent parentheses.
//
//	filter     = "(" filtercomp ")"
//	filtercomp = and / or / not / item
func checkFilter(s string, from, to int) []scheme.Finding {
	depth := 0
	open, equals := from, false
	for i := from; i < to; {
		c, next := layout.Octet(s, i)
		switch {
		case c == 0:
			return layout.RefuseAs(scheme.CodeInjection, i, next, "RFC 4516, 2.1", "NUL is not allowed")
		case c == '(':
			depth++
			open, equals = i, false
		case depth == 0:
			return layout.Refuse(i, to, ruleFilter, "a filter must be enclosed in parentheses")
		case c == '=' && !equals:
			if equals = true; open >= 0 && isFirst(s, open, i) {
				return layout.Refuse(i, next, "RFC 4515, 3: attr", "missing attribute before the equals sign")
			}
		case c == '\\':
			if next = escapedPair(s, next, to, false); next < 0 {
				return layout.Refuse(i, min(i+1, to), "RFC 4515, 3: valueencoding", "a backslash must precede two hexadecimal digits")
			}
		case c == ')':
			depth--
			if open >= 0 && !equals && !isEmptyAndOr(s[open:i]) {
				return layout.Refuse(open, next, ruleFilter, "no comparison in these parentheses")
			}
			open = -1
			if depth == 0 && next < to {
				return layout.Refuse(next, to, ruleFilter, "unexpected text after the filter; combine several filters with (&...) or (|...)")
			}
		}
		i = next
	}
	if depth > 0 {
		return layout.Refuse(to, to, ruleFilter, "missing closing parenthesis")
	}
	return nil
}

func isFirst(s string, open, i int) bool {
	_, next := layout.Octet(s, open)
	return next == i
}

// isEmptyAndOr reports whether s begins with the filter "(&)", which means true, or "(|)", which
// means false (RFC 4526, section 2).
func isEmptyAndOr(s string) bool {
	_, i := layout.Octet(s, 0)
	if i >= len(s) {
		return false
	}
	c, end := layout.Octet(s, i)
	return end == len(s) && (c == '&' || c == '|')
}

func partsLDAP(dst []scheme.Part, u uri.URI) []scheme.Part {
	t := layout.Take(dst, u)
	t.Server()
	if t.HasPath() {
		t.Data("dn", min(t.Path+1, t.PathEnd), t.PathEnd)
	}
	for i, name := range ldapNames {
		from, to, ok := ldapField(&t.Layout, i)
		if !ok {
			break
		}
		t.Data(name, from, to)
	}
	t.Fragment()
	return t.Parts
}

// canonicalLDAP writes the scope in lower case, and omits empty fields at the end (RFC 4516,
// section 3).
func canonicalLDAP(u uri.URI) string {
	l := layout.Of(u)
	s := l.Text[:l.End()]
	if from, to, ok := ldapField(&l, 1); ok {
		s = s[:from] + strings.ToLower(s[from:to]) + s[to:]
	}
	if l.Query >= 0 {
		s = strings.TrimRight(s, "?")
	}
	return s + l.Text[l.End():]
}
