package scheme

import (
	"strings"

	"github.com/nomen-project/nomen/uri"
)

// Identifiers of messages and body parts (RFC 2392).
var mid = Scheme{
	Name: "mid", Title: "message identifier", Kind: KindName,
	Reference:  "RFC 2392",
	Example:    "mid:960830.1639@mail.example.org/partA.960830.1639@mail.example.org",
	Note:       "a slash in an identifier must be percent-encoded, because a slash separates a message from a part of it",
	Security:   "a forged message can carry the identifier of another",
	Special:    []Special{{uri.ComponentPath, "/", "separates the message and the part"}},
	Properties: "the identifier of a message is globally unique and does not say where copies are",
	Rules:      RuleSet{Check: checkMID, Parts: partsMID},
}

var cid = Scheme{
	Name: "cid", Title: "content identifier", Kind: KindName,
	Reference:  "RFC 2392",
	Example:    "cid:foo4%25foo1@mail.example.org",
	Note:       "usually refers to a part of the message that contains the reference",
	Properties: "the identifier of a part is globally unique",
	Rules:      RuleSet{Check: checkCID, Parts: partsCID},
}

// The grammar rules of RFC 2392.
const (
	ruleMID = "RFC 2392, 2: mid-url"
	ruleCID = "RFC 2392, 2: cid-url"
)

// checkMID checks a message identifier, optionally followed by a part
// identifier.
//
//	mid-url = "mid" ":" message-id [ "/" content-id ]
func checkMID(u uri.URI) []Finding {
	l := layoutOf(u)
	slash := until(l.s, l.path, l.pathEnd, '/')
	if bad := l.checkContentID(l.path, slash, ruleMID); bad != nil || slash == l.pathEnd {
		return bad
	}
	return l.checkContentID(slash+1, l.pathEnd, ruleMID)
}

// checkCID checks a part identifier.
//
//	cid-url = "cid" ":" content-id
func checkCID(u uri.URI) []Finding {
	l := layoutOf(u)
	return l.checkContentID(l.path, l.pathEnd, ruleCID)
}

// checkContentID checks an identifier, which has the form of an address (RFC
// 2392, 2; RFC 822, 6.1). The text before the at sign may be a quoted string.
func (l *layout) checkContentID(from, to int, rule string) []Finding {
	switch {
	case l.authority:
		return refuse(l.rest, l.path, rule, "a host is not allowed")
	case l.query >= 0:
		return refuse(l.query-1, l.queryEnd, rule, "queries are not allowed; percent-encode a question mark as %3F")
	}
	if at := escapedControl(l.s, from, to); at >= 0 {
		f := broken(at, at+3, rule, "control characters are not allowed in an identifier")
		f.Code = CodeInjection
		return []Finding{f}
	}
	if open := strings.Index(l.s[from:to], "%3C"); open == 0 {
		return []Finding{instead(broken(from, from+3, rule, "angle brackets around an identifier must be omitted"), "")}
	}
	at := strings.LastIndexByte(l.s[from:to], '@')
	switch {
	case at < 0:
		return refuse(to, to, rule, "missing @")
	case at == 0 || from+at+1 == to:
		return refuse(from+at, from+at+1, rule, "text is required before and after the @")
	}
	return nil
}

func partsMID(dst []Part, u uri.URI) []Part {
	t := take(dst, u)
	slash := until(t.s, t.path, t.pathEnd, '/')
	t.data("message_id", t.path, slash)
	if slash < t.pathEnd {
		t.data("content_id", slash+1, t.pathEnd)
	}
	return t.parts
}

func partsCID(dst []Part, u uri.URI) []Part {
	t := take(dst, u)
	t.data("content_id", t.path, t.pathEnd)
	return t.parts
}
