package scheme

import (
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/scheme/internal/layout"
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
	Note:        "the number is specific to one server; in the draft of 1993 a message identifier could replace it, without grammar",
	DefaultPort: "119", Transport: "tcp",
	Special:   []Special{{uri.ComponentPath, "/", "separates the group and the number"}},
	Retrieval: "ask the server for the group, and for the article with the number",
	Rules:     RuleSet{Check: checkNNTP, Parts: partsNNTP},
}

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

// The kinds of identifiers in news URIs.
const (
	newsAll     = "all"
	newsGroup   = "group"
	newsPattern = "pattern" // a pattern that matches several groups; not in the draft of 1993
	newsArticle = "article"
)

func newsBody(l *layout.Layout) (from int, kind string) {
	from = l.Path
	if l.Authority && l.HasPath() {
		from++
	}
	body := l.Text[from:l.PathEnd]
	switch {
	case body == "*", !l.Is1993() && (ascii.EqualFold(body, "%2A") || body == "" && l.Authority):
		return from, newsAll
	case strings.IndexByte(body, '@') >= 0:
		return from, newsArticle
	case !l.Is1993() && (hasOctet(body, '*') || hasOctet(body, '?')):
		return from, newsPattern
	}
	return from, newsGroup
}

// hasOctet reports whether s contains c, percent-encoded or not.
func hasOctet(s string, c byte) bool {
	for i := 0; i < len(s); i++ {
		octet := s[i]
		if octet == '%' && i+2 < len(s) {
			octet = ascii.Unhex(s[i+1])<<4 | ascii.Unhex(s[i+2])
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
	l := layout.Of(u)
	if l.Is1993() {
		return checkNews1993(&l)
	}
	from, kind := newsBody(&l)
	switch {
	case l.Authority && l.Host < 0:
		return layout.Refuse(l.Rest+2, l.Path, ruleNewsURL, "the authority must be a host")
	case l.Authority && l.Host == l.HostEnd:
		return layout.Refuse(l.Host, l.Host, ruleNewsURL, "the host must not be empty")
	case l.Authority && !l.HasPath():
		return []Finding{layout.Instead(layout.Broken(l.Path, l.Path, ruleNewsURL, "missing slash after the server"), "/")}
	case l.Query >= 0 && kind == newsArticle:
		return layout.Refuse(l.Query-1, l.QueryEnd, ruleNewsURL, "queries are not allowed")
	case l.Query >= 0:
		return []Finding{layout.Instead(layout.Broken(l.Query-1, l.Query, ruleNewsgroups, "a question mark in a pattern must be percent-encoded"), "%3F")}
	case kind == newsArticle:
		return checkMessageID(&l, from, l.PathEnd, ruleMsgID)
	}
	return checkGroup(&l, from, l.PathEnd, ruleNewsgroups, "*")
}

// checkNews1993 checks a news URI by RFC 850 and by the draft of 1993, in which the URI has no
// server.
//
//	groupart = "*" | group | article
//	group    = ialpha [ "." group ]
//	article  = xalphas "@" host
func checkNews1993(l *layout.Layout) []Finding {
	from, kind := newsBody(l)
	switch {
	case l.Authority:
		return layout.Refuse(l.Rest, l.Path, ruleNewsAddress, "a host is not allowed: each client uses its own news server")
	case l.Query >= 0:
		return layout.Refuse(l.Query-1, l.QueryEnd, ruleNewsAddress, "a search is not allowed")
	case kind == newsAll:
		return nil
	case strings.IndexByte(l.PathText(), '+') >= 0:
		at := ascii.Until(l.Text, from, l.PathEnd, '+')
		return []Finding{layout.Instead(layout.Broken(at, at+1, "1993, BNF: xalpha", "a plus sign must be percent-encoded"), "%2B")}
	case kind == newsArticle:
		return checkMessageID(l, from, l.PathEnd, ruleNewsArticle)
	case from == l.PathEnd || !ascii.IsLetter(l.Text[from]):
		return layout.Refuse(from, l.PathEnd, ruleNewsGroup, "a group name must begin with a letter")
	}
	return checkGroup(l, from, l.PathEnd, ruleNewsGroup, "")
}

// checkGroup checks the components of a group name, which dots separate. A component consists of
// letters, digits, "-", "+", "_" and the characters in allowed.
func checkGroup(l *layout.Layout, from, to int, rule, allowed string) []Finding {
	dot := true
	for i := from; i < to; i++ {
		c := l.Text[i]
		switch {
		case c == '.' && dot: // a..b, .a
			return layout.Refuse(i, i+1, rule, "empty component in the group name")
		case c == '%':
			if octet := ascii.Unhex(l.Text[i+1])<<4 | ascii.Unhex(l.Text[i+2]); octet <= ' ' || octet == 0x7F || octet == ',' || octet == '!' && allowed == "" {
				return layout.RefuseAs(CodeInjection, i, i+3, rule, "character not allowed in a group name")
			}
			i += 2
		case ascii.IsAlnum(c), strings.IndexByte("-+_.", c) >= 0, strings.IndexByte(allowed, c) >= 0:
		default:
			return layout.Refuse(i, i+1, rule, "group names should consist of letters, digits, - + _ and dots")
		}
		dot = c == '.'
	}
	if dot && from < to {
		return layout.Refuse(to-1, to, rule, "empty component in the group name")
	}
	return nil
}

// maxMessageID is the maximum length of a Message-ID without its angle brackets. RFC 5536, section
// 3.1.3 limits the length with the brackets to 250 characters.
const maxMessageID = 250 - 2

// checkMessageID checks a Message-ID without its angle brackets.
//
//	msg-id-core = id-left "@" id-right
func checkMessageID(l *layout.Layout, from, to int, rule string) []Finding {
	at, size := -1, 0
	for i := from; i < to; i++ {
		start, c := i, l.Text[i]
		if c == '%' {
			c = ascii.Unhex(l.Text[i+1])<<4 | ascii.Unhex(l.Text[i+2])
			i += 2
		}
		size++
		switch {
		case c == '@':
			if at >= 0 {
				return layout.Refuse(start, i+1, rule, "unexpected second @")
			}
			at = start
			if start == from {
				return layout.Refuse(start, i+1, rule, "missing text before the @")
			}
		case c <= ' ' || c == 0x7F:
			return layout.RefuseAs(CodeInjection, start, i+1, rule, "white space and control characters are not allowed in an identifier")
		case c == '<' || c == '>':
			return []Finding{layout.Instead(layout.Broken(start, i+1, rule, "angle brackets around an identifier must be omitted"), "")}
		case c >= 0x80, strings.IndexByte(`()\,;:"`, c) >= 0:
			return layout.Refuse(start, i+1, rule, "character not allowed in an identifier")
		}
	}
	switch {
	case at < 0:
		return layout.Refuse(to, to, rule, "missing @")
	case l.Text[to-1] == '@' || strings.EqualFold(l.Text[max(to-3, 0):to], "%40"):
		return layout.Refuse(to, to, rule, "missing text after the @")
	case size > maxMessageID:
		return []Finding{layout.Warn(CodeValue, from, to, "RFC 5536, 3.1.3", "longer than 250 octets including the angle brackets")}
	}
	return nil
}

func partsNews(dst []Part, u uri.URI) []Part {
	t := layout.Take(dst, u)
	t.Login()
	t.Server()
	from, kind := newsBody(&t.Layout)
	t.Supply("kind", kind)
	switch kind {
	case newsGroup:
		t.Data("group", from, t.PathEnd)
	case newsPattern:
		t.Data("pattern", from, t.PathEnd)
	case newsArticle:
		t.Data("message_id", from, t.PathEnd)
	}
	return t.Parts
}

// canonicalNews writes an asterisk for all groups. In other spellings the asterisk is
// percent-encoded, or is omitted after a server (RFC 5538, section 4).
func canonicalNews(u uri.URI) string {
	l := layout.Of(u)
	from, kind := newsBody(&l)
	if kind != newsAll || l.Text[from:l.PathEnd] == "*" {
		return l.Text
	}
	return l.Text[:from] + "*" + l.Text[l.PathEnd:]
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

func nntpBody(l *layout.Layout) (groupEnd, number int) {
	from := min(l.Path+1, l.PathEnd)
	groupEnd = ascii.Until(l.Text, from, l.PathEnd, '/')
	if groupEnd == l.PathEnd {
		return groupEnd, -1
	}
	return groupEnd, groupEnd + 1
}

// checkNNTP checks the server, the group and the article number of an nntp URL.
//
//	nntpURL        = "nntp:" server "/" group [ "/" article-number ]
//	article-number = 1*16DIGIT
func checkNNTP(u uri.URI) []Finding {
	l := layout.Of(u)
	if bad := l.NeedServer(ruleNNTPURL); bad != nil {
		return bad
	}
	groupEnd, number := nntpBody(&l)
	from := l.Path + 1
	switch {
	case l.Query >= 0:
		return layout.Refuse(l.Query-1, l.QueryEnd, ruleNNTPURL, "queries are not allowed")
	case groupEnd <= from:
		return layout.Refuse(l.Path, l.PathEnd, ruleNNTPGroup, "missing group name")
	}
	if l.Is1993() && strings.IndexByte(l.Text[from:groupEnd], '@') >= 0 {
		if bad := checkMessageID(&l, from, l.PathEnd, ruleNewsArticle); bad != nil {
			return bad
		}
		return []Finding{layout.Remark(CodeUndefined, 0, l.Rest-1, "1993, Current practice", "the draft mentions article identifiers here but defines no grammar for them")}
	}
	if bad := checkGroup(&l, from, groupEnd, ruleNNTPGroup, ""); bad != nil {
		return bad
	}
	if number < 0 {
		return []Finding{layout.Instead(layout.Remark(CodeForm, 0, l.Rest-1, ruleNNTPURL, "the scheme news is recommended for a group on a server"), "news")}
	}
	if n := l.Text[number:l.PathEnd]; !ascii.All(n, ascii.IsDigit) || len(n) > 16 {
		return layout.Refuse(number, l.PathEnd, ruleNNTPNumber, "an article number must have 1 to 16 digits")
	}
	return nil
}

func partsNNTP(dst []Part, u uri.URI) []Part {
	t := layout.Take(dst, u)
	t.Login()
	t.Server()
	if !t.IsRooted() {
		return t.Parts
	}
	end, number := nntpBody(&t.Layout)
	name := "group"
	if t.Is1993() && strings.IndexByte(t.Text[t.Path+1:end], '@') >= 0 {
		name = "message_id"
	}
	t.Data(name, t.Path+1, end)
	t.Part("number", number, t.PathEnd)
	return t.Parts
}
