package extra

import (
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/scheme"
	"github.com/nomen-project/nomen/scheme/internal/layout"
	"github.com/nomen-project/nomen/uri"
)

var jdbc = scheme.Scheme{
	Name: "jdbc", Kind: scheme.KindLocator,
	Reference: "JDBC Specification, 9.4",
	Example:   "jdbc:postgresql://db.example.org:5432/people?ssl=true",
	Note:      "the driver of the subprotocol interprets the rest, which is only checked for passwords",
	Security:  "a driver may load files and classes that the locator names",
	Special:   []scheme.Special{inPath(":", "separates the subprotocol and the subname")},
	Retrieval: "pass the locator to the driver of the subprotocol",
	Rules:     scheme.RuleSet{Check: checkJDBC, Parts: partsJDBC, Inner: innerJDBC},
}

const ruleJDBC = "JDBC Specification, 9.4: jdbc:subprotocol:subname"

func checkJDBC(u uri.URI) []scheme.Finding {
	l := layout.Of(u)
	if bad := refuseAuthority(&l, ruleJDBC, "the subprotocol"); bad != nil {
		return bad
	}
	colon := ascii.Until(l.Text, l.Path, l.PathEnd, ':')
	if i := firstNot(l.Text, l.Path, colon, func(c byte) bool { return ascii.IsAlnum(c) || strings.IndexByte("+-._", c) >= 0 }); i >= 0 {
		return layout.Refuse(i, i+1, ruleJDBC, "the subprotocol must consist of letters, digits and + - . _")
	}
	switch {
	case colon == l.Path:
		return layout.Refuse(l.Path, l.Path, ruleJDBC, "missing subprotocol")
	case colon == l.PathEnd:
		return layout.Refuse(colon, colon, ruleJDBC, "a colon and a subname must follow the subprotocol")
	}
	if strings.HasPrefix(l.Text[colon:], "://") && hasSecretQuery(l.Text[l.Path:colon]) {
		return nil // the inner URL has an error, which its own scheme reports
	}
	if from, to, ok := secretOf(&l, colon); ok {
		return []scheme.Finding{layout.Warn(scheme.CodeCredentials, from, to, "JDBC Specification, 9.4.1", "the password is visible to all who see the locator")}
	}
	return nil
}

func secretOf(l *layout.Layout, from int) (start, end int, ok bool) {
	for at := from; at < l.End(); {
		end := at + 1
		for end < l.End() && strings.IndexByte(";&?", l.Text[end]) < 0 {
			end++
		}
		f := fieldAt(l.Text, at+1, end, '&')
		if !f.empty() && (f.is(l.Text, "password") || f.is(l.Text, "pwd") || f.is(l.Text, "passwd")) {
			return f.name, f.end, true
		}
		at = end
	}
	return 0, 0, false
}

func partsJDBC(dst []scheme.Part, u uri.URI) []scheme.Part {
	t := layout.Take(dst, u)
	colon := ascii.Until(t.Text, t.Path, t.PathEnd, ':')
	t.Part("subprotocol", t.Path, colon)
	if colon < t.PathEnd {
		t.Part("subname", colon+1, len(t.Text))
	}
	return t.Parts
}

// innerJDBC returns the range of the database URL that follows "jdbc:". It returns false if the
// driver does not use a URL there.
func innerJDBC(u uri.URI) (from, to int, ok bool) {
	l := layout.Of(u)
	colon := ascii.Until(l.Text, l.Path, l.PathEnd, ':')
	return l.Path, len(l.Text), strings.HasPrefix(l.Text[colon:], "://")
}
