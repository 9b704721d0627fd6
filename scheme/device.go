package scheme

import (
	"strings"

	"github.com/nomen-project/nomen/uri"
)

// Printers, and what is managed or started over a network.

var ipp = Scheme{
	Name: "ipp", Title: "Internet Printing Protocol", Kind: KindLocator,
	Reference:   "RFC 3510; RFC 8010",
	Example:     "ipp://printer.example.com/ipp/print",
	Note:        "names a printer or a job; mapped onto http with port 631",
	Security:    "what is printed can be read by everybody on the way; see ipps",
	DefaultPort: "631", Transport: "tcp", Hierarchical: true, RootPath: true,
	Retrieval: "send operations of the protocol by HTTP to the same host and path; nothing is retrieved by the locator alone",
	Rules:     RuleSet{Check: withFragment(checkIPP, ruleIPP), Parts: partsHTTP},
}

var ipps = Scheme{
	Name: "ipps", Title: "Internet Printing Protocol over HTTPS", Kind: KindLocator,
	Reference:   "RFC 7472",
	Example:     "ipps://printer.example.com/ipp/print/42",
	Note:        "names a printer or a job; mapped onto https with port 631",
	DefaultPort: "631", Transport: "tcp", Hierarchical: true, RootPath: true,
	Retrieval: ipp.Retrieval,
	Rules:     RuleSet{Check: withFragment(checkIPP, ruleIPP), Parts: partsHTTP},
}

var snmp = Scheme{
	Name: "snmp", Title: "Simple Network Management Protocol", Kind: KindLocator,
	Reference:   "RFC 4088",
	Example:     "snmp://tester5@example.com:8161/bridge1;800002b804616263/1.3.6.1.2.1.1.3.0",
	Note:        "+ asks for the next object, .* for the subtree; without a context the default one is meant",
	Security:    "the name before the host is no password, and in old versions of the protocol it was used as one",
	DefaultPort: "161", Transport: "udp",
	Special: []Special{
		{uri.ComponentPath, "/", "separates context and object identifiers"},
		{uri.ComponentPath, ";", "precedes the identifier of an engine"},
		{uri.ComponentPath, "(,)", "groups object identifiers"},
	},
	Retrieval: "ask the agent for the objects of the context",
	Rules:     RuleSet{Check: withFragment(checkSNMP, ruleSNMP), Parts: partsSNMP},
}

var tftp = Scheme{
	Name: "tftp", Title: "Trivial File Transfer Protocol", Kind: KindLocator,
	Reference:   "RFC 3617",
	Example:     "tftp://example.com/mystartupfile;mode=netascii",
	Note:        "the grammar has neither ports nor slashes in names; both are in use, and warned of",
	Security:    "there is no authentication: whoever answers first is believed",
	DefaultPort: "69", Transport: "udp",
	Special:   []Special{{uri.ComponentPath, ";", "precedes the mode"}},
	Retrieval: "ask the server for the file in the mode, or to take it",
	Rules:     RuleSet{Check: withFragment(checkTFTP, ruleTFTP), Parts: partsTFTP},
}

var nfs = Scheme{
	Name: "nfs", Title: "Network File System", Kind: KindLocator,
	Reference:   "RFC 2224",
	Example:     "nfs://server.example.com/a/b",
	Note:        "the path begins at the directory that the server offers to the public; two slashes begin it at the root",
	Security:    "files that the server offers to the public, to anybody who asks",
	DefaultPort: "2049", Transport: "tcp", Hierarchical: true,
	Special:   []Special{{uri.ComponentPath, "/", "separates names of directories"}},
	Retrieval: "look the path up from the public file handle, and read the file or list the directory",
	Rules:     RuleSet{Check: withFragment(checkNFS, ruleNFS), Parts: partsNFS},
}

// The productions.
const (
	ruleIPP  = "RFC 3510, ABNF: ipp_URL"
	ruleSNMP = "RFC 4088, 3: snmp-uri"
	ruleOID  = "RFC 4088, 3: oids"
	ruleTFTP = "RFC 3617, ABNF: tftpURI"
	ruleNFS  = "RFC 2224, BNF: nfsURL"
)

// checkIPP checks a printer.
//
//	ipp_URL = "ipp:" "//" host [ ":" port ] [ abs_path [ "?" query ]]
func checkIPP(u uri.URI) []Finding {
	l := layoutOf(u)
	if bad := l.needServer(ruleIPP); bad != nil {
		return bad
	}
	return l.refuseUser(ruleIPP)
}

// snmpPath says where context and object identifiers are; -1 for what is not
// there.
type snmpPath struct {
	name, nameEnd     int
	engine, engineEnd int
	oids, oidsEnd     int // without the suffix
}

func (l *layout) snmpPath() snmpPath {
	p := snmpPath{-1, -1, -1, -1, -1, -1}
	if !l.hasPath() || !l.authority {
		return p
	}
	end := until(l.s, l.path+1, l.pathEnd, '/')
	p.name, p.nameEnd = l.path+1, until(l.s, l.path+1, end, ';')
	if p.nameEnd < end {
		p.engine, p.engineEnd = p.nameEnd+1, end
	}
	if end == l.pathEnd {
		return p
	}
	p.oids, p.oidsEnd = end+1, l.pathEnd
	if s := l.s[p.oids:l.pathEnd]; strings.HasSuffix(s, "+") {
		p.oidsEnd--
	} else if strings.HasSuffix(s, ".*") {
		p.oidsEnd -= len(".*")
	}
	return p
}

// checkSNMP checks an agent, a context and object identifiers.
//
//	snmp-uri  = "snmp://" snmp-authority [ context [ oids ]]
//	context   = "/" contextName [ ";" contextEngineID ]
//	oids      = "/" ( oid / oid-group ) [ suffix ]
//	oid-group = "(" oid *( "," oid ) ")"
func checkSNMP(u uri.URI) []Finding {
	l := layoutOf(u)
	if bad := l.needServer(ruleSNMP); bad != nil {
		return bad
	}
	if bad := l.refuseQuery(ruleSNMP); bad != nil {
		return bad
	}
	p := l.snmpPath()
	if p.engine >= 0 {
		if id := l.s[p.engine:p.engineEnd]; !all(id, isHex) || len(id)%2 != 0 {
			return refuse(p.engine, p.engineEnd, "RFC 4088, 3: contextEngineID", "the identifier of an engine is pairs of hexadecimal digits")
		}
	}
	if p.oids < 0 {
		return nil
	}
	from, to := p.oids, p.oidsEnd
	group := to-from >= 2 && l.s[from] == '(' && l.s[to-1] == ')'
	if group {
		from, to = from+1, to-1
	}
	for at := from; at <= to; {
		end := to
		if group {
			end = until(l.s, at, to, ',')
		}
		if bad := badOID(l.s, at, end); bad >= 0 {
			return refuse(bad, min(bad+1, l.pathEnd), ruleOID, "an object identifier is numbers with dots between; several stand in parentheses with commas between")
		}
		at = end + 1
	}
	return nil
}

// badOID returns the offset of what no object identifier has (RFC 3061, 3), -1
// if it is one.
func badOID(s string, from, to int) int {
	for at := from; ; {
		end := run(s[:to], at, isDigit)
		switch {
		case end == at, s[at] == '0' && end > at+1:
			return at
		case end == to:
			return -1
		case s[end] != '.':
			return end
		}
		at = end + 1
	}
}

func partsSNMP(dst []Part, u uri.URI) []Part {
	t := take(dst, u)
	if t.user >= 0 {
		t.data("security_name", t.user, t.userEnd)
	}
	t.server()
	p := t.snmpPath()
	if p.name >= 0 {
		t.data("context_name", p.name, p.nameEnd)
	}
	if p.engine >= 0 {
		t.part("context_engine_id", p.engine, p.engineEnd)
	}
	if p.oids >= 0 {
		t.part("oids", p.oids, p.oidsEnd)
		if p.oidsEnd < t.pathEnd {
			t.part("suffix", p.oidsEnd, t.pathEnd)
		}
	}
	t.fragment()
	return t.parts
}

// tftpMode returns where the name ends and where the mode begins, or -1.
func (l *layout) tftpMode() (end, mode int) {
	const key = ";mode="
	end = until(l.s, l.path, l.pathEnd, ';')
	if at := end + len(key); at <= l.pathEnd && equalFold(l.s[end:at], key) {
		return end, at
	}
	return end, -1
}

// checkTFTP checks a file and a mode.
//
//	tftpURI = "tftp://" host "/" file [ mode ]
//	mode    = ";" "mode=" ( "netascii" / "octet" )
func checkTFTP(u uri.URI) []Finding {
	l := layoutOf(u)
	if bad := l.needServer(ruleTFTP); bad != nil {
		return bad
	}
	if bad := l.refuseUser(ruleTFTP); bad != nil {
		return bad
	}
	if bad := l.refuseQuery(ruleTFTP); bad != nil {
		return bad
	}
	end, mode := l.tftpMode()
	switch {
	case l.path+1 >= end:
		return refuse(l.path, end, ruleTFTP, "a slash and the name of a file must follow the host")
	case mode < 0 && end < l.pathEnd:
		return refuse(end, l.pathEnd, "RFC 3617, ABNF: mode", "only ;mode= may follow the name")
	case mode >= 0 && !equalFold(l.s[mode:l.pathEnd], "netascii") && !equalFold(l.s[mode:l.pathEnd], "octet"):
		return refuse(mode, l.pathEnd, "RFC 3617, ABNF: mode", "the mode is netascii or octet")
	}
	if at := strings.Index(l.s[l.path:end], "%00"); at >= 0 {
		f := broken(l.path+at, l.path+at+3, "RFC 1350, 5: filename", "NUL ends the name for the protocol")
		f.Code = CodeInjection
		return []Finding{f}
	}
	var found []Finding
	if l.port >= 0 {
		found = append(found, warn(CodeForm, l.port-1, l.portEnd, ruleTFTP, "the grammar has no port: not every client reads it"))
	}
	if slash := until(l.s, l.path+1, end, '/'); slash < end {
		found = append(found, warn(CodeForm, slash, slash+1, "RFC 3617, ABNF: file", "by the grammar a slash in a name is %2F").instead("%2F"))
	}
	return found
}

func partsTFTP(dst []Part, u uri.URI) []Part {
	t := take(dst, u)
	t.login()
	t.server()
	end, mode := t.tftpMode()
	if t.hasPath() {
		t.data("file", min(t.path+1, end), end)
	}
	if mode >= 0 {
		t.part("mode", mode, t.pathEnd)
	}
	t.fragment()
	return t.parts
}

// checkNFS checks a file.
//
//	nfsURL = "nfs:" "//" hostport [ abs_path ]
func checkNFS(u uri.URI) []Finding {
	l := layoutOf(u)
	if bad := l.needServer(ruleNFS); bad != nil {
		return bad
	}
	if bad := l.refuseUser(ruleNFS); bad != nil {
		return bad
	}
	return l.refuseQuery(ruleNFS)
}

func partsNFS(dst []Part, u uri.URI) []Part {
	t := take(dst, u)
	t.login()
	t.server()
	t.data("path", t.path, t.pathEnd)
	t.fragment()
	return t.parts
}
