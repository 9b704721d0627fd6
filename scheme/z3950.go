package scheme

import "github.com/nomen-project/nomen/uri"

// z3950 returns the schemes of Z39.50: one to retrieve a record (r), and one to
// open a search session for a person (s).
func z3950() []Scheme {
	list := []Scheme{
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
		s.Kind, s.Reference = KindLocator, "RFC 2056"
		s.Note = "esn is the name of an element set, rs lists the record syntaxes in order of preference"
		s.Security = "the search is sent in the clear"
		s.DefaultPort, s.Transport = "210", "tcp"
		s.Special = []Special{
			{uri.ComponentPath, "+", "separates databases"},
			{uri.ComponentPath, ";", "precedes esn= and rs="},
			{uri.ComponentQuery, ";", "precedes esn= and rs="},
		}
		s.Rules = RuleSet{Check: withFragment(checkZ3950, ruleZ3950), Parts: partsZ3950}
	}
	return list
}

const ruleZ3950 = "RFC 2056, BNF: z39.50url"

// z3950Path returns the end of the databases, the range of the record
// identifier, and the start of the parameters after the first semicolon; -1 for
// those that are absent.
func (l *layout) z3950Path() (databases, id, idEnd, params int) {
	from := min(l.path+1, l.pathEnd)
	semicolon := until(l.s, from, l.end(), ';')
	params = -1
	if semicolon < l.end() {
		params = semicolon + 1
	}
	databases = min(l.pathEnd, semicolon)
	if l.query >= 0 && l.query <= semicolon {
		return databases, l.query, semicolon, params
	}
	return databases, -1, -1, params
}

// checkZ3950 checks databases, a record identifier, an element set and record
// syntaxes.
//
//	z39.50url = zscheme "://" host [":" port] ["/" [database *["+" database] ["?" docid]]
//	            [";esn=" elementset] [";rs=" recordsyntax *["+" recordsyntax]]]
func checkZ3950(u uri.URI) []Finding {
	l := layoutOf(u)
	if bad := l.needServer(ruleZ3950); bad != nil {
		return bad
	}
	if bad := l.refuseUser(ruleZ3950); bad != nil {
		return bad
	}
	databases, id, idEnd, params := l.z3950Path()
	from := min(l.path+1, databases)
	for at := from; from < databases && at <= databases; {
		end := until(l.s, at, databases, '+')
		if at == end {
			return refuse(at, end, "RFC 2056, BNF: database", "missing database name")
		}
		at = end + 1
	}
	switch {
	case id >= 0 && from == databases:
		return refuse(id-1, idEnd, ruleZ3950, "a record identifier needs a database before the question mark")
	case id >= 0 && id == idEnd:
		return refuse(id-1, idEnd, "RFC 2056, BNF: docid", "missing record identifier")
	}
	if bad := l.checkZ3950Params(params); bad != nil {
		return bad
	}
	if retrieval := lower(l.s[l.rest-2]) == 'r'; retrieval && id < 0 {
		return []Finding{remark(CodeUndefined, l.path, databases, ruleZ3950, "missing identifier of the record to retrieve")}
	}
	return nil
}

// checkZ3950Params checks the element set and the record syntaxes, which must
// be in this order.
func (l *layout) checkZ3950Params(from int) []Finding {
	names := [...]string{"esn", "rs"}
	n := 0
	for at := from; from >= 0 && at <= l.end(); {
		f := nextField(l.s, at, l.end(), ';')
		for n < len(names) && !f.is(l.s, names[n]) {
			n++
		}
		switch {
		case n == len(names):
			return refuse(f.name, f.end, ruleZ3950, "only esn= and then rs= may follow, each at most once")
		case f.empty():
			return refuse(f.name, f.end, ruleZ3950, "missing value")
		}
		n++
		at = f.end + 1
	}
	return nil
}

func partsZ3950(dst []Part, u uri.URI) []Part {
	t := take(dst, u)
	t.login()
	t.server()
	databases, id, idEnd, params := t.z3950Path()
	if from := min(t.path+1, databases); from < databases {
		t.each("database", from, databases, '+')
	}
	if id >= 0 {
		t.data("docid", id, idEnd)
	}
	if params >= 0 {
		t.fields(params, t.end(), ';')
	}
	t.fragment()
	return t.parts
}
