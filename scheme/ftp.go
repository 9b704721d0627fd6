package scheme

import (
	"strings"

	"github.com/nomen-project/nomen/uri"
)

var ftp = Scheme{
	Name: "ftp", Title: "File Transfer Protocol", Kind: KindLocator,
	Reference:   "RFC 1738, 3.2; RFC 959; 1993, FTP",
	Example:     "ftp://example.org/pub/readme.txt;type=a",
	Note:        "without ;type= the client guesses the transfer mode from the file suffix",
	Security:    "user name and password are sent in the clear and are visible in the locator",
	DefaultPort: "21", Transport: "tcp", Hierarchical: true, RootPath: true,
	Special: []Special{
		{uri.ComponentUserinfo, ":", "separates the user name and password"},
		{uri.ComponentPath, "/", "separates directory names"},
		{uri.ComponentPath, ";", "precedes the typecode (not in 1993)"},
	},
	Retrieval: "log in as the user, or as anonymous with a mail address as password; change to each directory in turn; " +
		"set the transfer mode and retrieve the file; the format is deduced from the suffix",
	Rules: RuleSet{Check: checkFTP, Parts: partsFTP, Build: buildFTP},
}

// The grammar rules of FTP.
const (
	ruleFTPQuery = "RFC 3986, 3.4: query"
	ruleFTP1993  = "1993, BNF: fileaddress"
	ruleFTP      = "RFC 1738, 5: ftpurl"
	ruleFTPType  = "RFC 1738, 3.2.2: typecode"
	ruleFTPPath  = "RFC 1738, 3.2.2: url-path"
	ruleFTPLines = "RFC 959, 5.3.2: string"
)

// checkFTP checks an FTP locator.
//
//	ftpurl  = "ftp://" login [ "/" fpath [ ";type=" ftptype ]]
//	fpath   = fsegment *[ "/" fsegment ]
//	ftptype = "A" | "I" | "D" | "a" | "i" | "d"
func checkFTP(u uri.URI) []Finding {
	l := layoutOf(u)
	if l.is1993() {
		return checkFTP1993(&l)
	}
	if bad := l.needServer(ruleFTP); bad != nil {
		return bad
	}
	if l.query >= 0 {
		return []Finding{instead(broken(l.query-1, l.queryEnd, ruleFTPQuery, "queries are not allowed; percent-encode a question mark in a file name as %3F"), "%3F"+l.s[l.query:l.queryEnd])}
	}
	name, code := l.typecode()
	if semicolon := strings.IndexByte(l.s[l.path:name], ';'); semicolon >= 0 {
		at := l.path + semicolon
		return []Finding{instead(broken(at, at+1, ruleFTPPath, "a semicolon in a file name must be percent-encoded"), "%3B")}
	}
	if code >= 0 && (l.pathEnd != code+1 || strings.IndexByte("AIDaid", l.s[code]) < 0) {
		return refuse(code, l.pathEnd, ruleFTPType, "the typecode must be a, i or d")
	}
	return l.refuseControls(ruleFTPLines, "FTP")
}

// checkFTP1993 checks a fileaddress of the draft, including the additions in
// its prose.
//
//	fileaddress = "ftp://" [ user [ ":" password ] "@" ] hostport "/" path
func checkFTP1993(l *layout) []Finding {
	if bad := l.needServer(ruleFTP1993); bad != nil {
		return bad
	}
	if !l.hasPath() {
		return refuse(l.path, l.path, ruleFTP1993, "needs a slash and a path after the host")
	}
	if l.query >= 0 {
		return refuse(l.query-1, l.queryEnd, ruleFTP1993, "searches are not supported in file addresses")
	}
	return l.refuseControls(ruleFTPLines, "FTP")
}

// typecode returns the end of the name and the start of the typecode, -1 if
// there is none.
func (l *layout) typecode() (name, code int) {
	last := l.path + strings.LastIndexByte(l.pathText(), '/') + 1
	const key = ";type="
	if n := strings.Index(l.s[last:l.pathEnd], key); n >= 0 {
		return last + n, last + n + len(key)
	}
	return l.pathEnd, -1
}

// partsFTP adds the parts of an FTP locator. In 1993 the path is a single part;
// in later documents it consists of arguments for CWD commands, a name and a
// typecode.
func partsFTP(dst []Part, u uri.URI) []Part {
	t := take(dst, u)
	t.login()
	t.server()
	end := t.pathEnd
	if t.is1993() {
		if t.hasPath() && t.authority {
			t.data("path", t.path+1, t.pathEnd)
		}
	} else if t.isRooted() {
		var code int
		end, code = t.typecode()
		t.directories(end)
		if code >= 0 {
			t.part("type", code, t.pathEnd)
		}
	}
	t.suffix(end)
	return t.parts
}

// directories adds the path segments before end: the directories to change to,
// and the name.
func (t *taker) directories(end int) {
	at := t.path + 1
	for {
		slash := until(t.s, at, end, '/')
		if slash == end {
			t.data("name", at, end)
			return
		}
		t.data("cwd", at, slash)
		at = slash + 1
	}
}

// suffix adds the text after the last dot of the last segment, unless that is
// the whole segment.
func (t *taker) suffix(end int) {
	last := t.path + strings.LastIndexByte(t.s[t.path:end], '/') + 1
	if dot := strings.LastIndexByte(t.s[last:end], '.'); dot > 0 && last+dot+1 < end {
		t.data("suffix", last+dot+1, end)
	}
}

// buildFTP writes an FTP locator. The path is one part in 1993, and
// directories, name and typecode in later documents. User and password are
// written only if given.
func buildFTP(d uri.Dialect, parts []Part) (string, error) {
	w := newBuilder(d, "ftp", "21", parts)
	if d == uri.Draft1993 {
		w.path()
		return w.text()
	}
	for _, dir := range GetAll(parts, "cwd") {
		w.write("/" + dir)
	}
	if name, ok := Get(parts, "name"); ok {
		w.write("/" + name)
	}
	if code, ok := Get(parts, "type"); ok {
		w.write(";type=" + code)
	}
	return w.text()
}
