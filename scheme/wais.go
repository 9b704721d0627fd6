package scheme

import (
	"github.com/nomen-project/nomen/uri"
)

var wais = Scheme{
	Name: "wais", Title: "Wide Area Information Servers", Kind: KindLocator,
	Reference:   "RFC 4156; RFC 1738, 3.9; 1993, WAIS",
	Example:     "wais://wais.example.org/directory-of-servers?cats",
	Note:        "identifies an index, a search in it, or a document; in 1993 a length precedes the local identifier of a document, in later documents it does not",
	Security:    "the document identifier is sent to the server unchanged",
	DefaultPort: "210", Transport: "tcp", Hierarchical: true,
	Special: []Special{
		{uri.ComponentPath, "/", "separates the database, type, length (1993) and identifier"},
		{uri.ComponentQuery, "+", "separates the words of a search (1993)"},
	},
	Retrieval: "search the database; or, given a type and length, fetch the document with the identifier",
	Rules:     RuleSet{Check: checkWAIS, Parts: partsWAIS, Build: buildWAIS},
}

// The grammar rules of WAIS.
const (
	ruleWAISAddress = "1993, BNF: waisaddress"
	ruleWAISURL     = "RFC 1738, 5: waisurl"
	ruleWAISPath    = "RFC 1738, 5: wpath"
)

// A waisPath holds the ends of the path segments, -1 for those that are absent.
type waisPath struct{ database, kind, length, id int }

// wais returns the ends of the path segments.
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

// checkWAIS checks a WAIS locator. The dialect has already checked the forms of
// 1993.
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
		return refuse(l.user, l.userEnd+1, rule, "user information is not allowed")
	}
	p := l.wais()
	switch {
	case p.database <= l.path+1:
		return refuse(l.path, l.path, rule, "missing slash and database name")
	case p.kind < 0:
		return nil // an index
	case l.query >= 0:
		return refuse(l.query-1, l.queryEnd, rule, "a document cannot be searched, only an index")
	case p.kind == p.database+1:
		return refuse(p.kind, p.kind, rule, "the type must not be empty")
	case l.is1993():
		return nil // the dialect has checked length and identifier
	case p.id < 0:
		return refuse(l.pathEnd, l.pathEnd, ruleWAISPath, "missing document identifier after the type")
	}
	if slash := until(l.s, p.kind+1, p.id, '/'); slash < p.id {
		return []Finding{instead(broken(slash, slash+1, ruleWAISPath, "a slash in the identifier must be percent-encoded; only in 1993 did a length precede it"), "%2F")}
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
