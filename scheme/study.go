package scheme

import (
	"github.com/nomen-project/nomen/scheme/internal/layout"
	"github.com/nomen-project/nomen/uri"
)

// This file has the schemes that the draft of 1993 only mentions or leaves for further study.

var afs = Scheme{
	Name: "afs", Title: "Andrew File System global file names", Kind: KindLocator,
	Reference:    "1993, BNF: afsaddress; RFC 1738, 5",
	Example:      "afs://cell.example.org/usr/x",
	Note:         "only the draft of 1993 defines a grammar; RFC 1738 reserves the name",
	Security:     "the name identifies the same file in all cells that can be reached",
	Hierarchical: true,
	Special:      []Special{{uri.ComponentPath, "/", "separates directory names"}},
	Retrieval:    "open the file in the cell's file system",
	Rules:        RuleSet{Check: checkAFS, Parts: partsAFS, Build: buildAFS},
}

const ruleAFS = "1993, BNF: afsaddress"

// checkAFS checks the cell and the path.
//
//	afsaddress = "afs://" cellname "/" path
func checkAFS(u uri.URI) []Finding {
	l := layout.Of(u)
	if bad := l.NeedServer(ruleAFS); bad != nil {
		return bad
	}
	switch {
	case l.User >= 0:
		return layout.Refuse(l.User, l.UserEnd+1, ruleAFS, "a cell must not have a user")
	case l.Port >= 0:
		return layout.Refuse(l.Port-1, l.PortEnd, ruleAFS, "a cell must not have a port")
	case u.HostKind() != uri.HostName:
		return layout.Refuse(l.Host, l.HostEnd, "1993, BNF: cellname", "missing cell name")
	case !l.HasPath():
		return layout.Refuse(l.Path, l.Path, ruleAFS, "missing slash and path after the cell")
	case l.Query >= 0:
		return layout.Refuse(l.Query-1, l.QueryEnd, ruleAFS, "a search is not allowed")
	}
	return nil
}

func partsAFS(dst []Part, u uri.URI) []Part {
	t := layout.Take(dst, u)
	t.Part("cell", t.Host, t.HostEnd)
	if t.HasPath() && t.Authority {
		t.Data("path", t.Path+1, t.PathEnd)
	}
	return t.Parts
}

func buildAFS(_ uri.Dialect, parts []Part) (string, error) {
	cell, ok := Get(parts, "cell")
	if !ok {
		return "", missingPart("cell")
	}
	path, _ := Get(parts, "path")
	return "afs://" + cell + "/" + path, nil
}

var x500 = Scheme{
	Name: "x500", Title: "X.500 directory names", Kind: KindName,
	Reference:  "1993, x500",
	Example:    "x500:c=GB/o=Example",
	Note:       "the draft leaves the mapping for study, and no later document defines it; see ldap",
	Properties: "none are defined",
	Rules:      RuleSet{Check: checkX500, Parts: layout.Generic},
}

func checkX500(u uri.URI) []Finding {
	l := layout.Of(u)
	return []Finding{layout.Remark(CodeUndefined, 0, l.Rest-1, "1993, x500", "no document defines how X.500 names are mapped to locators")}
}

var whois = Scheme{
	Name: "whois", Title: "WHOIS", Kind: KindLocator,
	Reference:   "1993, WHOIS; RFC 3912",
	Example:     "whois://whois.example.org/handle-1",
	Note:        "a handle or a query, which only the server can distinguish; the draft leaves details for study",
	DefaultPort: "43", Transport: "tcp",
	Retrieval: "send the text after the slash, decoded, and a line break",
	Rules:     RuleSet{Check: checkWHOIS, Parts: partsWHOIS, Build: buildWHOIS},
}

const ruleWHOIS = "1993, WHOIS"

func checkWHOIS(u uri.URI) []Finding {
	l := layout.Of(u)
	if bad := l.NeedServer(ruleWHOIS); bad != nil {
		return bad
	}
	if !l.HasPath() || l.Path+1 == l.End() {
		return layout.Refuse(l.Path, l.PathEnd, ruleWHOIS, "missing slash and handle or query")
	}
	return l.RefuseControls("RFC 3912, 2", "WHOIS")
}

// partsWHOIS adds the text after the slash as one part. A question mark has no special meaning in
// this text.
func partsWHOIS(dst []Part, u uri.URI) []Part {
	t := layout.Take(dst, u)
	t.Login()
	t.Server()
	if t.HasPath() && t.Authority {
		t.Data("handle_or_query", t.Path+1, t.End())
	}
	return t.Parts
}

func buildWHOIS(d uri.Dialect, parts []Part) (string, error) {
	w := newBuilder(d, "whois", "43", parts)
	query, _ := Get(parts, "handle_or_query")
	w.write("/" + query)
	return w.text()
}
