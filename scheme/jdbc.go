package scheme

import (
	"strings"

	"github.com/nomen-project/nomen/uri"
)

var jdbc = Scheme{
	Name: "jdbc", Title: "Java Database Connectivity", Kind: KindLocator,
	Reference: "JDBC Specification, 9.4",
	Example:   "jdbc:postgresql://db.example.org:5432/people?ssl=true",
	Note:      "the driver of the subprotocol interprets the rest, which is only checked for passwords",
	Security:  "a driver may load files and classes that the locator names",
	Special:   []Special{{uri.ComponentPath, ":", "separates the subprotocol and the subname"}},
	Retrieval: "pass the locator to the driver of the subprotocol",
	Rules:     RuleSet{Check: checkJDBC, Parts: partsJDBC, Inner: innerJDBC},
}

const ruleJDBC = "JDBC Specification, 9.4: jdbc:subprotocol:subname"

// checkJDBC checks that there are a subprotocol and a subname.
func checkJDBC(u uri.URI) []Finding {
	l := layoutOf(u)
	if bad := l.refuseAuthority(ruleJDBC, "the subprotocol"); bad != nil {
		return bad
	}
	colon := until(l.s, l.path, l.pathEnd, ':')
	if i := firstNot(l.s, l.path, colon, func(c byte) bool { return isAlnum(c) || strings.IndexByte("+-._", c) >= 0 }); i >= 0 {
		return refuse(i, i+1, ruleJDBC, "the subprotocol must consist of letters, digits and + - . _")
	}
	switch {
	case colon == l.path:
		return refuse(l.path, l.path, ruleJDBC, "missing subprotocol")
	case colon == l.pathEnd:
		return refuse(colon, colon, ruleJDBC, "a colon and a subname must follow the subprotocol")
	}
	if strings.HasPrefix(l.s[colon:], "://") && hasSecretQuery(l.s[l.path:colon]) {
		return nil // the inner locator's own rules report it
	}
	if from, to, ok := l.secret(colon); ok {
		return []Finding{warn(CodeCredentials, from, to, "JDBC Specification, 9.4.1", "the password is visible to all who see the locator")}
	}
	return nil
}

// secret returns the range of a parameter that contains a password.
func (l *layout) secret(from int) (start, end int, ok bool) {
	for at := from; at < l.end(); {
		end := at + 1
		for end < l.end() && strings.IndexByte(";&?", l.s[end]) < 0 {
			end++
		}
		f := nextField(l.s, at+1, end, '&')
		if !f.empty() && (f.is(l.s, "password") || f.is(l.s, "pwd") || f.is(l.s, "passwd")) {
			return f.name, f.end, true
		}
		at = end
	}
	return 0, 0, false
}

func partsJDBC(dst []Part, u uri.URI) []Part {
	t := take(dst, u)
	colon := until(t.s, t.path, t.pathEnd, ':')
	t.part("subprotocol", t.path, colon)
	if colon < t.pathEnd {
		t.part("subname", colon+1, len(t.s))
	}
	return t.parts
}

// innerJDBC returns the range of the database locator that many drivers use.
func innerJDBC(u uri.URI) (from, to int, ok bool) {
	l := layoutOf(u)
	colon := until(l.s, l.path, l.pathEnd, ':')
	return l.path, len(l.s), strings.HasPrefix(l.s[colon:], "://")
}
