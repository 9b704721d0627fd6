package scheme

import (
	"strings"
	"time"

	"github.com/nomen-project/nomen/uri"
)

// Mail access: imap and pop.

var imap = Scheme{
	Name: "imap", Title: "Internet Message Access Protocol", Kind: KindLocator,
	Reference:   "RFC 5092",
	Example:     "imap://fred@example.com/INBOX;UIDVALIDITY=785799047/;UID=113330/;SECTION=1.5.9",
	Note:        "a server, a mailbox, a search in it, a message, or a part of one; ;AUTH=* lets the client choose the mechanism; a password is never written",
	Security:    "an authorised locator (URLAUTH) gives anyone who has it access to the message",
	DefaultPort: "143", Transport: "tcp", Hierarchical: true, RootPath: true,
	Special: []Special{
		{uri.ComponentUserinfo, ";", "precedes AUTH=, the authentication mechanism"},
		{uri.ComponentPath, ";", "precedes UIDVALIDITY, UID, SECTION, PARTIAL, EXPIRE and URLAUTH"},
	},
	Retrieval: "log in, select the mailbox, and fetch the requested message, section or octets",
	Rules:     RuleSet{Check: withFragment(checkIMAP, ruleIMAP), Parts: partsIMAP},
}

var pop = Scheme{
	Name: "pop", Title: "Post Office Protocol v3", Kind: KindLocator,
	Reference:   "RFC 2384",
	Example:     "pop://rg;AUTH=+APOP@mail.example.com:8110",
	Note:        "a mailbox, not a single message; a password is never written",
	Security:    "makes the client log in to a server chosen by the author of the link",
	DefaultPort: "110", Transport: "tcp",
	Special:   []Special{{uri.ComponentUserinfo, ";", "precedes AUTH=, the authentication mechanism"}},
	Retrieval: "log in at the server, and list the messages",
	Rules:     RuleSet{Check: withFragment(checkPOP, rulePOP), Parts: partsPOP},
}

// The grammar rules of IMAP and POP URLs.
const (
	ruleIMAP     = "RFC 5092, 11: imapurl"
	ruleIMAPUser = "RFC 5092, 11: iuserinfo"
	ruleIMAPPart = "RFC 5092, 11: imessagepart"
	ruleIMAPAuth = "RFC 5092, 11: iurlauth"
	rulePOP      = "RFC 2384, ABNF: popurl"
	rulePOPUser  = "RFC 2384, ABNF: user-auth"
)

// mailUser returns the end of the user name and the start of the mechanism, -1
// if there is none.
func (l *layout) mailUser() (end, mechanism int) {
	end = until(l.s, l.user, l.userEnd, ';')
	const key = ";auth="
	if at := end + len(key); at <= l.userEnd && equalFold(l.s[end:at], key) {
		return end, at
	}
	return end, -1
}

// checkMailUser checks a user and a mechanism.
//
//	iuserinfo = enc-user [iauth] / [enc-user] iauth
//	iauth     = ";AUTH=" ( "*" / enc-auth-type )
func (l *layout) checkMailUser(rule string) []Finding {
	if l.user < 0 {
		return nil
	}
	end, mechanism := l.mailUser()
	switch colon := until(l.s, l.user, l.userEnd, ':'); {
	case colon < l.userEnd:
		f := broken(colon, l.userEnd, rule, "a password is not allowed; the mechanism asks for it")
		f.Code = CodeCredentials
		return []Finding{f}
	case mechanism < 0 && end < l.userEnd:
		return refuse(end, l.userEnd, rule, "only ;AUTH= and a mechanism may follow the user")
	case mechanism == l.userEnd:
		return refuse(mechanism, mechanism, rule, "missing mechanism")
	case mechanism < 0 && end == l.user:
		return refuse(l.user, l.userEnd+1, rule, "missing user")
	}
	return nil
}

// mailUserParts adds the user and the mechanism.
func (t *taker) mailUserParts() {
	if t.user < 0 {
		return
	}
	end, mechanism := t.mailUser()
	if end > t.user || mechanism < 0 {
		t.data("user", t.user, end)
	}
	if mechanism >= 0 {
		t.data("auth", mechanism, t.userEnd)
	}
}

// imapSteps lists the fields that may follow a mailbox, in order, and whether a
// slash precedes their semicolon.
var imapSteps = [...]struct {
	name  string
	slash bool
}{{"uidvalidity", false}, {"uid", true}, {"section", true}, {"partial", true}, {"expire", false}, {"urlauth", false}}

// imapMailbox returns the end of the mailbox, and the offset of the first
// semicolon or the end of the path.
func (l *layout) imapMailbox() (end, semicolon int) {
	from := min(l.path+1, l.pathEnd)
	semicolon = until(l.s, from, l.pathEnd, ';')
	end = semicolon
	if semicolon < l.pathEnd && end > from && l.s[end-1] == '/' {
		end--
	}
	return end, semicolon
}

// imapValue returns the value of a field, without the slash that belongs to the
// next field.
func (l *layout) imapValue(f field) field {
	if f.end < l.pathEnd && f.end > max(f.value, f.name) && l.s[f.end-1] == '/' {
		f.end--
	}
	f.nameEnd = min(f.nameEnd, f.end)
	return f
}

// imapStep returns the index of a field in imapSteps, or len(imapSteps) if it
// is unknown.
func (l *layout) imapStep(f field) int {
	for i := range imapSteps {
		if f.is(l.s, imapSteps[i].name) {
			return i
		}
	}
	return len(imapSteps)
}

// checkIMAP checks an IMAP URL.
//
//	imapurl      = "imap://" iserver ipath-query
//	ipath-query  = ["/" [ icommand ]]
//	icommand     = imessagelist / imessagepart [iurlauth]
//	imessagelist = imailbox-ref [ "?" enc-search ]
//	imessagepart = imailbox-ref iuid [isection] [ipartial]
func checkIMAP(u uri.URI) []Finding {
	l := layoutOf(u)
	if bad := l.needServer(ruleIMAP); bad != nil {
		return bad
	}
	if bad := l.checkMailUser(ruleIMAPUser); bad != nil {
		return bad
	}
	if at := l.imapControl(); at >= 0 {
		rule := "RFC 5092, 11: enc-mailbox"
		if l.query >= 0 && at >= l.query {
			rule = "RFC 5092, 11: enc-search"
		}
		return refuseControl(at, rule, "IMAP")
	}
	end, semicolon := l.imapMailbox()
	if l.path+1 < l.pathEnd && end <= l.path+1 {
		return refuse(l.path+1, end, "RFC 5092, 11: enc-mailbox", "missing mailbox")
	}
	steps, bad := l.checkIMAPSteps(semicolon)
	switch {
	case bad != nil:
		return bad
	case l.query < 0:
	case l.query == l.queryEnd || end <= l.path+1:
		return refuse(l.query-1, l.queryEnd, "RFC 5092, 11: imessagelist", "a search needs a mailbox and a search term")
	case steps&^1 != 0:
		return refuse(l.query-1, l.queryEnd, "RFC 5092, 11: imessagelist", "a search cannot be combined with a message")
	}
	return nil
}

// imapControl returns the offset of the first percent-encoded control character
// in s[from:to], or -1. It ignores the line break after the length of a literal
// ({14+}CRLF) in a search (RFC 5092, 10).
func (l *layout) imapControl() int {
	for from := l.rest; ; {
		at := escapedControl(l.s, from, l.end())
		if at < 0 || l.query < 0 || at < l.query || !isLiteralEnd(l.s[l.query:at], l.s[at:l.end()]) {
			return at
		}
		from = at + len("%0D%0A")
	}
}

// isLiteralEnd reports whether before ends with the length of a literal and
// after begins with a line break.
func isLiteralEnd(before, after string) bool {
	text, braced := cutSuffixFold(before, "%7D")
	text = strings.TrimSuffix(text, "+")
	open := strings.TrimRight(text, "0123456789")
	_, opened := cutSuffixFold(open, "%7B")
	_, ends := cutPrefixFold(after, "%0D%0A")
	return braced && opened && ends && len(open) < len(text)
}

// cutSuffixFold is like strings.CutSuffix and ignores case.
func cutSuffixFold(s, suffix string) (string, bool) {
	n := len(s) - len(suffix)
	if n < 0 || !equalFold(s[n:], suffix) {
		return s, false
	}
	return s[:n], true
}

// checkIMAPSteps checks the fields after the mailbox. It returns the set of
// those present, one bit for each element of imapSteps.
func (l *layout) checkIMAPSteps(semicolon int) (seen int, bad []Finding) {
	for at := semicolon + 1; at <= l.pathEnd; {
		raw := nextField(l.s, at, l.pathEnd, ';')
		f := l.imapValue(raw)
		step := l.imapStep(f)
		switch {
		case step == len(imapSteps):
			return seen, refuse(f.name, f.end, ruleIMAPPart, "only UIDVALIDITY, UID, SECTION, PARTIAL, EXPIRE and URLAUTH may follow")
		case seen>>step != 0:
			return seen, refuse(f.name, f.end, ruleIMAPPart, "the fields must be in the order UIDVALIDITY, UID, SECTION, PARTIAL, EXPIRE, URLAUTH, each at most once")
		case imapSteps[step].slash != (l.s[at-2] == '/'):
			return seen, refuse(at-1, f.nameEnd, ruleIMAPPart, "a slash must precede UID, SECTION and PARTIAL, and no other field")
		case f.empty():
			return seen, refuse(f.name, f.end, ruleIMAPPart, "missing value")
		case step > 1 && seen&2 == 0:
			return seen, refuse(f.name, f.end, ruleIMAPPart, "needs a UID before it")
		case step == 5 && raw.end < l.pathEnd:
			return seen, refuse(raw.end, l.pathEnd, ruleIMAPAuth, "unexpected text after the token")
		}
		if message := checkIMAPValue(step, l.s[f.value:f.end]); message != "" {
			return seen, refuse(f.value, f.end, ruleIMAPPart, message)
		}
		seen |= 1 << step
		at = raw.end + 1
	}
	if seen&(1<<4) != 0 && seen&(1<<5) == 0 {
		return seen, refuse(l.pathEnd, l.pathEnd, ruleIMAPAuth, "URLAUTH must follow EXPIRE")
	}
	return seen, nil
}

// checkIMAPValue returns a message if the value is invalid, or "".
//
//	uidvalidity   = ";UIDVALIDITY=" nz-number
//	partial-range = number ["." nz-number]
//	expire        = ";EXPIRE=" date-time
//	iurlauth      = [expire] ";URLAUTH=" access ":" uauth-mechanism ":" enc-urlauth
func checkIMAPValue(step int, value string) string {
	switch step {
	case 0, 1:
		if !isNumber(value, 1) || value[0] == '0' {
			return "must be a number greater than zero and less than 2^32"
		}
	case 3:
		from, size, sized := strings.Cut(value, ".")
		if !isNumber(from, 0) || sized && !isNumber(size, 1) {
			return "a range must be an offset, optionally followed by a dot and a number of octets"
		}
	case 4:
		if _, err := time.Parse(time.RFC3339, strings.ToUpper(value)); err != nil {
			return "the expiry must be a date and time, such as 2026-11-30T12:00:00Z"
		}
	case 5:
		return checkIMAPAuth(value)
	}
	return ""
}

// checkIMAPAuth returns a message if the authorisation is invalid, or "".
//
//	access      = ("submit+" enc-user) / ("user+" enc-user) / "authuser" / "anonymous"
//	enc-urlauth = 32*HEXDIG
func checkIMAPAuth(value string) string {
	const least = 32
	access, rest, _ := strings.Cut(value, ":")
	mechanism, token, ok := strings.Cut(rest, ":")
	who, user, plus := strings.Cut(access, "+")
	switch {
	case plus && user != "" && (equalFold(who, "submit") || equalFold(who, "user")):
	case equalFold(access, "authuser"), equalFold(access, "anonymous"):
	default:
		return "the access must be submit+user, user+user, authuser or anonymous"
	}
	switch {
	case !ok || mechanism == "":
		return "a mechanism and a token must follow, each after a colon"
	case len(token) < least || !all(token, isHex):
		return "the token must be at least 32 hexadecimal digits"
	}
	return ""
}

func partsIMAP(dst []Part, u uri.URI) []Part {
	t := take(dst, u)
	t.mailUserParts()
	t.server()
	from := min(t.path+1, t.pathEnd)
	end, semicolon := t.imapMailbox()
	if from < t.pathEnd {
		t.data("mailbox", from, max(from, end))
	}
	for at := semicolon + 1; at <= t.pathEnd; {
		raw := nextField(t.s, at, t.pathEnd, ';')
		f := t.imapValue(raw)
		name := "field"
		if step := t.imapStep(f); step < len(imapSteps) {
			name = imapSteps[step].name
		}
		t.data(name, max(f.value, min(f.nameEnd, f.end)), f.end)
		at = raw.end + 1
	}
	if t.query >= 0 {
		t.data("search", t.query, t.queryEnd)
	}
	t.fragment()
	return t.parts
}

// checkPOP checks a POP URL.
//
//	popurl = "pop://" [user-auth "@"] hostport
func checkPOP(u uri.URI) []Finding {
	l := layoutOf(u)
	if bad := l.needServer(rulePOP); bad != nil {
		return bad
	}
	if bad := l.checkMailUser(rulePOPUser); bad != nil {
		return bad
	}
	if bad := l.refuseControls("RFC 1939, 3: arguments", "POP"); bad != nil {
		return bad
	}
	switch {
	case l.query >= 0:
		return refuse(l.query-1, l.queryEnd, rulePOP, "queries are not allowed")
	case l.pathText() == "/":
		return []Finding{instead(remark(CodeForm, l.path, l.pathEnd, rulePOP, "the slash must be omitted"), "")}
	case l.hasPath():
		return refuse(l.path, l.pathEnd, rulePOP, "a mailbox has no path")
	}
	return nil
}

func partsPOP(dst []Part, u uri.URI) []Part {
	t := take(dst, u)
	t.mailUserParts()
	t.server()
	t.fragment()
	return t.parts
}
