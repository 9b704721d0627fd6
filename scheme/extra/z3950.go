package extra

import (
	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/scheme"
	"github.com/nomen-project/nomen/scheme/internal/layout"
	"github.com/nomen-project/nomen/uri"
)

// z3950 returns the schemes of the protocol Z39.50. A URI of the scheme z39.50r retrieves a record.
// A URI of the scheme z39.50s opens an interactive search session.
func z3950() []scheme.Scheme {
	list := []scheme.Scheme{
		{
			Name: "z39.50r", Title: "Z39.50 retrieval", Example: "z39.50r://cnidr.example.org:2100/tmf?bkirch_rules__a1;esn=f;rs=marc",
			Retrieval: "open a session, search the databases for the identifier, and present the record in the given element set and record syntax",
		},
		{
			Name: "z39.50s", Title: "Z39.50 session", Example: "z39.50s://melvyl.example.edu/cat", Interactive: true,
			Retrieval: "open a session for a person to search the databases",
		},
	}
	for i := range list {
		s := &list[i]
		s.Kind, s.Reference = scheme.KindLocator, "RFC 2056"
		s.Note = "esn is the name of an element set, rs lists the record syntaxes in order of preference"
		s.Security = "the search is sent in the clear"
		s.DefaultPort, s.Transport = "210", "tcp"
		s.Special = []scheme.Special{
			inPath("+", "separates databases"),
			inPath(";", "precedes esn= and rs="),
			inQuery(";", "precedes esn= and rs="),
		}
		s.Rules = scheme.RuleSet{Check: withFragment(checkZ3950, ruleZ3950), Parts: partsZ3950}
	}
	return list
}

const ruleZ3950 = "RFC 2056, BNF: z39.50url"

func z3950Path(l *layout.Layout) (databases, id, idEnd, params int) {
	from := min(l.Path+1, l.PathEnd)
	semicolon := ascii.Until(l.Text, from, l.End(), ';')
	params = -1
	if semicolon < l.End() {
		params = semicolon + 1
	}
	databases = min(l.PathEnd, semicolon)
	if l.Query >= 0 && l.Query <= semicolon {
		return databases, l.Query, semicolon, params
	}
	return databases, -1, -1, params
}

// checkZ3950 checks the databases, the record identifier, the element set and the record syntaxes.
//
//	z39.50url = zscheme "://" host [":" port] ["/" [database *["+" database] ["?" docid]]
//	            [";esn=" elementset] [";rs=" recordsyntax *["+" recordsyntax]]]
func checkZ3950(u uri.URI) []scheme.Finding {
	l := layout.Of(u)
	if bad := l.NeedHostOnly(ruleZ3950); bad != nil {
		return bad
	}
	databases, id, idEnd, params := z3950Path(&l)
	from := min(l.Path+1, databases)
	for at := from; from < databases && at <= databases; {
		end := ascii.Until(l.Text, at, databases, '+')
		if at == end {
			return layout.Refuse(at, end, "RFC 2056, BNF: database", "missing database name")
		}
		at = end + 1
	}
	switch {
	case id >= 0 && from == databases:
		return layout.Refuse(id-1, idEnd, ruleZ3950, "a record identifier needs a database before the question mark")
	case id >= 0 && id == idEnd:
		return layout.Refuse(id-1, idEnd, "RFC 2056, BNF: docid", "missing record identifier")
	}
	if bad := checkZ3950Params(&l, params); bad != nil {
		return bad
	}
	if retrieval := ascii.Lower(l.Text[l.Rest-2]) == 'r'; retrieval && id < 0 {
		return []scheme.Finding{layout.Remark(scheme.CodeUndefined, l.Path, databases, ruleZ3950, "missing identifier of the record to retrieve")}
	}
	return nil
}

// checkZ3950Params checks that the element set comes before the record syntaxes.
func checkZ3950Params(l *layout.Layout, from int) []scheme.Finding {
	names := [...]string{"esn", "rs"}
	n := 0
	for f := range fields(l.Text, from, l.End(), ';') {
		for n < len(names) && !f.is(l.Text, names[n]) {
			n++
		}
		switch {
		case n == len(names):
			return layout.Refuse(f.name, f.end, ruleZ3950, "only esn= and then rs= may follow, each at most once")
		case f.empty():
			return layout.Refuse(f.name, f.end, ruleZ3950, "missing value")
		}
		n++
	}
	return nil
}

func partsZ3950(dst []scheme.Part, u uri.URI) []scheme.Part {
	t := layout.Take(dst, u)
	t.Login()
	t.Server()
	databases, id, idEnd, params := z3950Path(&t.Layout)
	if from := min(t.Path+1, databases); from < databases {
		t.Each("database", from, databases, '+')
	}
	t.Data("docid", id, idEnd)
	appendFields(&t, "field", params, t.End(), ';', "esn", "rs")
	t.Fragment()
	return t.Parts
}
