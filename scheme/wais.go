package scheme

import (
	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/scheme/internal/layout"
	"github.com/nomen-project/nomen/uri"
)

var wais = Scheme{
	Name: "wais", Title: "Wide Area Information Servers", Kind: KindLocator,
	Reference:   "RFC 4156; RFC 1738, 3.9; 1993, WAIS",
	Example:     "wais://wais.example.org/directory-of-servers?cats",
	Note:        "identifies an index, a search in it, or a document; in the draft of 1993 a length precedes the local identifier of a document, in later documents it does not",
	Security:    "the document identifier is sent to the server unchanged",
	DefaultPort: "210", Transport: "tcp", Hierarchical: true,
	Special: []Special{
		{uri.ComponentPath, "/", "separates the database, type, length (1993) and identifier"},
		{uri.ComponentQuery, "+", "separates the words of a search (draft of 1993)"},
	},
	Retrieval: "search the database; or, given a type and length, fetch the document with the identifier",
	Rules:     RuleSet{Check: checkWAIS, Parts: partsWAIS, Build: buildWAIS},
}

const (
	ruleWAISAddress = "1993, BNF: waisaddress"
	ruleWAISURL     = "RFC 1738, 5: waisurl"
	ruleWAISPath    = "RFC 1738, 5: wpath"
)

// A waisPath holds the ends of the segments of a path. The end of an absent segment is -1.
type waisPath struct{ database, kind, length, id int }

func waisOf(l *layout.Layout) waisPath {
	p := waisPath{-1, -1, -1, -1}
	if !l.IsRooted() {
		return p
	}
	p.database = ascii.Until(l.Text, l.Path+1, l.PathEnd, '/')
	if p.database == l.PathEnd {
		return p
	}
	p.kind = ascii.Until(l.Text, p.database+1, l.PathEnd, '/')
	at := p.kind
	if at == l.PathEnd {
		return p
	}
	if l.Is1993() {
		p.length = ascii.Until(l.Text, p.kind+1, l.PathEnd, '/')
		if at = p.length; at == l.PathEnd {
			return p
		}
	}
	p.id = l.PathEnd
	return p
}

// checkWAIS checks a WAIS locator. In the draft of 1993, parsing has already checked its form.
//
//	waisindex = "wais://" hostport "/" database [ "?" search ]
//	waisdoc   = "wais://" hostport "/" database "/" wtype "/" digits "/" path   (1993)
//	waisdoc   = "wais://" hostport "/" database "/" wtype "/" wpath
func checkWAIS(u uri.URI) []Finding {
	l := layout.Of(u)
	rule := ruleWAISURL
	if l.Is1993() {
		rule = ruleWAISAddress
	}
	if bad := l.NeedHostOnly(rule); bad != nil {
		return bad
	}
	p := waisOf(&l)
	switch {
	case p.database <= l.Path+1:
		return layout.Refuse(l.Path, l.Path, rule, "missing slash and database name")
	case p.kind < 0:
		return nil // the locator of an index
	case l.Query >= 0:
		return layout.Refuse(l.Query-1, l.QueryEnd, rule, "a document cannot be searched, only an index")
	case p.kind == p.database+1:
		return layout.Refuse(p.kind, p.kind, rule, "the type must not be empty")
	case l.Is1993():
		return nil // the parser has checked the length and the identifier
	case p.id < 0:
		return layout.Refuse(l.PathEnd, l.PathEnd, ruleWAISPath, "missing document identifier after the type")
	}
	if slash := ascii.Until(l.Text, p.kind+1, p.id, '/'); slash < p.id {
		return []Finding{layout.Instead(layout.Broken(slash, slash+1, ruleWAISPath, "a slash in the identifier must be percent-encoded; only in the draft of 1993 did a length precede it"), "%2F")}
	}
	return nil
}

func partsWAIS(dst []Part, u uri.URI) []Part {
	t := layout.Take(dst, u)
	t.Login()
	t.Server()
	p := waisOf(&t.Layout)
	if p.database < 0 {
		return t.Parts
	}
	if p.kind < 0 {
		t.Supply("kind", "index")
	} else {
		t.Supply("kind", "document")
	}
	t.Data("database", t.Path+1, p.database)
	if p.kind >= 0 {
		t.Data("type", p.database+1, p.kind)
	}
	if p.length >= 0 {
		t.Part("length", p.kind+1, p.length)
	}
	if p.id >= 0 {
		t.Data("local_id", max(p.kind, p.length)+1, p.id)
	}
	t.Search()
	return t.Parts
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
