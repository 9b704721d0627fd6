package scheme

import (
	"github.com/nomen-project/nomen/uri"
)

var wais = Scheme{
	Name: "wais", Title: "Wide Area Information Servers", Kind: KindLocator,
	Reference:   "RFC 4156; RFC 1738, 3.9; 1993, WAIS",
	Example:     "wais://wais.example.org/directory-of-servers?cats",
	Note:        "an index, a search of one, or a document; a document of 1993 has its length before the local identifier, a later one has not",
	Security:    "the identifier of a document is sent to the server as it is",
	DefaultPort: "210", Transport: "tcp", Hierarchical: true,
	Special: []Special{
		{uri.ComponentPath, "/", "separates database, type, length (1993) and identifier"},
		{uri.ComponentQuery, "+", "separates words of a search (1993)"},
	},
	Retrieval: "search the database; or, with type and length, fetch the document with the identifier",
	Rules:     RuleSet{Check: checkWAIS, Parts: partsWAIS, Build: buildWAIS, Request: requestWAIS},
}

// The productions of WAIS.
const (
	ruleWAISAddress = "1993, BNF: waisaddress"
	ruleWAISURL     = "RFC 1738, 5: waisurl"
	ruleWAISPath    = "RFC 1738, 5: wpath"
)

// A waisPath says where the pieces of a path end. Those that are not there are
// -1.
type waisPath struct{ database, kind, length, id int }

// wais takes the path to pieces, each of them up to a slash.
func (l *layout) wais() waisPath {
	p := waisPath{-1, -1, -1, -1}
	if !l.isRooted() {
		return p
	}
	p.database = until(l.s, l.path+1, l.pathEnd, '/')
	if p.database == l.pathEnd {
		return p
	}
	p.kind = until(l.s, p.database+1, l.pathEnd, '/')
	at := p.kind
	if at == l.pathEnd {
		return p
	}
	if l.is1993() {
		p.length = until(l.s, p.kind+1, l.pathEnd, '/')
		if at = p.length; at == l.pathEnd {
			return p
		}
	}
	p.id = l.pathEnd
	return p
}

// checkWAIS checks the forms. Those of 1993 are the dialect's to check.
//
//	waisindex = "wais://" hostport "/" database [ "?" search ]
//	waisdoc   = "wais://" hostport "/" database "/" wtype "/" digits "/" path   (1993)
//	waisdoc   = "wais://" hostport "/" database "/" wtype "/" wpath
func checkWAIS(u uri.URI) []Finding {
	l := layoutOf(u)
	rule := ruleWAISURL
	if l.is1993() {
		rule = ruleWAISAddress
	}
	if bad := l.needServer(rule); bad != nil {
		return bad
	}
	if l.user >= 0 {
		return refuse(l.user, l.userEnd+1, rule, "no user information is provided for")
	}
	p := l.wais()
	switch {
	case p.database <= l.path+1:
		return refuse(l.path, l.path, rule, "needs a slash and the name of a database")
	case p.kind < 0:
		return nil // an index
	case l.query >= 0:
		return refuse(l.query-1, l.queryEnd, rule, "an index is searched, a document is not")
	case p.kind == p.database+1:
		return refuse(p.kind, p.kind, rule, "the type must not be empty")
	case l.is1993():
		return nil // the dialect has checked length and identifier
	case p.id < 0:
		return refuse(l.pathEnd, l.pathEnd, ruleWAISPath, "needs the identifier of the document after the type")
	}
	if slash := until(l.s, p.kind+1, p.id, '/'); slash < p.id {
		return []Finding{broken(slash, slash+1, ruleWAISPath, "a slash in the identifier must be escaped; a length before it was only in 1993").instead("%2F")}
	}
	return nil
}

func partsWAIS(dst []Part, u uri.URI) []Part {
	t := take(dst, u)
	t.login()
	t.server()
	p := t.wais()
	if p.database < 0 {
		return t.parts
	}
	if p.kind < 0 {
		t.supply("kind", "index")
	} else {
		t.supply("kind", "document")
	}
	t.data("database", t.path+1, p.database)
	if p.kind >= 0 {
		t.data("type", p.database+1, p.kind)
	}
	if p.length >= 0 {
		t.part("length", p.kind+1, p.length)
	}
	if p.id >= 0 {
		t.data("local_id", max(p.kind, p.length)+1, p.id)
	}
	t.search()
	return t.parts
}

func buildWAIS(d uri.Dialect, parts []Part) (string, error) {
	w := newBuilder(d, "wais", "210", parts)
	for _, name := range [...]string{"database", "type", "length", "local_id"} {
		if value, ok := Get(parts, name); ok {
			w.write("/" + value)
		}
	}
	w.search()
	return w.text()
}
