package scheme

import (
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/scheme/internal/layout"
	"github.com/nomen-project/nomen/uri"
)

var gopher = Scheme{
	Name: "gopher", Title: "The Gopher Protocol", Kind: KindLocator,
	Reference: "RFC 4266; RFC 1436; 1993, Gopher",
	Example:   "gopher://gopher.example.org/00/About%20Gopher",
	Note: "the first character after the slash is the item type and is not sent; a selector often begins with a copy of it; " +
		"in the draft of 1993 a search follows a question mark, in later documents an encoded tab",
	Security:    "the selector is sent unchanged to any port: with a line break in it, a client could be made to speak another protocol",
	DefaultPort: "70", Transport: "tcp", Hierarchical: true, RootPath: true,
	Special: []Special{
		{uri.ComponentPath, "%09", "separates the selector, search and Gopher+ string (not in the draft of 1993)"},
		{uri.ComponentQuery, "+", "separates the words of a search (draft of 1993)"},
	},
	Retrieval: "send the decoded selector, a tab and the search if there is one, and a line break; the item type determines the format; " +
		"menu items that refer to other protocols become locators of those protocols",
	Rules: RuleSet{Check: checkGopher, Parts: partsGopher, Build: buildGopher, Canonical: canonicalGopher},
}

const (
	ruleGopher1993     = "1993, BNF: gopheraddress"
	ruleGopher         = "RFC 4266, 2.1: gopher-path"
	ruleGopherSelector = "RFC 4266, 2.1: selector"
	ruleGopherPlus     = "RFC 4266, 2.3: gopher+_string"
	ruleGopherType     = "RFC 1436, 3.8: item type"
)

const defaultGopherType = "1"

// A gopherPath holds the offsets of the pieces of a path. The offset of an absent piece is -1.
type gopherPath struct {
	kind, kindEnd         int
	selector, selectorEnd int
	search, searchEnd     int
	plus, plusEnd         int
}

// gopherOf finds the pieces of a path. A percent-encoded type counts as one character.
//
//	gopher-path = gophertype selector [ "%09" search [ "%09" gopher+_string ] ]
func gopherOf(l *layout.Layout) gopherPath {
	p := gopherPath{kind: -1, search: -1, plus: -1}
	end := l.PathEnd
	if !l.Is1993() {
		end = l.End() // the scheme has no queries, so the question mark is data
	}
	if l.Is1993() {
		p.search, p.searchEnd = l.Query, l.QueryEnd
	}
	if end <= l.Path+1 || l.Text[l.Path] != '/' {
		p.selector, p.selectorEnd = end, end
		return p
	}
	p.kind, p.kindEnd = l.Path+1, l.Path+2
	if l.Text[p.kind] == '%' {
		p.kindEnd = l.Path + 4
	}
	p.selector, p.selectorEnd = p.kindEnd, end
	if l.Is1993() {
		return p
	}
	if tab := strings.Index(l.Text[p.selector:end], "%09"); tab >= 0 {
		p.selectorEnd = p.selector + tab
		p.search, p.searchEnd = p.selectorEnd+3, end
		if tab := strings.Index(l.Text[p.search:end], "%09"); tab >= 0 {
			p.searchEnd = p.search + tab
			p.plus, p.plusEnd = p.searchEnd+3, end
		}
	}
	return p
}

func checkGopher(u uri.URI) []Finding {
	l := layout.Of(u)
	rule := ruleGopher
	if l.Is1993() {
		rule = ruleGopher1993
	}
	if bad := l.NeedHostOnly(rule); bad != nil {
		return bad
	}
	if !l.Is1993() && !l.HasPath() && l.Query >= 0 {
		return layout.Refuse(l.Query-1, l.QueryEnd, rule, "a search, which follows %09, needs a slash, a type and a selector before it")
	}
	p := gopherOf(&l)
	if bad := checkGopherText(&l, p); bad != nil {
		return bad
	}
	if p.kind < 0 {
		return nil
	}
	kind := l.Text[p.kind:p.kindEnd]
	switch {
	case kind == "8" || kind == "T":
		return []Finding{layout.Remark(CodeInteractive, p.kind, p.kindEnd, "1993, Gopher", "an item of another protocol should have a locator of that protocol")}
	case len(kind) > 1 || !strings.Contains(gopherTypes, kind):
		return []Finding{layout.Remark(CodeValue, p.kind, p.kindEnd, ruleGopherType, "not a known item type")}
	}
	return nil
}

// gopherTypes are the item types of RFC 1436, and later types in common use.
const gopherTypes = "0123456789+TgI" + "hisd:;<MpPcewXrxaf"

// checkGopherText returns an error if a piece contains a character that would break the request
// line.
func checkGopherText(l *layout.Layout, p gopherPath) []Finding {
	rule, end := ruleGopherSelector, l.End()
	if p.plus >= 0 {
		end = p.searchEnd
		if p.plus == p.plusEnd || strings.IndexByte("+?!$", l.Text[p.plus]) < 0 {
			return layout.Refuse(p.plus, p.plusEnd, ruleGopherPlus, "must begin with + ? ! or $")
		}
	}
	for _, piece := range [...][2]int{{p.selector, p.selectorEnd}, {p.search, min(p.searchEnd, end)}} {
		if piece[0] < 0 {
			continue
		}
		if at := escapedLineEnd(l.Text, piece[0], piece[1]); at >= 0 {
			return layout.RefuseAs(CodeInjection, at, at+3, rule, "tabs, line breaks and NUL cannot be sent in a selector or search")
		}
	}
	return nil
}

// escapedLineEnd returns the offset of the first percent-encoded tab, line
// break or NUL in s[from:to], or -1.
func escapedLineEnd(s string, from, to int) int {
	for from < to {
		at := layout.EscapedControl(s, from, to)
		if at < 0 {
			return -1
		}
		switch ascii.Unhex(s[at+1])<<4 | ascii.Unhex(s[at+2]) {
		case 0, '\t', '\n', '\r':
			return at
		}
		from = at + 3
	}
	return -1
}

func partsGopher(dst []Part, u uri.URI) []Part {
	t := layout.Take(dst, u)
	t.Login()
	t.Server()
	p := gopherOf(&t.Layout)
	if p.kind < 0 {
		t.Supply("type", defaultGopherType)
		t.Supply("selector", "")
	} else {
		t.Data("type", p.kind, p.kindEnd)
		t.Data("selector", p.selector, p.selectorEnd)
	}
	if t.Is1993() {
		t.Search()
	} else if p.search >= 0 {
		t.Data("search", p.search, p.searchEnd)
	}
	t.Data("gopher+", p.plus, p.plusEnd)
	return t.Parts
}

// canonicalGopher omits the default type if the selector is empty.
func canonicalGopher(u uri.URI) string {
	l := layout.Of(u)
	p := gopherOf(&l)
	end, root := l.End(), "/"
	if l.Is1993() {
		end, root = l.PathEnd, ""
	}
	if p.kind >= 0 && l.Text[p.kind:end] != defaultGopherType || p.kind < 0 && end != l.PathEnd {
		return l.Text
	}
	return l.Text[:l.Path] + root + l.Text[end:]
}

// buildGopher writes a Gopher locator. If parts contains a selector but no type, it writes the type
// of a menu.
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
