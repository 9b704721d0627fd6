package scheme

import (
	"strings"

	"github.com/nomen-project/nomen/uri"
)

// Printers, managed devices, and network boot and file services.

var ipp = Scheme{
	Name: "ipp", Title: "Internet Printing Protocol", Kind: KindLocator,
	Reference:   "RFC 3510; RFC 8010",
	Example:     "ipp://printer.example.com/ipp/print",
	Note:        "identifies a printer or a job; maps to http with port 631",
	Security:    "print data is sent in the clear; see ipps",
	DefaultPort: "631", Transport: "tcp", Hierarchical: true, RootPath: true,
	Retrieval: "send IPP operations over HTTP to the same host and path; the locator alone does not retrieve anything",
	Rules:     RuleSet{Check: withFragment(checkIPP, ruleIPP), Parts: partsHTTP},
}

var ipps = Scheme{
	Name: "ipps", Title: "Internet Printing Protocol over HTTPS", Kind: KindLocator,
	Reference:   "RFC 7472",
	Example:     "ipps://printer.example.com/ipp/print/42",
	Note:        "identifies a printer or a job; maps to https with port 631",
	DefaultPort: "631", Transport: "tcp", Hierarchical: true, RootPath: true,
	Retrieval: ipp.Retrieval,
	Rules:     RuleSet{Check: withFragment(checkIPP, ruleIPP), Parts: partsHTTP},
}

var snmp = Scheme{
	Name: "snmp", Title: "Simple Network Management Protocol", Kind: KindLocator,
	Reference:   "RFC 4088",
	Example:     "snmp://tester5@example.com:8161/bridge1;800002b804616263/1.3.6.1.2.1.1.3.0",
	Note:        "the suffix + asks for the next object, .* for the subtree; without a context the default context applies",
	Security:    "the security name before the host is not a password, but early versions of the protocol used it as one",
	DefaultPort: "161", Transport: "udp",
	Special: []Special{
		{uri.ComponentPath, "/", "separates the context and object identifiers"},
		{uri.ComponentPath, ";", "precedes an engine identifier"},
		{uri.ComponentPath, "(,)", "groups object identifiers"},
	},
	Retrieval: "ask the agent for the objects in the context",
	Rules:     RuleSet{Check: withFragment(checkSNMP, ruleSNMP), Parts: partsSNMP},
}

var tftp = Scheme{
	Name: "tftp", Title: "Trivial File Transfer Protocol", Kind: KindLocator,
	Reference:   "RFC 3617",
	Example:     "tftp://example.com/mystartupfile;mode=netascii",
	Note:        "the grammar allows neither ports nor slashes in names; both are in use and produce a warning",
	Security:    "no authentication: the first server that responds is trusted",
	DefaultPort: "69", Transport: "udp",
	Special:   []Special{{uri.ComponentPath, ";", "precedes the mode"}},
	Retrieval: "read the file from the server in the given mode, or write it",
	Rules:     RuleSet{Check: withFragment(checkTFTP, ruleTFTP), Parts: partsTFTP},
}

var nfs = Scheme{
	Name: "nfs", Title: "Network File System", Kind: KindLocator,
	Reference:   "RFC 2224",
	Example:     "nfs://server.example.com/a/b",
	Note:        "the path starts at the server's public directory; two slashes start it at the root",
	Security:    "the server makes these files available to every client",
	DefaultPort: "2049", Transport: "tcp", Hierarchical: true,
	Special:   []Special{{uri.ComponentPath, "/", "separates directory names"}},
	Retrieval: "look up the path from the public file handle, and read the file or list the directory",
	Rules:     RuleSet{Check: withFragment(checkNFS, ruleNFS), Parts: partsNFS},
}

// The grammar rules.
const (
	ruleIPP  = "RFC 3510, ABNF: ipp_URL"
	ruleSNMP = "RFC 4088, 3: snmp-uri"
	ruleOID  = "RFC 4088, 3: oids"
	ruleTFTP = "RFC 3617, ABNF: tftpURI"
	ruleNFS  = "RFC 2224, BNF: nfsURL"
)

// checkIPP checks an ipp URL.
//
//	ipp_URL = "ipp:" "//" host [ ":" port ] [ abs_path [ "?" query ]]
func checkIPP(u uri.URI) []Finding {
	l := layoutOf(u)
	if bad := l.needServer(ruleIPP); bad != nil {
		return bad
	}
	return l.refuseUser(ruleIPP)
}

// snmpPath holds the offsets of the context and object identifiers, -1 for
// those that are absent.
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
			return refuse(p.engine, p.engineEnd, "RFC 4088, 3: contextEngineID", "an engine identifier must consist of pairs of hexadecimal digits")
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
			return refuse(bad, min(bad+1, l.pathEnd), ruleOID, "invalid object identifier: want numbers separated by dots; enclose several in parentheses, separated by commas")
		}
		at = end + 1
	}
	return nil
}

// badOID returns the offset of the first byte that is invalid in an object
// identifier (RFC 3061, 3), or -1 if it is valid.
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

// tftpMode returns the end of the file name and the start of the mode, -1 if
// there is no mode.
func (l *layout) tftpMode() (end, mode int) {
	const key = ";mode="
	end = until(l.s, l.path, l.pathEnd, ';')
	if at := end + len(key); at <= l.pathEnd && equalFold(l.s[end:at], key) {
		return end, at
	}
	return end, -1
}

// checkTFTP checks a file name and a mode.
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
		return refuse(l.path, end, ruleTFTP, "a slash and a file name must follow the host")
	case mode < 0 && end < l.pathEnd:
		return refuse(end, l.pathEnd, "RFC 3617, ABNF: mode", "only ;mode= may follow the file name")
	case mode >= 0 && !equalFold(l.s[mode:l.pathEnd], "netascii") && !equalFold(l.s[mode:l.pathEnd], "octet"):
		return refuse(mode, l.pathEnd, "RFC 3617, ABNF: mode", "the mode must be netascii or octet")
	}
	if at := strings.Index(l.s[l.path:end], "%00"); at >= 0 {
		f := broken(l.path+at, l.path+at+3, "RFC 1350, 5: filename", "NUL ends the file name in the protocol")
		f.Code = CodeInjection
		return []Finding{f}
	}
	var found []Finding
	if l.port >= 0 {
		found = append(found, warn(CodeForm, l.port-1, l.portEnd, ruleTFTP, "the grammar does not allow a port, and some clients do not support it"))
	}
	if slash := until(l.s, l.path+1, end, '/'); slash < end {
		found = append(found, instead(warn(CodeForm, slash, slash+1, "RFC 3617, ABNF: file", "the grammar requires a slash in a name to be written %2F"), "%2F"))
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

// checkNFS checks an nfs URL.
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
