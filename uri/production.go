package uri

import (
	"errors"
	"fmt"
	"iter"
	"strings"
)

// ErrUnknownRule is the error of [Dialect.CheckRule] if the dialect has no
// production with that name.
var ErrUnknownRule = errors.New("unknown production")

// CheckRule checks that the whole of s matches a production of the dialect, such
// as host, site, reg-name or IPv6address. The names are those of the documents
// and are case-sensitive. An error is a *[Error] or wraps [ErrUnknownRule].
//
// The top rules of 1997 and 2003 match nearly everything, because what is not
// generic is opaque, and what is not a server is a registry name. To learn
// whether a string is a site, check that production.
func (d Dialect) CheckRule(rule, s string) error {
	if !d.IsValid() {
		return newError(d, s, fault{code: CodeDialect})
	}
	for _, p := range productions(d) {
		if p.name != rule {
			continue
		}
		if f := p.check(d, s); f.code != 0 {
			e := newError(d, s, f)
			if f.code == CodeRule {
				e.Rule = rule
			}
			return e
		}
		return nil
	}
	return fmt.Errorf("uri: %q in dialect %s: %w", rule, d, ErrUnknownRule)
}

// Rules yields the names of the productions that [Dialect.CheckRule] knows, in
// the order of the document.
func (d Dialect) Rules() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, p := range productions(d) {
			if !yield(p.name) {
				return
			}
		}
	}
}

// A production has a name and a check. The check reports [CodeRule] where the
// parser has no more specific code.
type production struct {
	name  string
	check func(d Dialect, s string) fault
}

func productions(d Dialect) []production {
	switch d {
	case Draft1993:
		return productions1993()
	case Draft1997:
		return productions1997()
	case Draft2003:
		return productions2003()
	case RFC3986:
		return productions3986()
	case RFC6874:
		return append(productions3986(), productions6874()...)
	default:
		return nil
	}
}

// RFC 3986, Appendix A.
func productions3986() []production {
	return []production{
		{"URI", withScheme},
		{"hier-part", hierPart},
		{"URI-reference", reference},
		{"absolute-URI", absoluteURI},
		{"relative-ref", relativeRef},
		{"relative-part", relativePart},
		{"scheme", schemeName},
		{"authority", authority},
		{"userinfo", many(inUser, 0)},
		{"host", host},
		{"port", digits(0)},
		{"IP-literal", literal},
		{"IPvFuture", future},
		{"IPv6address", when(isIPv6)},
		{"h16", hexDigits(1, 4)},
		{"ls32", when(isLS32)},
		{"IPv4address", when(isIPv4)},
		{"dec-octet", when(isDecOctet)},
		{"reg-name", many(inHost, 0)},
		{"path", path},
		{"path-abempty", pathAbEmpty},
		{"path-absolute", pathAbsolute},
		{"path-noscheme", pathNoScheme},
		{"path-rootless", pathRootless},
		{"path-empty", empty},
		{"segment", segment(0, "/")},
		{"segment-nz", segment(1, "/")},
		{"segment-nz-nc", segment(1, "/:")},
		{"pchar", oneChar(inPath, "/")},
		{"query", many(inQuery, 0)},
		{"fragment", many(inFrag, 0)},
		{"pct-encoded", when(isOneEscape)},
		{"unreserved", octet(unreservedOctet)},
		{"reserved", oneOfSet(":/?#[]@!$&'()*+,;=")},
		{"gen-delims", oneOfSet(":/?#[]@")},
		{"sub-delims", oneOfSet("!$&'()*+,;=")},
		{"ALPHA", octet(letterOctet)},
		{"DIGIT", octet(digitOctet)},
		{"HEXDIG", octet(hexOctet)},
	}
}

// RFC 6874, 2.
func productions6874() []production {
	return []production{
		{"ZoneID", many(unreserved, 1)},
		{"IPv6addrz", func(d Dialect, s string) fault { return unless(isZoned(&classes[d], s), 0) }},
	}
}

// 2003, all sections.
func productions2003() []production {
	return []production{
		{"URI-reference", reference},
		{"absolute-URI-reference", withScheme},
		{"absolute-URI", absoluteURI},
		{"hier-part", hierPart2003},
		{"net-path", netPath},
		{"abs-path", absPath},
		{"opaque-part", opaquePart},
		{"uric-no-slash", uric("/")},
		{"relative-URI", relativeURI},
		{"rel-path", relPath2003},
		{"rel-segment", segment(1, "/:")},
		{"scheme", schemeName},
		{"authority", authority},
		{"reg-name", segment(1, "/")},
		{"server", server},
		{"userinfo", many(inUser, 0)},
		{"hostport", hostport},
		{"host", host},
		{"port", digits(0)},
		{"hostname", hostname},
		{"qualified", qualified},
		{"domainlabel", label(alphanumOctet, maxLabel)},
		{"toplabel", label(letterOctet, maxLabel)},
		{"alphanum", octet(alphanumOctet)},
		{"IPv4address", when(isIPv4)},
		{"dec-octet", when(isDecOctet)},
		{"IPv6reference", literal},
		{"IPv6address", when(isIPv6)},
		{"ls32", when(isLS32)},
		{"h4", hexDigits(1, 4)},
		{"path", path2003},
		{"path-segments", many(inPath, 0)},
		{"segment", segment(0, "/")},
		{"pchar", oneChar(inPath, "/")},
		{"query", many(inQuery, 0)},
		{"fragment", many(inFrag, 0)},
		{"uric", uric("")},
		{"reserved", oneOfSet("[];/?:@&=+$,")},
		{"unreserved", octet(unreservedOctet)},
		{"mark", oneOfSet("-_.!~*'()")},
		{"escaped", when(isOneEscape)},
		{"delims", oneOfSet("<>#%\"")},
		{"unwise", oneOfSet("{}|\\^`")},
		{"ALPHA", octet(letterOctet)},
		{"DIGIT", octet(digitOctet)},
		{"HEXDIG", octet(hexOctet)},
	}
}

// 1997, all sections.
func productions1997() []production {
	return []production{
		{"URL-reference", reference},
		{"absoluteURL", absoluteURI},
		{"opaque-URL", absoluteURI},
		{"generic-URL", absoluteURI},
		{"relativeURL", relativeURL},
		{"net_path", netPath},
		{"abs_path", absPath1997},
		{"rel_path", relativeURL},
		{"scheme", schemeName},
		{"site", server},
		{"user", segmentOf(inUser, 0, ":")},
		{"password", segmentOf(inUser, 0, ":")},
		{"hostport", hostport},
		{"host", host},
		{"hostname", hostname},
		{"domainlabel", label(alphanumOctet, 0)},
		{"toplabel", label(letterOctet, 0)},
		{"hostnumber", when(isHostNumber)},
		{"port", digits(0)},
		{"path", many(inPath, 0)},
		{"path_segments", many(inPath, 0)},
		{"segment", segment(0, "/")},
		{"param", segment(0, "/;")},
		{"pchar", oneChar(inPath, "/;")},
		{"query", many(inQuery, 0)},
		{"fragment", many(inFrag, 0)},
		{"urlc", oneChar(inQuery, "")},
		{"reserved", oneOfSet(";/?:@&=+")},
		{"unreserved", octet(unreservedOctet)},
		{"mark", oneOfSet("$-_.!~*'(),")},
		{"escaped", when(isOneEscape)},
		{"hex", octet(hexOctet)},
		{"alphanum", octet(alphanumOctet)},
		{"alpha", octet(letterOctet)},
		{"lowalpha", octet(func(_ Dialect, c byte) bool { return 'a' <= c && c <= 'z' })},
		{"upalpha", octet(func(_ Dialect, c byte) bool { return 'A' <= c && c <= 'Z' })},
		{"digit", octet(digitOctet)},
		{"control", octet(func(_ Dialect, c byte) bool { return c < ' ' || c == 0x7F })},
		{"space", oneOfSet(" ")},
		{"delims", oneOfSet("<>#%\"")},
		{"unwise", oneOfSet("{}|\\^[]`")},
	}
}

// 1993, BNF, with the corrections of the catalogue of requirements. The rule
// "reference" is not in the document: it is fragmentaddress or a partial form.
func productions1993() []production {
	return []production{
		{"reference", reference},
		{"fragmentaddress", withScheme},
		{"url", absoluteURI},
		{"partial", partial},
		{"generic", generic},
		{"scheme", schemeName},
		{"httpaddress", addressOf("http")},
		{"fileaddress", addressOf("ftp")},
		{"afsaddress", addressOf("afs")},
		{"newsaddress", newsAddress},
		{"waisaddress", addressOf("wais")},
		{"waisindex", waisIndex},
		{"waisdoc", waisDoc},
		{"groupart", groupart},
		{"group", ialpha},
		{"article", article},
		{"database", many(inFrag, 1)},
		{"wtype", many(inFrag, 1)},
		{"prosperoaddress", addressOf("prospero")},
		{"prosperolink", addressOf("prospero")},
		{"hsoname", hsoname},
		{"version", digits(1)},
		{"attributes", alphanums},
		{"attribute", alphanums},
		{"telnetaddress", telnetAddress},
		{"gopheraddress", addressOf("gopher")},
		{"hostport", hostport},
		{"host", host},
		{"cellname", hostname},
		{"hostname", hostname},
		{"hostnumber", when(isHostNumber)},
		{"port", digits(1)},
		{"selector", many(inPath, 0)},
		{"path", many(inPath, 0)},
		{"search", search},
		{"user", many(inUser, 1)},
		{"fragmentid", many(inFrag, 1)},
		{"gtype", oneChar(inFrag, "")},
		{"xalpha", oneChar(inFrag, "")},
		{"xalphas", many(inFrag, 1)},
		{"xpalpha", oneChar(inPath, "/")},
		{"xpalphas", segment(1, "/")},
		{"ialpha", ialpha},
		{"alpha", octet(letterOctet)},
		{"digit", octet(digitOctet)},
		{"safe", oneOfSet("$-_@.&")},
		{"extra", oneOfSet("!*\"'():;,")},
		{"space", oneOfSet(" ")},
		{"escape", when(isOneEscape)},
		{"hex", octet(hexOctet)},
		{"variant", oneOfSet("{}|[]\\^~")},
		{"punctuation", oneOfSet("<>")},
		{"digits", digits(1)},
		{"alphanum", octet(alphanumOctet)},
		{"alphanums", alphanums},
		{"void", empty},
	}
}

// unless returns a fault at an offset if ok is false.
func unless(ok bool, off int) fault {
	if ok {
		return fault{}
	}
	return fault{off: uint32(off), code: CodeRule}
}

// Checks of single characters.

func letterOctet(_ Dialect, c byte) bool     { return isLetter(c) }
func digitOctet(_ Dialect, c byte) bool      { return isDigit(c) }
func hexOctet(_ Dialect, c byte) bool        { return isHex(c) }
func alphanumOctet(_ Dialect, c byte) bool   { return isLetter(c) || isDigit(c) }
func unreservedOctet(d Dialect, c byte) bool { return classes[d][c]&unreserved != 0 }

// octet checks for exactly one character of a set.
func octet(in func(Dialect, byte) bool) func(Dialect, string) fault {
	return func(d Dialect, s string) fault {
		if s == "" || !in(d, s[0]) {
			return unless(false, 0)
		}
		return unless(len(s) == 1, 1)
	}
}

func oneOfSet(set string) func(Dialect, string) fault {
	return octet(func(_ Dialect, c byte) bool { return strings.IndexByte(set, c) >= 0 })
}

// oneChar checks for exactly one character of a class, unescaped or escaped, that
// is not in except.
func oneChar(in class, except string) func(Dialect, string) fault {
	return func(d Dialect, s string) fault {
		f := segmentOf(in, 1, except)(d, s)
		if f.code != 0 || len(s) == 1 || s[0] == '%' && len(s) == 3 {
			return f
		}
		if s[0] == '%' {
			return unless(false, 3)
		}
		return unless(false, 1)
	}
}

// Checks of runs of characters.

// many checks for at least least characters of a class.
func many(in class, least int) func(Dialect, string) fault { return segmentOf(in, least, "") }

// segment checks for at least least characters of a path, none of them in except.
func segment(least int, except string) func(Dialect, string) fault {
	return segmentOf(inPath, least, except)
}

func segmentOf(in class, least int, except string) func(Dialect, string) fault {
	return func(d Dialect, s string) fault {
		i := span(&classes[d], s, 0, in)
		if except != "" {
			if n := strings.IndexAny(s[:i], except); n >= 0 {
				return unless(false, n)
			}
		}
		if i < len(s) {
			return badRun(s, i)
		}
		return unless(i >= least, i)
	}
}

// badRun returns the fault for the character at i in a production that the caller
// names.
func badRun(s string, i int) fault {
	f := badCharacter(s, i, 0)
	if f.code == CodeCharacter {
		f.code = CodeRule
	}
	return f
}

func digits(least int) func(Dialect, string) fault { return runOf(isDigit, least, MaxLength) }

func hexDigits(least, most int) func(Dialect, string) fault { return runOf(isHex, least, most) }

func alphanums(_ Dialect, s string) fault {
	return runOf(func(c byte) bool { return isLetter(c) || isDigit(c) }, 1, MaxLength)(0, s)
}

func runOf(in func(byte) bool, least, most int) func(Dialect, string) fault {
	return func(_ Dialect, s string) fault {
		i := 0
		for i < len(s) && i < most && in(s[i]) {
			i++
		}
		return unless(i == len(s) && i >= least, i)
	}
}

func empty(_ Dialect, s string) fault { return unless(s == "", 0) }

// when checks the whole string; a fault is reported at offset 0.
func when(is func(string) bool) func(Dialect, string) fault {
	return func(_ Dialect, s string) fault { return unless(is(s), 0) }
}

func isOneEscape(s string) bool { return len(s) == 3 && isEscape(s, 0) }

func isDecOctet(s string) bool { return s != "" && octetLen(s) == len(s) }

func isLS32(s string) bool {
	return isIPv4(s) || strings.Count(s, ":") == 1 && isIPv6("::"+s)
}

// Checks of references, by the parser.

func reference(d Dialect, s string) fault {
	_, f := parse(d, s)
	return f
}

func withScheme(d Dialect, s string) fault {
	u, f := parse(d, s)
	if f.code == 0 && u.scheme == 0 {
		return missingScheme(d, s)
	}
	return f
}

func absoluteURI(d Dialect, s string) fault { return noFragment(s, withScheme(d, s)) }

func relativeRef(d Dialect, s string) fault {
	u, f := parse(d, s)
	if f.code == 0 && u.scheme != 0 {
		return unless(false, int(u.scheme))
	}
	return f
}

func relativeURI(d Dialect, s string) fault { return noFragment(s, relativeRef(d, s)) }

func relativePart(d Dialect, s string) fault { return noQuery(s, relativeURI(d, s)) }

func noFragment(s string, f fault) fault {
	if n := strings.IndexByte(s, '#'); n >= 0 && (f.code == 0 || int(f.off) > n) {
		return unless(false, n)
	}
	return f
}

func noQuery(s string, f fault) fault {
	if n := strings.IndexByte(s, '?'); n >= 0 && (f.code == 0 || int(f.off) > n) {
		return unless(false, n)
	}
	return f
}

// afterColon parses what follows a scheme and a colon.
func afterColon(d Dialect, s string) (URI, fault) {
	const prefix = "x:"
	u, f := parse(d, prefix+s)
	f.off -= min(f.off, uint32(len(prefix)))
	if f.code == 0 && int(u.frag) < len(prefix)+len(s) {
		f = unless(false, int(u.frag)-len(prefix))
	}
	return u, f
}

func hierPart(d Dialect, s string) fault {
	_, f := afterColon(d, s)
	return noQuery(s, f)
}

// Paths.

func path(d Dialect, s string) fault {
	if strings.HasPrefix(s, "//") {
		return pathAbEmpty(d, s)
	}
	return many(inPath, 0)(d, s)
}

func pathAbEmpty(d Dialect, s string) fault {
	if s != "" && s[0] != '/' {
		return unless(false, 0)
	}
	return many(inPath, 0)(d, s)
}

func pathAbsolute(d Dialect, s string) fault {
	if s == "" || s[0] != '/' {
		return unless(false, 0)
	}
	if strings.HasPrefix(s, "//") {
		return unless(false, 1)
	}
	return many(inPath, 0)(d, s)
}

func pathRootless(d Dialect, s string) fault {
	if s == "" || s[0] == '/' {
		return unless(false, 0)
	}
	return many(inPath, 0)(d, s)
}

func pathNoScheme(d Dialect, s string) fault {
	first, _, _ := strings.Cut(s, "/")
	if f := segment(1, ":")(d, first); f.code != 0 {
		return f
	}
	return many(inPath, 0)(d, s)
}

func absPath(d Dialect, s string) fault {
	if s == "" {
		return unless(false, 0)
	}
	return pathAbEmpty(d, s)
}

// absPath1997 checks abs_path = "/" rel_path, which has a query.
func absPath1997(d Dialect, s string) fault {
	if s == "" || s[0] != '/' {
		return unless(false, 0)
	}
	return relativeURL(d, s)
}

// relativeURL checks relativeURL and rel_path of 1997, which match the same
// strings: those that may follow a scheme.
func relativeURL(d Dialect, s string) fault { return many(inQuery, 0)(d, s) }

func relPath2003(d Dialect, s string) fault { return pathNoScheme(d, s) }

func path2003(d Dialect, s string) fault {
	if s == "" || s[0] == '/' {
		return pathAbEmpty(d, s)
	}
	return opaquePart(d, s)
}

func opaquePart(d Dialect, s string) fault {
	if s == "" || s[0] == '/' {
		return unless(false, 0)
	}
	return many(inQuery|inOpaque, 1)(d, s)
}

func uric(except string) func(Dialect, string) fault { return oneChar(inQuery|inOpaque, except) }

// hierPart2003 checks [ net-path / abs-path ] [ "?" query ].
func hierPart2003(d Dialect, s string) fault {
	if s != "" && s[0] != '/' && s[0] != '?' {
		return unless(false, 0)
	}
	u, f := afterColon(d, s)
	if f.code != 0 {
		return f
	}
	if n := strings.IndexAny(s[int(u.query)-2:], "[]"); n >= 0 { // x:?[ is opaque
		return unless(false, int(u.query)-2+n)
	}
	return fault{}
}

// netPath checks "//" authority [ abs-path ]. In 1997 the authority must be a
// site.
func netPath(d Dialect, s string) fault {
	if !strings.HasPrefix(s, "//") {
		return unless(false, 0)
	}
	end := len(s)
	if n := strings.IndexAny(s[2:], "/?#"); n >= 0 {
		end = n + 2
	}
	check := authority
	if d == Draft1997 {
		check = server
	}
	if f := check(d, s[2:end]); f.code != 0 {
		f.off += 2
		return f
	}
	rest := absPath
	if d == Draft1997 {
		rest = absPath1997
	}
	if end == len(s) {
		return fault{}
	}
	f := rest(d, s[end:])
	f.off += uint32(end)
	return f
}

// Authorities.

func schemeName(d Dialect, s string) fault {
	n := schemeEnd(&grammars[d], &classes[d], s)
	return unless(n > 0 && n == len(s), n)
}

func authority(d Dialect, s string) fault {
	var u URI
	end, f := parseAuthority(&grammars[d], &classes[d], &u, s, 0)
	if f.code == 0 && end < len(s) {
		return unless(false, end)
	}
	return f
}

func server(d Dialect, s string) fault {
	if n := strings.IndexAny(s, "/?#"); n >= 0 {
		return unless(false, n)
	}
	var u URI
	f := parseServer(&grammars[d], &classes[d], &u, s, 0, len(s))
	if i := strings.IndexByte(s, ':'); d == Draft1997 && f.code == 0 && i < int(u.host) {
		if n := strings.IndexByte(s[i+1:max(i+1, int(u.host))], ':'); n >= 0 { // u:p:q@h
			return unless(false, i+1+n)
		}
	}
	return f
}

func hostport(d Dialect, s string) fault {
	g, t := &grammars[d], &classes[d]
	if n := strings.IndexAny(s, "/?#@"); n >= 0 {
		return unless(false, n)
	}
	end, _, f := parseHost(g, t, s, 0)
	if f.code != 0 {
		return f
	}
	return checkPort(g, s, end)
}

func host(d Dialect, s string) fault {
	end, _, f := parseHost(&grammars[d], &classes[d], s, 0)
	if f.code == 0 && end < len(s) {
		return unless(false, end)
	}
	return f
}

func hostname(d Dialect, s string) fault {
	g := &grammars[d]
	if g.domainHosts {
		at := badLabel(g, s)
		return unless(at < 0, at)
	}
	if s == "" || !isLetter(s[0]) {
		return unless(false, 0)
	}
	return many(inHost, 1)(d, s)
}

// qualified checks *( "." domainlabel ) [ "." toplabel "." ] of 2003.
func qualified(d Dialect, s string) fault {
	f := hostname(d, "a"+s)
	f.off -= min(f.off, 1)
	if s != "" && s[0] != '.' {
		return unless(false, 0)
	}
	return f
}

// label checks a label that begins with a character of a set. It has at most
// longest characters; 0 means no limit.
func label(first func(Dialect, byte) bool, longest int) func(Dialect, string) fault {
	return func(d Dialect, s string) fault {
		if s == "" || !first(d, s[0]) {
			return unless(false, 0)
		}
		n := labelLen(s)
		if n < len(s) || s[n-1] == '-' {
			return unless(false, n)
		}
		return unless(longest == 0 || n <= longest, longest)
	}
}

func literal(d Dialect, s string) fault {
	if s == "" || s[0] != '[' {
		return unless(false, 0)
	}
	return host(d, s)
}

func future(d Dialect, s string) fault { return unless(isIPvFuture(&classes[d], s), 0) }

// Forms of 1993.

func partial(d Dialect, s string) fault { return relativeURI(d, s) }

func generic(d Dialect, s string) fault {
	f := absoluteURI(d, s)
	if n := strings.IndexByte(s, ':'); f.code == 0 && strings.HasPrefix(s[n+1:], "//") {
		return unless(false, n+2)
	}
	return f
}

// addressOf checks the form of a scheme with a host part. The document spells the
// schemes in lower case; like literals in later grammars they are
// case-insensitive.
func addressOf(scheme string) func(Dialect, string) fault {
	return func(d Dialect, s string) fault {
		if f := absoluteURI(d, s); f.code != 0 {
			return f
		}
		n := strings.IndexByte(s, ':')
		if !equalFold(s[:n], scheme) {
			return unless(false, 0)
		}
		return unless(strings.HasPrefix(s[n+1:], "//"), n+1)
	}
}

func telnetAddress(d Dialect, s string) fault {
	f := fault{}
	for _, scheme := range []string{"telnet", "rlogin", "tn3270"} {
		if f = addressOf(scheme)(d, s); f.code == 0 {
			break
		}
	}
	return f
}

func waisIndex(d Dialect, s string) fault { return waisSlashes(d, s, true) }

func waisDoc(d Dialect, s string) fault { return waisSlashes(d, s, false) }

// waisSlashes distinguishes an index, whose path has one slash, from a document.
func waisSlashes(d Dialect, s string, index bool) fault {
	if f := addressOf("wais")(d, s); f.code != 0 {
		return f
	}
	u, _ := parse(d, s)
	return unless(strings.Count(u.Path(), "/") == 1 == index, int(u.path))
}

func newsAddress(d Dialect, s string) fault {
	const prefix = "news:"
	if len(s) < len(prefix) || !equalFold(s[:len(prefix)], prefix) {
		return unless(false, 0)
	}
	f := groupart(d, s[len(prefix):])
	f.off += uint32(len(prefix))
	return f
}

// groupart checks "*" | group | article.
func groupart(d Dialect, s string) fault {
	if s == "*" {
		return fault{}
	}
	if f := ialpha(d, s); f.code == 0 {
		return f
	}
	return article(d, s)
}

func article(d Dialect, s string) fault {
	n := strings.LastIndexByte(s, '@')
	if n < 0 {
		return unless(false, len(s))
	}
	if f := many(inFrag, 1)(d, s[:n]); f.code != 0 {
		return f
	}
	f := host(d, s[n+1:])
	f.off += uint32(n + 1)
	return f
}

func ialpha(d Dialect, s string) fault {
	if s == "" || !isLetter(s[0]) {
		return unless(false, 0)
	}
	return many(inFrag, 1)(d, s)
}

func hsoname(d Dialect, s string) fault {
	if n := strings.Index(s, "%00"); n >= 0 {
		return unless(false, n)
	}
	return many(inPath, 0)(d, s)
}

func search(d Dialect, s string) fault {
	if i := span(&classes[d], s, 0, inQuery); i < len(s) {
		return badRun(s, i)
	}
	u := URI{s: "?" + s, frag: uint32(len(s) + 1)}
	f := checkSearch(&u)
	f.off -= min(f.off, 1)
	return f
}
