package scheme

import (
	"github.com/nomen-project/nomen/uri"
)

// Schemes that the draft of 1993 leaves for study or only mentions.

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

// checkAFS checks that there are a cell and a path.
//
//	afsaddress = "afs://" cellname "/" path
func checkAFS(u uri.URI) []Finding {
	l := layoutOf(u)
	if bad := l.needServer(ruleAFS); bad != nil {
		return bad
	}
	switch {
	case l.user >= 0:
		return refuse(l.user, l.userEnd+1, ruleAFS, "a cell must not have a user")
	case l.port >= 0:
		return refuse(l.port-1, l.portEnd, ruleAFS, "a cell must not have a port")
	case u.HostKind() != uri.HostName:
		return refuse(l.host, l.hostEnd, "1993, BNF: cellname", "missing cell name")
	case !l.hasPath():
		return refuse(l.path, l.path, ruleAFS, "missing slash and path after the cell")
	case l.query >= 0:
		return refuse(l.query-1, l.queryEnd, ruleAFS, "a search is not allowed")
	}
	return nil
}

func partsAFS(dst []Part, u uri.URI) []Part {
	t := take(dst, u)
	if t.host >= 0 {
		t.part("cell", t.host, t.hostEnd)
	}
	if t.hasPath() && t.authority {
		t.data("path", t.path+1, t.pathEnd)
	}
	return t.parts
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
	Rules:      RuleSet{Check: checkX500, Parts: partsGeneric},
}

func checkX500(u uri.URI) []Finding {
	l := layoutOf(u)
	return []Finding{remark(CodeUndefined, 0, l.rest-1, "1993, x500", "no document defines how X.500 names are mapped to locators")}
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
	l := layoutOf(u)
	if bad := l.needServer(ruleWHOIS); bad != nil {
		return bad
	}
	if !l.hasPath() || l.path+1 == l.end() {
		return refuse(l.path, l.pathEnd, ruleWHOIS, "missing slash and handle or query")
	}
	return l.refuseControls("RFC 3912, 2", "WHOIS")
}

// partsWHOIS adds the text after the slash as one part, including any question
// mark.
func partsWHOIS(dst []Part, u uri.URI) []Part {
	t := take(dst, u)
	t.login()
	t.server()
	if t.hasPath() && t.authority {
		t.data("handle_or_query", t.path+1, t.end())
	}
	return t.parts
}

func buildWHOIS(d uri.Dialect, parts []Part) (string, error) {
	w := newBuilder(d, "whois", "43", parts)
	query, _ := Get(parts, "handle_or_query")
	w.write("/" + query)
	return w.text()
}
