package extra

import (
	"strings"
	"time"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/scheme"
	"github.com/nomen-project/nomen/scheme/internal/layout"
	"github.com/nomen-project/nomen/uri"
)

// Schemes for access to mail: imap and pop.

var imap = scheme.Scheme{
	Name: "imap", Title: "Internet Message Access Protocol", Kind: scheme.KindLocator,
	Reference:   "RFC 5092",
	Example:     "imap://fred@example.com/INBOX;UIDVALIDITY=785799047/;UID=113330/;SECTION=1.5.9",
	Note:        "a server, a mailbox, a search in it, a message, or a part of one; ;AUTH=* lets the client choose the mechanism; a password is never written",
	Security:    "an authorised locator (URLAUTH) gives anyone who has it access to the message",
	DefaultPort: "143", Transport: "tcp", Hierarchical: true, RootPath: true,
	Special: []scheme.Special{
		inUserinfo(";", "precedes AUTH=, the authentication mechanism"),
		inPath(";", "precedes UIDVALIDITY, UID, SECTION, PARTIAL, EXPIRE and URLAUTH"),
	},
	Retrieval: "log in, select the mailbox, and fetch the requested message, section or octets",
	Rules:     scheme.RuleSet{Check: withFragment(checkIMAP, ruleIMAP), Parts: partsIMAP},
}

var pop = scheme.Scheme{
	Name: "pop", Title: "Post Office Protocol v3", Kind: scheme.KindLocator,
	Reference:   "RFC 2384",
	Example:     "pop://rg;AUTH=+APOP@mail.example.com:8110",
	Note:        "a mailbox, not a single message; a password is never written",
	Security:    "makes the client log in to a server chosen by the author of the link",
	DefaultPort: "110", Transport: "tcp",
	Special:   []scheme.Special{inUserinfo(";", "precedes AUTH=, the authentication mechanism")},
	Retrieval: "log in at the server, and list the messages",
	Rules:     scheme.RuleSet{Check: withFragment(checkPOP, rulePOP), Parts: partsPOP},
}

const (
	ruleIMAP     = "RFC 5092, 11: imapurl"
	ruleIMAPUser = "RFC 5092, 11: iuserinfo"
	ruleIMAPPart = "RFC 5092, 11: imessagepart"
	ruleIMAPAuth = "RFC 5092, 11: iurlauth"
	rulePOP      = "RFC 2384, ABNF: popurl"
	rulePOPUser  = "RFC 2384, ABNF: user-auth"
)

func mailUser(l *layout.Layout) (end, mechanism int) {
	end = ascii.Until(l.Text, l.User, l.UserEnd, ';')
	const key = ";auth="
	if at := end + len(key); at <= l.UserEnd && ascii.EqualFold(l.Text[end:at], key) {
		return end, at
	}
	return end, -1
}

// checkMailUser checks the user name and the authentication mechanism.
//
//	iuserinfo = enc-user [iauth] / [enc-user] iauth
//	iauth     = ";AUTH=" ( "*" / enc-auth-type )
func checkMailUser(l *layout.Layout, rule string) []scheme.Finding {
	if l.User < 0 {
		return nil
	}
	end, mechanism := mailUser(l)
	switch colon := ascii.Until(l.Text, l.User, l.UserEnd, ':'); {
	case colon < l.UserEnd:
		return layout.RefuseAs(scheme.CodeCredentials, colon, l.UserEnd, rule, "a password is not allowed; the mechanism asks for it")
	case mechanism < 0 && end < l.UserEnd:
		return layout.Refuse(end, l.UserEnd, rule, "only ;AUTH= and a mechanism may follow the user")
	case mechanism == l.UserEnd:
		return layout.Refuse(mechanism, mechanism, rule, "missing mechanism")
	case mechanism < 0 && end == l.User:
		return layout.Refuse(l.User, l.UserEnd+1, rule, "missing user")
	}
	return nil
}

func appendMailUser(t *layout.Taker) {
	if t.User < 0 {
		return
	}
	end, mechanism := mailUser(&t.Layout)
	if end > t.User || mechanism < 0 {
		t.Data("user", t.User, end)
	}
	t.Data("auth", mechanism, t.UserEnd)
}

// imapSteps lists the fields that may follow a mailbox, in their order. If slash is true, a slash
// must come before the field's semicolon.
var imapSteps = [...]struct {
	name  string
	slash bool
}{{"uidvalidity", false}, {"uid", true}, {"section", true}, {"partial", true}, {"expire", false}, {"urlauth", false}}

func imapMailbox(l *layout.Layout) (end, semicolon int) {
	from := min(l.Path+1, l.PathEnd)
	semicolon = ascii.Until(l.Text, from, l.PathEnd, ';')
	end = semicolon
	if semicolon < l.PathEnd && end > from && l.Text[end-1] == '/' {
		end--
	}
	return end, semicolon
}

func imapValue(l *layout.Layout, f field) field {
	if f.end < l.PathEnd && f.end > max(f.value, f.name) && l.Text[f.end-1] == '/' {
		f.end--
	}
	f.nameEnd = min(f.nameEnd, f.end)
	return f
}

// imapStep returns the index of a field in imapSteps, or len(imapSteps) if it is unknown.
func imapStep(l *layout.Layout, f field) int {
	for i := range imapSteps {
		if f.is(l.Text, imapSteps[i].name) {
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
func checkIMAP(u uri.URI) []scheme.Finding {
	l := layout.Of(u)
	if bad := firstOf(l.NeedServer(ruleIMAP), checkMailUser(&l, ruleIMAPUser)); bad != nil {
		return bad
	}
	if at := imapControl(&l); at >= 0 {
		rule := "RFC 5092, 11: enc-mailbox"
		if l.Query >= 0 && at >= l.Query {
			rule = "RFC 5092, 11: enc-search"
		}
		return layout.RefuseControl(at, rule, "IMAP")
	}
	end, semicolon := imapMailbox(&l)
	if l.Path+1 < l.PathEnd && end <= l.Path+1 {
		return layout.Refuse(l.Path+1, end, "RFC 5092, 11: enc-mailbox", "missing mailbox")
	}
	steps, bad := checkIMAPSteps(&l, semicolon)
	switch {
	case bad != nil:
		return bad
	case l.Query < 0:
	case l.Query == l.QueryEnd || end <= l.Path+1:
		return layout.Refuse(l.Query-1, l.QueryEnd, "RFC 5092, 11: imessagelist", "a search needs a mailbox and a search term")
	case steps&^1 != 0:
		return layout.Refuse(l.Query-1, l.QueryEnd, "RFC 5092, 11: imessagelist", "a search cannot be combined with a message")
	}
	return nil
}

// imapControl returns the offset of the first percent-encoded control character, or -1. In a search
// it accepts the line break after the length of a literal ({14+}CRLF; RFC 5092, section 10).
func imapControl(l *layout.Layout) int {
	for from := l.Rest; ; {
		at := layout.EscapedControl(l.Text, from, l.End())
		if at < 0 || l.Query < 0 || at < l.Query || !isLiteralEnd(l.Text[l.Query:at], l.Text[at:l.End()]) {
			return at
		}
		from = at + len("%0D%0A")
	}
}

func isLiteralEnd(head, tail string) bool {
	text, braced := cutSuffixFold(head, "%7D")
	text = strings.TrimSuffix(text, "+")
	open := strings.TrimRight(text, "0123456789")
	_, opened := cutSuffixFold(open, "%7B")
	_, ends := ascii.CutPrefix(tail, "%0D%0A")
	return braced && opened && ends && len(open) < len(text)
}

func cutSuffixFold(s, suffix string) (string, bool) {
	n := len(s) - len(suffix)
	if n < 0 || !ascii.EqualFold(s[n:], suffix) {
		return s, false
	}
	return s[:n], true
}

// checkIMAPSteps checks the fields after the mailbox. The result seen has bit i set if the field
// imapSteps[i] is present.
func checkIMAPSteps(l *layout.Layout, semicolon int) (seen int, bad []scheme.Finding) {
	for raw := range fields(l.Text, semicolon+1, l.PathEnd, ';') {
		f := imapValue(l, raw)
		step := imapStep(l, f)
		switch {
		case step == len(imapSteps):
			return seen, layout.Refuse(f.name, f.end, ruleIMAPPart, "only UIDVALIDITY, UID, SECTION, PARTIAL, EXPIRE and URLAUTH may follow")
		case seen>>step != 0:
			return seen, layout.Refuse(f.name, f.end, ruleIMAPPart, "the fields must be in the order UIDVALIDITY, UID, SECTION, PARTIAL, EXPIRE, URLAUTH, each at most once")
		case imapSteps[step].slash != (l.Text[raw.name-2] == '/'):
			return seen, layout.Refuse(raw.name-1, f.nameEnd, ruleIMAPPart, "a slash must precede UID, SECTION and PARTIAL, and no other field")
		case f.empty():
			return seen, layout.Refuse(f.name, f.end, ruleIMAPPart, "missing value")
		case step > 1 && seen&2 == 0:
			return seen, layout.Refuse(f.name, f.end, ruleIMAPPart, "needs a UID before it")
		case step == 5 && raw.end < l.PathEnd:
			return seen, layout.Refuse(raw.end, l.PathEnd, ruleIMAPAuth, "unexpected text after the token")
		}
		if message := checkIMAPValue(step, l.Text[f.value:f.end]); message != "" {
			return seen, layout.Refuse(f.value, f.end, ruleIMAPPart, message)
		}
		seen |= 1 << step
	}
	if seen&(1<<4) != 0 && seen&(1<<5) == 0 {
		return seen, layout.Refuse(l.PathEnd, l.PathEnd, ruleIMAPAuth, "URLAUTH must follow EXPIRE")
	}
	return seen, nil
}

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

func checkIMAPAuth(value string) string {
	const least = 32
	access, rest, _ := strings.Cut(value, ":")
	mechanism, token, ok := strings.Cut(rest, ":")
	who, user, plus := strings.Cut(access, "+")
	switch {
	case plus && user != "" && (ascii.EqualFold(who, "submit") || ascii.EqualFold(who, "user")):
	case ascii.EqualFold(access, "authuser"), ascii.EqualFold(access, "anonymous"):
	default:
		return "the access must be submit+user, user+user, authuser or anonymous"
	}
	switch {
	case !ok || mechanism == "":
		return "a mechanism and a token must follow, each after a colon"
	case len(token) < least || !ascii.All(token, ascii.IsHex):
		return "the token must be at least 32 hexadecimal digits"
	}
	return ""
}

func partsIMAP(dst []scheme.Part, u uri.URI) []scheme.Part {
	t := layout.Take(dst, u)
	appendMailUser(&t)
	t.Server()
	from := min(t.Path+1, t.PathEnd)
	end, semicolon := imapMailbox(&t.Layout)
	if from < t.PathEnd {
		t.Data("mailbox", from, max(from, end))
	}
	for raw := range fields(t.Text, semicolon+1, t.PathEnd, ';') {
		f := imapValue(&t.Layout, raw)
		name := "field"
		if step := imapStep(&t.Layout, f); step < len(imapSteps) {
			name = imapSteps[step].name
		}
		t.Data(name, max(f.value, min(f.nameEnd, f.end)), f.end)
	}
	t.Data("search", t.Query, t.QueryEnd)
	t.Fragment()
	return t.Parts
}

// checkPOP checks a POP URL.
//
//	popurl = "pop://" [user-auth "@"] hostport
func checkPOP(u uri.URI) []scheme.Finding {
	l := layout.Of(u)
	if bad := firstOf(l.NeedServer(rulePOP), checkMailUser(&l, rulePOPUser), l.RefuseControls("RFC 1939, 3: arguments", "POP")); bad != nil {
		return bad
	}
	switch {
	case l.Query >= 0:
		return layout.Refuse(l.Query-1, l.QueryEnd, rulePOP, "queries are not allowed")
	case l.PathText() == "/":
		return []scheme.Finding{layout.Instead(layout.Remark(scheme.CodeForm, l.Path, l.PathEnd, rulePOP, "the slash must be omitted"), "")}
	case l.HasPath():
		return layout.Refuse(l.Path, l.PathEnd, rulePOP, "a mailbox has no path")
	}
	return nil
}

func partsPOP(dst []scheme.Part, u uri.URI) []scheme.Part {
	t := layout.Take(dst, u)
	appendMailUser(&t)
	t.Server()
	t.Fragment()
	return t.Parts
}
