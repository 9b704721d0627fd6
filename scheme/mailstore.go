package scheme

import (
	"strings"
	"time"

	"github.com/nomen-project/nomen/uri"
)

// Where mail is kept.

var imap = Scheme{
	Name: "imap", Title: "Internet Message Access Protocol", Kind: KindLocator,
	Reference:   "RFC 5092",
	Example:     "imap://fred@example.com/INBOX;UIDVALIDITY=785799047/;UID=113330/;SECTION=1.5.9",
	Note:        "a server, a mailbox, a search of one, a message, or a part of it; ;AUTH=* lets the client choose how to log in, and a password is never written",
	Security:    "an authorised locator (URLAUTH) gives the message to whoever has it",
	DefaultPort: "143", Transport: "tcp", Hierarchical: true, RootPath: true,
	Special: []Special{
		{uri.ComponentUserinfo, ";", "precedes AUTH=, the mechanism"},
		{uri.ComponentPath, ";", "precedes UIDVALIDITY, UID, SECTION, PARTIAL, EXPIRE and URLAUTH"},
	},
	Retrieval: "log in, select the mailbox, and fetch the message, the section or the octets that are asked for",
	Rules:     RuleSet{Check: withFragment(checkIMAP, ruleIMAP), Parts: partsIMAP},
}

var pop = Scheme{
	Name: "pop", Title: "Post Office Protocol v3", Kind: KindLocator,
	Reference:   "RFC 2384",
	Example:     "pop://rg;AUTH=+APOP@mail.example.com:8110",
	Note:        "a mailbox, and not a message in it; a password is never written",
	Security:    "logs in at a server that whoever made the link has chosen",
	DefaultPort: "110", Transport: "tcp",
	Special:   []Special{{uri.ComponentUserinfo, ";", "precedes AUTH=, the mechanism"}},
	Retrieval: "log in at the server, and list the messages",
	Rules:     RuleSet{Check: withFragment(checkPOP, rulePOP), Parts: partsPOP},
}

// The productions of IMAP and POP URLs.
const (
	ruleIMAP     = "RFC 5092, 11: imapurl"
	ruleIMAPUser = "RFC 5092, 11: iuserinfo"
	ruleIMAPPart = "RFC 5092, 11: imessagepart"
	ruleIMAPAuth = "RFC 5092, 11: iurlauth"
	rulePOP      = "RFC 2384, ABNF: popurl"
	rulePOPUser  = "RFC 2384, ABNF: user-auth"
)

// mailUser returns where the name of the user ends and where the mechanism
// begins, or -1.
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
		f := broken(colon, l.userEnd, rule, "a password is never written: the mechanism asks for it")
		f.Code = CodeCredentials
		return []Finding{f}
	case mechanism < 0 && end < l.userEnd:
		return refuse(end, l.userEnd, rule, "only ;AUTH= and a mechanism may follow the user")
	case mechanism == l.userEnd:
		return refuse(mechanism, mechanism, rule, "the mechanism is missing")
	case mechanism < 0 && end == l.user:
		return refuse(l.user, l.userEnd+1, rule, "the user is missing")
	}
	return nil
}

// mailUserParts takes user and mechanism.
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

// imapSteps are what may follow a mailbox, in order; those with a slash have one
// before their semicolon.
var imapSteps = [...]struct {
	name  string
	slash bool
}{{"uidvalidity", false}, {"uid", true}, {"section", true}, {"partial", true}, {"expire", false}, {"urlauth", false}}

// imapMailbox returns where the mailbox ends, and where the first semicolon is,
// or the end of the path.
func (l *layout) imapMailbox() (end, semicolon int) {
	from := min(l.path+1, l.pathEnd)
	semicolon = until(l.s, from, l.pathEnd, ';')
	end = semicolon
	if semicolon < l.pathEnd && end > from && l.s[end-1] == '/' {
		end--
	}
	return end, semicolon
}

// imapValue returns a field without the slash that belongs to the next one.
func (l *layout) imapValue(f field) field {
	if f.end < l.pathEnd && f.end > max(f.value, f.name) && l.s[f.end-1] == '/' {
		f.end--
	}
	f.nameEnd = min(f.nameEnd, f.end)
	return f
}

// imapStep returns which step a field is, or how many there are.
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
		return refuse(l.path+1, end, "RFC 5092, 11: enc-mailbox", "the mailbox is missing")
	}
	steps, bad := l.checkIMAPSteps(semicolon)
	switch {
	case bad != nil:
		return bad
	case l.query < 0:
	case l.query == l.queryEnd || end <= l.path+1:
		return refuse(l.query-1, l.queryEnd, "RFC 5092, 11: imessagelist", "a search needs a mailbox and something to search for")
	case steps&^1 != 0:
		return refuse(l.query-1, l.queryEnd, "RFC 5092, 11: imessagelist", "a mailbox is searched, a message is not")
	}
	return nil
}

// imapControl returns the offset of the first escape of a control character, but
// for the line end behind the length of a literal in a search ({14+}CRLF), which
// its text follows (RFC 5092, 10); -1 if there is none.
func (l *layout) imapControl() int {
	for from := l.rest; ; {
		at := escapedControl(l.s, from, l.end())
		if at < 0 || l.query < 0 || at < l.query || !isLiteralEnd(l.s[l.query:at], l.s[at:l.end()]) {
			return at
		}
		from = at + len("%0D%0A")
	}
}

// isLiteralEnd reports whether before ends in the length of a literal and after
// begins with a line end.
func isLiteralEnd(before, after string) bool {
	text, braced := cutSuffixFold(before, "%7D")
	text = strings.TrimSuffix(text, "+")
	open := strings.TrimRight(text, "0123456789")
	_, opened := cutSuffixFold(open, "%7B")
	_, ends := cutPrefixFold(after, "%0D%0A")
	return braced && opened && ends && len(open) < len(text)
}

// cutSuffixFold is strings.CutSuffix in any case.
func cutSuffixFold(s, suffix string) (string, bool) {
	n := len(s) - len(suffix)
	if n < 0 || !equalFold(s[n:], suffix) {
		return s, false
	}
	return s[:n], true
}

// checkIMAPSteps checks what follows the mailbox; it returns which are there, a
// bit for each of imapSteps.
func (l *layout) checkIMAPSteps(semicolon int) (seen int, bad []Finding) {
	for at := semicolon + 1; at <= l.pathEnd; {
		raw := nextField(l.s, at, l.pathEnd, ';')
		f := l.imapValue(raw)
		step := l.imapStep(f)
		switch {
		case step == len(imapSteps):
			return seen, refuse(f.name, f.end, ruleIMAPPart, "only UIDVALIDITY, UID, SECTION, PARTIAL, EXPIRE and URLAUTH may follow")
		case seen>>step != 0:
			return seen, refuse(f.name, f.end, ruleIMAPPart, "the order is UIDVALIDITY, UID, SECTION, PARTIAL, EXPIRE, URLAUTH, each once")
		case imapSteps[step].slash != (l.s[at-2] == '/'):
			return seen, refuse(at-1, f.nameEnd, ruleIMAPPart, "a slash stands before UID, SECTION and PARTIAL, and before no other")
		case f.empty():
			return seen, refuse(f.name, f.end, ruleIMAPPart, "the value is missing")
		case step > 1 && seen&2 == 0:
			return seen, refuse(f.name, f.end, ruleIMAPPart, "needs the UID of a message before it")
		case step == 5 && raw.end < l.pathEnd:
			return seen, refuse(raw.end, l.pathEnd, ruleIMAPAuth, "nothing follows the token")
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

// checkIMAPValue says what is wrong with a value.
//
//	uidvalidity   = ";UIDVALIDITY=" nz-number
//	partial-range = number ["." nz-number]
//	expire        = ";EXPIRE=" date-time
//	iurlauth      = [expire] ";URLAUTH=" access ":" uauth-mechanism ":" enc-urlauth
func checkIMAPValue(step int, value string) string {
	switch step {
	case 0, 1:
		if !isNumber(value, 1) || value[0] == '0' {
			return "this is a number greater than zero, below 2^32"
		}
	case 3:
		from, size, sized := strings.Cut(value, ".")
		if !isNumber(from, 0) || sized && !isNumber(size, 1) {
			return "a range is a number, and perhaps a dot and how many octets"
		}
	case 4:
		if _, err := time.Parse(time.RFC3339, strings.ToUpper(value)); err != nil {
			return "the end is a date and time, such as 2026-11-30T12:00:00Z"
		}
	case 5:
		return checkIMAPAuth(value)
	}
	return ""
}

// checkIMAPAuth says what is wrong with an authorisation.
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
		return "access is submit+user, user+user, authuser or anonymous"
	}
	switch {
	case !ok || mechanism == "":
		return "a mechanism and a token must follow, each after a colon"
	case len(token) < least || !all(token, isHex):
		return "the token is 32 hexadecimal digits or more"
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
		return refuse(l.query-1, l.queryEnd, rulePOP, "there are no queries")
	case l.pathText() == "/":
		return []Finding{remark(CodeForm, l.path, l.pathEnd, rulePOP, "the slash is not written").instead("")}
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
