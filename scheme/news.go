package scheme

import (
	"strings"

	"github.com/nomen-project/nomen/uri"
)

var news = Scheme{
	Name: "news", Title: "USENET news", Kind: KindName,
	Reference: "RFC 5538, 4; 1993, News",
	Example:   "news:abc123@news.example.org",
	Note: "identifies a group or an article on any news server; an @ indicates an article; " +
		"an expired article cannot be found by its identifier",
	Security:    "a forged article can carry the identifier of another",
	DefaultPort: "119", Transport: "tcp",
	Special: []Special{
		{uri.ComponentPath, "@", "distinguishes a message identifier from a group"},
		{uri.ComponentPath, "*", "matches any groups"},
	},
	Retrieval:  "ask the news server in the locator, or the configured one, for the group or article",
	Properties: "group names are global, article identifiers are never reused; neither locates anything",
	Rules:      RuleSet{Check: checkNews, Parts: partsNews, Build: buildNews, Canonical: canonicalNews},
}

var snews = Scheme{
	Name: "snews", Title: "NNTP over SSL/TLS", Kind: KindName,
	Reference:   "RFC 5538, 8.1",
	Example:     "snews://news.example.org/example.group",
	Note:        "obsolete: use news with a server that supports TLS",
	DefaultPort: "563", Transport: "tcp",
	Retrieval:  "as for news, over TLS",
	Properties: news.Properties,
	Rules:      RuleSet{Check: checkNews, Parts: partsNews, Canonical: canonicalNews},
}

var nntp = Scheme{
	Name: "nntp", Title: "USENET news using NNTP access", Kind: KindLocator,
	Reference:   "RFC 5538, 3; RFC 1738, 3.7",
	Example:     "nntp://news.example.org/example.group/12345",
	Note:        "the number is specific to one server; in 1993 a message identifier could replace it, without grammar",
	DefaultPort: "119", Transport: "tcp",
	Special:   []Special{{uri.ComponentPath, "/", "separates the group and the number"}},
	Retrieval: "ask the server for the group, and for the article with the number",
	Rules:     RuleSet{Check: checkNNTP, Parts: partsNNTP},
}

// The grammar rules of news.
const (
	ruleNewsAddress = "1993, BNF: newsaddress"
	ruleNewsGroup   = "1993, BNF: group (RFC 850)"
	ruleNewsArticle = "1993, BNF: article (RFC 850)"
	ruleNewsURL     = "RFC 5538, 4: newsURL"
	ruleNewsgroups  = "RFC 5538, 4: newsgroups"
	ruleMsgID       = "RFC 5538, 4: msg-id-core"
	ruleNNTPURL     = "RFC 5538, 3: nntpURL"
	ruleNNTPGroup   = "RFC 5538, 3: group"
	ruleNNTPNumber  = "RFC 5538, 3: article-number"
)

// The kinds of news identifiers.
const (
	newsAll     = "all"
	newsGroup   = "group"
	newsPattern = "pattern" // a pattern of groups; not in 1993
	newsArticle = "article"
)

// newsBody returns the range of the identifier, and its kind.
func (l *layout) newsBody() (from int, kind string) {
	from = l.path
	if l.authority && l.hasPath() {
		from++
	}
	body := l.s[from:l.pathEnd]
	switch {
	case body == "*", !l.is1993() && (equalFold(body, "%2A") || body == "" && l.authority):
		return from, newsAll
	case strings.IndexByte(body, '@') >= 0:
		return from, newsArticle
	case !l.is1993() && (hasOctet(body, '*') || hasOctet(body, '?')):
		return from, newsPattern
	}
	return from, newsGroup
}

// hasOctet reports whether s contains c, as itself or percent-encoded.
func hasOctet(s string, c byte) bool {
	for i := 0; i < len(s); i++ {
		octet := s[i]
		if octet == '%' && i+2 < len(s) {
			octet = unhex(s[i+1])<<4 | unhex(s[i+2])
			i += 2
		}
		if octet == c {
			return true
		}
	}
	return false
}

// checkNews checks a group name or message identifier.
//
//	newsaddress = "news:" groupart                                     (1993)
//	newsURL     = "news:" [ server "/" ] ( article / newsgroups )
func checkNews(u uri.URI) []Finding {
	l := layoutOf(u)
	if l.is1993() {
		return l.checkNews1993()
	}
	from, kind := l.newsBody()
	switch {
	case l.authority && l.host < 0:
		return refuse(l.rest+2, l.path, ruleNewsURL, "the authority must be a host")
	case l.authority && l.host == l.hostEnd:
		return refuse(l.host, l.host, ruleNewsURL, "the host must not be empty")
	case l.authority && !l.hasPath():
		return []Finding{instead(broken(l.path, l.path, ruleNewsURL, "missing slash after the server"), "/")}
	case l.query >= 0 && kind == newsArticle:
		return refuse(l.query-1, l.queryEnd, ruleNewsURL, "queries are not allowed")
	case l.query >= 0:
		return []Finding{instead(broken(l.query-1, l.query, ruleNewsgroups, "a question mark in a pattern must be percent-encoded"), "%3F")}
	case kind == newsArticle:
		return l.checkMessageID(from, l.pathEnd, ruleMsgID)
	}
	return l.checkGroup(from, l.pathEnd, ruleNewsgroups, "*")
}

// checkNews1993 checks a news URI by the draft, which has no servers, and by
// RFC 850.
//
//	groupart = "*" | group | article
//	group    = ialpha [ "." group ]
//	article  = xalphas "@" host
func (l *layout) checkNews1993() []Finding {
	from, kind := l.newsBody()
	switch {
	case l.authority:
		return refuse(l.rest, l.path, ruleNewsAddress, "a host is not allowed: each client uses its own news server")
	case l.query >= 0:
		return refuse(l.query-1, l.queryEnd, ruleNewsAddress, "a search is not allowed")
	case kind == newsAll:
		return nil
	case strings.IndexByte(l.pathText(), '+') >= 0:
		at := until(l.s, from, l.pathEnd, '+')
		return []Finding{instead(broken(at, at+1, "1993, BNF: xalpha", "a plus sign must be percent-encoded"), "%2B")}
	case kind == newsArticle:
		return l.checkMessageID(from, l.pathEnd, ruleNewsArticle)
	case from == l.pathEnd || !isAlpha(l.s[from]):
		return refuse(from, l.pathEnd, ruleNewsGroup, "a group name must begin with a letter")
	}
	return l.checkGroup(from, l.pathEnd, ruleNewsGroup, "")
}

// checkGroup checks the components of a group name, which are separated by
// dots. Some characters beyond the grammar are allowed and produce a remark.
func (l *layout) checkGroup(from, to int, rule, more string) []Finding {
	dot := true
	for i := from; i < to; i++ {
		c := l.s[i]
		switch {
		case c == '.' && dot: // a..b, .a
			return refuse(i, i+1, rule, "empty component in the group name")
		case c == '%':
			if octet := unhex(l.s[i+1])<<4 | unhex(l.s[i+2]); octet <= ' ' || octet == 0x7F || octet == ',' || octet == '!' && more == "" {
				f := broken(i, i+3, rule, "character not allowed in a group name")
				f.Code = CodeInjection
				return []Finding{f}
			}
			i += 2
		case isAlnum(c), strings.IndexByte("-+_.", c) >= 0, strings.IndexByte(more, c) >= 0:
		default:
			return refuse(i, i+1, rule, "group names should consist of letters, digits, - + _ and dots")
		}
		dot = c == '.'
	}
	if dot && from < to { // a.
		return refuse(to-1, to, rule, "empty component in the group name")
	}
	return nil
}

// maxMessageID is the maximum length of an identifier including angle brackets
// (RFC 5536, 3.1.3).
const maxMessageID = 250 - 2

// checkMessageID checks the part of a Message-ID between the angle brackets.
//
//	msg-id-core = id-left "@" id-right
func (l *layout) checkMessageID(from, to int, rule string) []Finding {
	at, size := -1, 0
	for i := from; i < to; i++ {
		start, c := i, l.s[i]
		if c == '%' {
			c = unhex(l.s[i+1])<<4 | unhex(l.s[i+2])
			i += 2
		}
		size++
		switch {
		case c == '@':
			if at >= 0 {
				return refuse(start, i+1, rule, "unexpected second @")
			}
			at = start
			if start == from {
				return refuse(start, i+1, rule, "missing text before the @")
			}
		case c <= ' ' || c == 0x7F:
			f := broken(start, i+1, rule, "white space and control characters are not allowed in an identifier")
			f.Code = CodeInjection
			return []Finding{f}
		case c == '<' || c == '>':
			return []Finding{instead(broken(start, i+1, rule, "angle brackets around an identifier must be omitted"), "")}
		case c >= 0x80, strings.IndexByte(`()\,;:"`, c) >= 0:
			return refuse(start, i+1, rule, "character not allowed in an identifier")
		}
	}
	switch {
	case at < 0:
		return refuse(to, to, rule, "missing @")
	case l.s[to-1] == '@' || strings.EqualFold(l.s[max(to-3, 0):to], "%40"):
		return refuse(to, to, rule, "missing text after the @")
	case size > maxMessageID:
		return []Finding{warn(CodeValue, from, to, "RFC 5536, 3.1.3", "longer than 250 octets including the angle brackets")}
	}
	return nil
}

func partsNews(dst []Part, u uri.URI) []Part {
	t := take(dst, u)
	t.login()
	t.server()
	from, kind := t.newsBody()
	t.supply("kind", kind)
	switch kind {
	case newsGroup:
		t.data("group", from, t.pathEnd)
	case newsPattern:
		t.data("pattern", from, t.pathEnd)
	case newsArticle:
		t.data("message_id", from, t.pathEnd)
	}
	return t.parts
}

// canonicalNews writes the asterisk that may be omitted after a server, or
// percent-encoded, as an asterisk (RFC 5538, 4).
func canonicalNews(u uri.URI) string {
	l := layoutOf(u)
	from, kind := l.newsBody()
	if kind != newsAll || l.s[from:l.pathEnd] == "*" {
		return l.s
	}
	return l.s[:from] + "*" + l.s[l.pathEnd:]
}

func buildNews(d uri.Dialect, parts []Part) (string, error) {
	w := &builder{d: d, parts: parts}
	w.write("news:")
	if _, ok := Get(parts, "host"); ok {
		w.server("119")
		w.write("/")
	}
	for _, name := range [...]string{"group", "pattern", "message_id"} {
		if value, ok := Get(parts, name); ok {
			w.write(value)
			return w.text()
		}
	}
	w.write("*")
	return w.text()
}

// nntpBody returns the end of the group and the start of the number, -1 if
// there is none.
func (l *layout) nntpBody() (groupEnd, number int) {
	from := min(l.path+1, l.pathEnd)
	groupEnd = until(l.s, from, l.pathEnd, '/')
	if groupEnd == l.pathEnd {
		return groupEnd, -1
	}
	return groupEnd, groupEnd + 1
}

// checkNNTP checks a group on a server, and an article number.
//
//	nntpURL        = "nntp:" server "/" group [ "/" article-number ]
//	article-number = 1*16DIGIT
func checkNNTP(u uri.URI) []Finding {
	l := layoutOf(u)
	if bad := l.needServer(ruleNNTPURL); bad != nil {
		return bad
	}
	groupEnd, number := l.nntpBody()
	from := l.path + 1
	switch {
	case l.query >= 0:
		return refuse(l.query-1, l.queryEnd, ruleNNTPURL, "queries are not allowed")
	case groupEnd <= from:
		return refuse(l.path, l.pathEnd, ruleNNTPGroup, "missing group name")
	}
	if l.is1993() && strings.IndexByte(l.s[from:groupEnd], '@') >= 0 {
		if bad := l.checkMessageID(from, l.pathEnd, ruleNewsArticle); bad != nil {
			return bad
		}
		return []Finding{remark(CodeUndefined, 0, l.rest-1, "1993, Current practice", "the draft mentions article identifiers here but defines no grammar for them")}
	}
	if bad := l.checkGroup(from, groupEnd, ruleNNTPGroup, ""); bad != nil {
		return bad
	}
	if number < 0 {
		return []Finding{instead(remark(CodeForm, 0, l.rest-1, ruleNNTPURL, "the scheme news is recommended for a group on a server"), "news")}
	}
	if n := l.s[number:l.pathEnd]; !all(n, isDigit) || len(n) > 16 {
		return refuse(number, l.pathEnd, ruleNNTPNumber, "an article number must have 1 to 16 digits")
	}
	return nil
}

func partsNNTP(dst []Part, u uri.URI) []Part {
	t := take(dst, u)
	t.login()
	t.server()
	if !t.isRooted() {
		return t.parts
	}
	end, number := t.nntpBody()
	name := "group"
	if t.is1993() && strings.IndexByte(t.s[t.path+1:end], '@') >= 0 {
		name = "message_id"
	}
	t.data(name, t.path+1, end)
	if number >= 0 {
		t.part("number", number, t.pathEnd)
	}
	return t.parts
}
