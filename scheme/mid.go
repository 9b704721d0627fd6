package scheme

import (
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/scheme/internal/layout"
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

const (
	ruleMID = "RFC 2392, 2: mid-url"
	ruleCID = "RFC 2392, 2: cid-url"
)

func checkMID(u uri.URI) []Finding {
	l := layout.Of(u)
	slash := ascii.Until(l.Text, l.Path, l.PathEnd, '/')
	if bad := checkContentID(&l, l.Path, slash, ruleMID); bad != nil || slash == l.PathEnd {
		return bad
	}
	return checkContentID(&l, slash+1, l.PathEnd, ruleMID)
}

// checkCID checks a part identifier.
//
//	cid-url = "cid" ":" content-id
func checkCID(u uri.URI) []Finding {
	l := layout.Of(u)
	return checkContentID(&l, l.Path, l.PathEnd, ruleCID)
}

// checkContentID checks an identifier that looks like an address (RFC 2392, section 2; RFC 822,
// section 6.1). The text before the at sign may be a quoted string.
func checkContentID(l *layout.Layout, from, to int, rule string) []Finding {
	switch {
	case l.Authority:
		return layout.Refuse(l.Rest, l.Path, rule, "a host is not allowed")
	case l.Query >= 0:
		return layout.Refuse(l.Query-1, l.QueryEnd, rule, "queries are not allowed; percent-encode a question mark as %3F")
	}
	if at := layout.EscapedControl(l.Text, from, to); at >= 0 {
		return layout.RefuseAs(CodeInjection, at, at+3, rule, "control characters are not allowed in an identifier")
	}
	if open := strings.Index(l.Text[from:to], "%3C"); open == 0 {
		return []Finding{layout.Instead(layout.Broken(from, from+3, rule, "angle brackets around an identifier must be omitted"), "")}
	}
	at := strings.LastIndexByte(l.Text[from:to], '@')
	switch {
	case at < 0:
		return layout.Refuse(to, to, rule, "missing @")
	case at == 0 || from+at+1 == to:
		return layout.Refuse(from+at, from+at+1, rule, "text is required before and after the @")
	}
	return nil
}

func partsMID(dst []Part, u uri.URI) []Part {
	t := layout.Take(dst, u)
	slash := ascii.Until(t.Text, t.Path, t.PathEnd, '/')
	t.Data("message_id", t.Path, slash)
	t.Data("content_id", slash+1, t.PathEnd)
	return t.Parts
}

func partsCID(dst []Part, u uri.URI) []Part {
	t := layout.Take(dst, u)
	t.Data("content_id", t.Path, t.PathEnd)
	return t.Parts
}
