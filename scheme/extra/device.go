package extra

import (
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/scheme"
	"github.com/nomen-project/nomen/scheme/internal/layout"
	"github.com/nomen-project/nomen/uri"
)

// Schemes for printers, managed devices, and network boot and file services.

var ipp = scheme.Scheme{
	Name: "ipp", Title: "Internet Printing Protocol", Kind: scheme.KindLocator,
	Reference:   "RFC 3510; RFC 8010",
	Example:     "ipp://printer.example.com/ipp/print",
	Note:        "identifies a printer or a job; maps to http with port 631",
	Security:    "print data is sent in the clear; see ipps",
	DefaultPort: "631", Transport: "tcp", Hierarchical: true, RootPath: true,
	Retrieval: "send IPP operations over HTTP to the same host and path; the locator alone does not retrieve anything",
	Rules:     scheme.RuleSet{Check: withFragment(checkIPP, ruleIPP), Parts: layout.Generic},
}

var ipps = scheme.Scheme{
	Name: "ipps", Title: "Internet Printing Protocol over HTTPS", Kind: scheme.KindLocator,
	Reference:   "RFC 7472",
	Example:     "ipps://printer.example.com/ipp/print/42",
	Note:        "identifies a printer or a job; maps to https with port 631",
	DefaultPort: "631", Transport: "tcp", Hierarchical: true, RootPath: true,
	Retrieval: ipp.Retrieval,
	Rules:     scheme.RuleSet{Check: withFragment(checkIPP, ruleIPP), Parts: layout.Generic},
}

var snmp = scheme.Scheme{
	Name: "snmp", Title: "Simple Network Management Protocol", Kind: scheme.KindLocator,
	Reference:   "RFC 4088",
	Example:     "snmp://tester5@example.com:8161/bridge1;800002b804616263/1.3.6.1.2.1.1.3.0",
	Note:        "the suffix + asks for the next object, .* for the subtree; without a context the default context applies",
	Security:    "the security name before the host is not a password, but early versions of the protocol used it as one",
	DefaultPort: "161", Transport: "udp",
	Special: []scheme.Special{
		inPath("/", "separates the context and object identifiers"),
		inPath(";", "precedes an engine identifier"),
		inPath("(,)", "groups object identifiers"),
	},
	Retrieval: "ask the agent for the objects in the context",
	Rules:     scheme.RuleSet{Check: withFragment(checkSNMP, ruleSNMP), Parts: partsSNMP},
}

var tftp = scheme.Scheme{
	Name: "tftp", Title: "Trivial File Transfer Protocol", Kind: scheme.KindLocator,
	Reference:   "RFC 3617",
	Example:     "tftp://example.com/mystartupfile;mode=netascii",
	Note:        "the grammar allows neither ports nor slashes in names; both are in use and produce a warning",
	Security:    "no authentication: the first server that responds is trusted",
	DefaultPort: "69", Transport: "udp",
	Special:   []scheme.Special{inPath(";", "precedes the mode")},
	Retrieval: "read the file from the server in the given mode, or write it",
	Rules:     scheme.RuleSet{Check: withFragment(checkTFTP, ruleTFTP), Parts: partsTFTP},
}

var nfs = scheme.Scheme{
	Name: "nfs", Title: "Network File System", Kind: scheme.KindLocator,
	Reference:   "RFC 2224",
	Example:     "nfs://server.example.com/a/b",
	Note:        "the path starts at the server's public directory; two slashes start it at the root",
	Security:    "the server makes these files available to every client",
	DefaultPort: "2049", Transport: "tcp", Hierarchical: true,
	Special:   []scheme.Special{inPath("/", "separates directory names")},
	Retrieval: "look up the path from the public file handle, and read the file or list the directory",
	Rules:     scheme.RuleSet{Check: withFragment(checkNFS, ruleNFS), Parts: partsNFS},
}

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
func checkIPP(u uri.URI) []scheme.Finding {
	l := layout.Of(u)
	return l.NeedHostOnly(ruleIPP)
}

// An snmpPath holds the offsets of the context and the object identifiers. An absent offset is -1.
type snmpPath struct {
	name, nameEnd     int
	engine, engineEnd int
	oids, oidsEnd     int // object identifiers without the suffix
}

func snmpPathOf(l *layout.Layout) snmpPath {
	p := snmpPath{-1, -1, -1, -1, -1, -1}
	if !l.HasPath() || !l.Authority {
		return p
	}
	end := ascii.Until(l.Text, l.Path+1, l.PathEnd, '/')
	p.name, p.nameEnd = l.Path+1, ascii.Until(l.Text, l.Path+1, end, ';')
	if p.nameEnd < end {
		p.engine, p.engineEnd = p.nameEnd+1, end
	}
	if end == l.PathEnd {
		return p
	}
	p.oids, p.oidsEnd = end+1, l.PathEnd
	if s := l.Text[p.oids:l.PathEnd]; strings.HasSuffix(s, "+") {
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
func checkSNMP(u uri.URI) []scheme.Finding {
	l := layout.Of(u)
	if bad := firstOf(l.NeedServer(ruleSNMP), refuseQuery(&l, ruleSNMP)); bad != nil {
		return bad
	}
	p := snmpPathOf(&l)
	if p.engine >= 0 {
		if id := l.Text[p.engine:p.engineEnd]; !ascii.All(id, ascii.IsHex) || len(id)%2 != 0 {
			return layout.Refuse(p.engine, p.engineEnd, "RFC 4088, 3: contextEngineID", "an engine identifier must consist of pairs of hexadecimal digits")
		}
	}
	if p.oids < 0 {
		return nil
	}
	from, to := p.oids, p.oidsEnd
	group := to-from >= 2 && l.Text[from] == '(' && l.Text[to-1] == ')'
	if group {
		from, to = from+1, to-1
	}
	for at := from; at <= to; {
		end := to
		if group {
			end = ascii.Until(l.Text, at, to, ',')
		}
		if bad := badOID(l.Text, at, end); bad >= 0 {
			return layout.Refuse(bad, min(bad+1, l.PathEnd), ruleOID, "invalid object identifier: want numbers separated by dots; enclose several in parentheses, separated by commas")
		}
		at = end + 1
	}
	return nil
}

// badOID returns the offset of the first invalid byte of an object identifier (RFC 3061, section
// 3), or -1 if it is valid.
func badOID(s string, from, to int) int {
	for at := from; ; {
		end := ascii.Run(s[:to], at, ascii.IsDigit)
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

func partsSNMP(dst []scheme.Part, u uri.URI) []scheme.Part {
	t := layout.Take(dst, u)
	t.Data("security_name", t.User, t.UserEnd)
	t.Server()
	p := snmpPathOf(&t.Layout)
	t.Data("context_name", p.name, p.nameEnd)
	t.Part("context_engine_id", p.engine, p.engineEnd)
	if p.oids >= 0 {
		t.Part("oids", p.oids, p.oidsEnd)
		if p.oidsEnd < t.PathEnd {
			t.Part("suffix", p.oidsEnd, t.PathEnd)
		}
	}
	t.Fragment()
	return t.Parts
}

// tftpMode returns the end of the file name, and the start of the mode or -1.
func tftpMode(l *layout.Layout) (end, mode int) {
	const key = ";mode="
	end = ascii.Until(l.Text, l.Path, l.PathEnd, ';')
	if at := end + len(key); at <= l.PathEnd && ascii.EqualFold(l.Text[end:at], key) {
		return end, at
	}
	return end, -1
}

// checkTFTP checks a file name and a mode.
//
//	tftpURI = "tftp://" host "/" file [ mode ]
//	mode    = ";" "mode=" ( "netascii" / "octet" )
func checkTFTP(u uri.URI) []scheme.Finding {
	l := layout.Of(u)
	if bad := firstOf(l.NeedHostOnly(ruleTFTP), refuseQuery(&l, ruleTFTP)); bad != nil {
		return bad
	}
	end, mode := tftpMode(&l)
	switch {
	case l.Path+1 >= end:
		return layout.Refuse(l.Path, end, ruleTFTP, "a slash and a file name must follow the host")
	case mode < 0 && end < l.PathEnd:
		return layout.Refuse(end, l.PathEnd, "RFC 3617, ABNF: mode", "only ;mode= may follow the file name")
	case mode >= 0 && !ascii.EqualFold(l.Text[mode:l.PathEnd], "netascii") && !ascii.EqualFold(l.Text[mode:l.PathEnd], "octet"):
		return layout.Refuse(mode, l.PathEnd, "RFC 3617, ABNF: mode", "the mode must be netascii or octet")
	}
	if at := strings.Index(l.Text[l.Path:end], "%00"); at >= 0 {
		return layout.RefuseAs(scheme.CodeInjection, l.Path+at, l.Path+at+3, "RFC 1350, 5: filename", "NUL ends the file name in the protocol")
	}
	var found []scheme.Finding
	if l.Port >= 0 {
		found = append(found, layout.Warn(scheme.CodeForm, l.Port-1, l.PortEnd, ruleTFTP, "the grammar does not allow a port, and some clients do not support it"))
	}
	if slash := ascii.Until(l.Text, l.Path+1, end, '/'); slash < end {
		found = append(found, layout.Instead(layout.Warn(scheme.CodeForm, slash, slash+1, "RFC 3617, ABNF: file", "the grammar requires a slash in a name to be written %2F"), "%2F"))
	}
	return found
}

func partsTFTP(dst []scheme.Part, u uri.URI) []scheme.Part {
	t := layout.Take(dst, u)
	t.Login()
	t.Server()
	end, mode := tftpMode(&t.Layout)
	if t.HasPath() {
		t.Data("file", min(t.Path+1, end), end)
	}
	t.Part("mode", mode, t.PathEnd)
	t.Fragment()
	return t.Parts
}

// checkNFS checks an nfs URL.
//
//	nfsURL = "nfs:" "//" hostport [ abs_path ]
func checkNFS(u uri.URI) []scheme.Finding {
	l := layout.Of(u)
	return firstOf(l.NeedHostOnly(ruleNFS), refuseQuery(&l, ruleNFS))
}

func partsNFS(dst []scheme.Part, u uri.URI) []scheme.Part {
	t := layout.Take(dst, u)
	t.Login()
	t.Server()
	t.Data("path", t.Path, t.PathEnd)
	t.Fragment()
	return t.Parts
}
