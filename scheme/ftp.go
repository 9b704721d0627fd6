package scheme

import (
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/scheme/internal/layout"
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
		{uri.ComponentPath, ";", "precedes the typecode (not in the draft of 1993)"},
	},
	Retrieval: "log in as the user, or as anonymous with a mail address as password; change to each directory in turn; " +
		"set the transfer mode and retrieve the file; the format is deduced from the suffix",
	Rules: RuleSet{Check: checkFTP, Parts: partsFTP, Build: buildFTP},
}

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
	l := layout.Of(u)
	if l.Is1993() {
		return checkFTP1993(&l)
	}
	if bad := l.NeedServer(ruleFTP); bad != nil {
		return bad
	}
	if l.Query >= 0 {
		return []Finding{layout.Instead(layout.Broken(l.Query-1, l.QueryEnd, ruleFTPQuery, "queries are not allowed; percent-encode a question mark in a file name as %3F"), "%3F"+l.Text[l.Query:l.QueryEnd])}
	}
	name, code := l.Typecode()
	if semicolon := strings.IndexByte(l.Text[l.Path:name], ';'); semicolon >= 0 {
		at := l.Path + semicolon
		return []Finding{layout.Instead(layout.Broken(at, at+1, ruleFTPPath, "a semicolon in a file name must be percent-encoded"), "%3B")}
	}
	if code >= 0 && (l.PathEnd != code+1 || strings.IndexByte("AIDaid", l.Text[code]) < 0) {
		return layout.Refuse(code, l.PathEnd, ruleFTPType, "the typecode must be a, i or d")
	}
	return l.RefuseControls(ruleFTPLines, "FTP")
}

// checkFTP1993 checks a fileaddress of the draft of 1993, including what its prose adds to the
// grammar.
//
//	fileaddress = "ftp://" [ user [ ":" password ] "@" ] hostport "/" path
func checkFTP1993(l *layout.Layout) []Finding {
	if bad := l.NeedServer(ruleFTP1993); bad != nil {
		return bad
	}
	if !l.HasPath() {
		return layout.Refuse(l.Path, l.Path, ruleFTP1993, "needs a slash and a path after the host")
	}
	if l.Query >= 0 {
		return layout.Refuse(l.Query-1, l.QueryEnd, ruleFTP1993, "searches are not supported in file addresses")
	}
	return l.RefuseControls(ruleFTPLines, "FTP")
}

// partsFTP adds the parts of an FTP locator. In the draft of 1993 the whole path is one part. In
// later documents the path consists of directories, which are arguments of CWD commands, a file
// name and a typecode.
func partsFTP(dst []Part, u uri.URI) []Part {
	t := layout.Take(dst, u)
	t.Login()
	t.Server()
	end := t.PathEnd
	if t.Is1993() {
		if t.HasPath() && t.Authority {
			t.Data("path", t.Path+1, t.PathEnd)
		}
	} else if t.IsRooted() {
		var code int
		end, code = t.Typecode()
		appendDirectories(&t, end)
		t.Part("type", code, t.PathEnd)
	}
	appendSuffix(&t, end)
	return t.Parts
}

// appendDirectories adds the directories and the file name, which are the path segments before the
// offset end.
func appendDirectories(t *layout.Taker, end int) {
	at := t.Path + 1
	for {
		slash := ascii.Until(t.Text, at, end, '/')
		if slash == end {
			t.Data("name", at, end)
			return
		}
		t.Data("cwd", at, slash)
		at = slash + 1
	}
}

// appendSuffix adds the text after the last dot of the last segment, unless that text is the whole
// segment.
func appendSuffix(t *layout.Taker, end int) {
	last := t.Path + strings.LastIndexByte(t.Text[t.Path:end], '/') + 1
	if dot := strings.LastIndexByte(t.Text[last:end], '.'); dot > 0 && last+dot+1 < end {
		t.Data("suffix", last+dot+1, end)
	}
}

// buildFTP writes an FTP locator from the parts that partsFTP returns.
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
