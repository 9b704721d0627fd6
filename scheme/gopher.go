package scheme

import (
	"strings"

	"github.com/nomen-project/nomen/uri"
)

var gopher = Scheme{
	Name: "gopher", Title: "The Gopher Protocol", Kind: KindLocator,
	Reference: "RFC 4266; RFC 1436; 1993, Gopher",
	Example:   "gopher://gopher.example.org/00/About%20Gopher",
	Note: "the first character after the slash is the item type and is not sent; a selector often begins with a copy of it; " +
		"in 1993 a search follows a question mark, in later documents an encoded tab",
	Security:    "the selector is sent unchanged to any port: with a line break in it, a client could be made to speak another protocol",
	DefaultPort: "70", Transport: "tcp", Hierarchical: true, RootPath: true,
	Special: []Special{
		{uri.ComponentPath, "%09", "separates the selector, search and Gopher+ string (not in 1993)"},
		{uri.ComponentQuery, "+", "separates the words of a search (1993)"},
	},
	Retrieval: "send the decoded selector, a tab and the search if there is one, and a line break; the item type determines the format; " +
		"menu items that refer to other protocols become locators of those protocols",
	Rules: RuleSet{Check: checkGopher, Parts: partsGopher, Build: buildGopher, Canonical: canonicalGopher},
}

// The grammar rules of Gopher.
const (
	ruleGopher1993     = "1993, BNF: gopheraddress"
	ruleGopher         = "RFC 4266, 2.1: gopher-path"
	ruleGopherSelector = "RFC 4266, 2.1: selector"
	ruleGopherPlus     = "RFC 4266, 2.3: gopher+_string"
	ruleGopherType     = "RFC 1436, 3.8: item type"
)

// defaultGopherType is the type of a menu.
const defaultGopherType = "1"

// A gopherPath holds the offsets of the pieces of a path, -1 for those that are
// absent.
type gopherPath struct {
	kind, kindEnd         int
	selector, selectorEnd int
	search, searchEnd     int
	plus, plusEnd         int
}

// gopher returns the offsets of the pieces of a path. A percent-encoded type
// counts as one character.
//
//	gopher-path = gophertype selector [ "%09" search [ "%09" gopher+_string ] ]
func (l *layout) gopher() gopherPath {
	p := gopherPath{kind: -1, search: -1, plus: -1}
	end := l.pathEnd
	if !l.is1993() {
		end = l.end() // the scheme has no queries, so the question mark is data
	}
	if l.is1993() {
		p.search, p.searchEnd = l.query, l.queryEnd
	}
	if end <= l.path+1 || l.s[l.path] != '/' {
		p.selector, p.selectorEnd = end, end
		return p
	}
	p.kind, p.kindEnd = l.path+1, l.path+2
	if l.s[p.kind] == '%' {
		p.kindEnd = l.path + 4
	}
	p.selector, p.selectorEnd = p.kindEnd, end
	if l.is1993() {
		return p
	}
	if tab := strings.Index(l.s[p.selector:end], "%09"); tab >= 0 {
		p.selectorEnd = p.selector + tab
		p.search, p.searchEnd = p.selectorEnd+3, end
		if tab := strings.Index(l.s[p.search:end], "%09"); tab >= 0 {
			p.searchEnd = p.search + tab
			p.plus, p.plusEnd = p.searchEnd+3, end
		}
	}
	return p
}

func checkGopher(u uri.URI) []Finding {
	l := layoutOf(u)
	rule := ruleGopher
	if l.is1993() {
		rule = ruleGopher1993
	}
	if bad := l.needServer(rule); bad != nil {
		return bad
	}
	if l.user >= 0 {
		return refuse(l.user, l.userEnd+1, rule, "no user information is provided for")
	}
	if !l.is1993() && !l.hasPath() && l.query >= 0 {
		return refuse(l.query-1, l.queryEnd, rule, "a search, which follows %09, needs a slash, a type and a selector before it")
	}
	p := l.gopher()
	if bad := l.checkGopherText(p); bad != nil {
		return bad
	}
	if p.kind < 0 {
		return nil
	}
	kind := l.s[p.kind:p.kindEnd]
	switch {
	case kind == "8" || kind == "T":
		return []Finding{remark(CodeInteractive, p.kind, p.kindEnd, "1993, Gopher", "an item of another protocol should have a locator of that protocol")}
	case len(kind) > 1 || !strings.Contains(gopherTypes, kind):
		return []Finding{remark(CodeValue, p.kind, p.kindEnd, ruleGopherType, "not a known item type")}
	}
	return nil
}

// gopherTypes lists the item types of RFC 1436 and later types in common use.
const gopherTypes = "0123456789+TgI" + "hisd:;<MpPcewXrxaf"

// checkGopherText returns an error if a piece cannot be sent on one line.
func (l *layout) checkGopherText(p gopherPath) []Finding {
	rule, end := ruleGopherSelector, l.end()
	if p.plus >= 0 {
		end = p.searchEnd
		if p.plus == p.plusEnd || strings.IndexByte("+?!$", l.s[p.plus]) < 0 {
			return refuse(p.plus, p.plusEnd, ruleGopherPlus, "must begin with + ? ! or $")
		}
	}
	for _, piece := range [...][2]int{{p.selector, p.selectorEnd}, {p.search, min(p.searchEnd, end)}} {
		if piece[0] < 0 {
			continue
		}
		if at := escapedLineEnd(l.s, piece[0], piece[1]); at >= 0 {
			f := broken(at, at+3, rule, "tabs, line breaks and NUL cannot be sent in a selector or search")
			f.Code = CodeInjection
			return []Finding{f}
		}
	}
	return nil
}

// escapedLineEnd returns the offset of the first percent-encoded tab, line
// break or NUL in s[from:to], or -1.
func escapedLineEnd(s string, from, to int) int {
	for from < to {
		at := escapedControl(s, from, to)
		if at < 0 {
			return -1
		}
		switch unhex(s[at+1])<<4 | unhex(s[at+2]) {
		case 0, '\t', '\n', '\r':
			return at
		}
		from = at + 3
	}
	return -1
}

// partsGopher adds the parts, with defaults for an omitted type and selector.
func partsGopher(dst []Part, u uri.URI) []Part {
	t := take(dst, u)
	t.login()
	t.server()
	p := t.gopher()
	if p.kind < 0 {
		t.supply("type", defaultGopherType)
		t.supply("selector", "")
	} else {
		t.data("type", p.kind, p.kindEnd)
		t.data("selector", p.selector, p.selectorEnd)
	}
	if t.is1993() {
		t.search()
	} else if p.search >= 0 {
		t.data("search", p.search, p.searchEnd)
	}
	if p.plus >= 0 {
		t.data("gopher+", p.plus, p.plusEnd)
	}
	return t.parts
}

// canonicalGopher omits the default type if the selector is empty.
func canonicalGopher(u uri.URI) string {
	l := layoutOf(u)
	p := l.gopher()
	end, root := l.end(), "/"
	if l.is1993() {
		end, root = l.pathEnd, ""
	}
	if p.kind >= 0 && l.s[p.kind:end] != defaultGopherType || p.kind < 0 && end != l.pathEnd {
		return l.s
	}
	return l.s[:l.path] + root + l.s[end:]
}

// buildGopher writes host, port, type, selector and search. If there is a
// selector and no type, the type is that of a menu.
func buildGopher(d uri.Dialect, parts []Part) (string, error) {
	w := newBuilder(d, "gopher", "70", parts)
	kind, hasKind := Get(parts, "type")
	selector, _ := Get(parts, "selector")
	search, hasSearch := Get(parts, "search")
	plus, hasPlus := Get(parts, "gopher+")
	if !hasKind {
		kind = defaultGopherType
	}
	if hasKind || selector != "" || hasSearch {
		w.write("/" + kind + selector)
	}
	switch {
	case hasSearch && d == uri.Draft1993:
		w.write("?" + search)
	case hasSearch || hasPlus:
		w.write("%09" + search)
	}
	if hasPlus {
		w.write("%09" + plus)
	}
	return w.text()
}
