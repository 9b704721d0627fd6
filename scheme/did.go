package scheme

import (
	"strings"
	"time"

	"github.com/nomen-project/nomen/uri"
)

var did = Scheme{
	Name: "did", Title: "Decentralized Identifiers", Kind: KindName,
	Reference:  "W3C DID Core, 3",
	Example:    "did:example:123456789abcdefghi?service=agent#key-1",
	Note:       "the rules of the methods are not checked",
	Security:   "how much a name is worth is for its method to say; whom one asks for its document learns who is looked up",
	Special:    []Special{{uri.ComponentPath, ":", "separates method and identifier"}, {uri.ComponentPath, "/", "begins a path, which the document of the subject explains"}},
	Properties: "names a subject that can prove it; a method leads to a document with its keys",
	Rules:      RuleSet{Check: checkDID, Parts: partsDID},
}

// The productions of DID Core.
const (
	ruleDID       = "W3C DID Core, 3.1: did"
	ruleDIDMethod = "W3C DID Core, 3.1: method-name"
	ruleDIDID     = "W3C DID Core, 3.1: method-specific-id"
	ruleDIDURL    = "W3C DID Core, 3.2: did-url"
)

// did returns where the method and the identifier end.
func (l *layout) did() (method, id int) {
	id = until(l.s, l.path, l.pathEnd, '/')
	return until(l.s, l.path, id, ':'), id
}

// checkDID checks a DID URL.
//
//	did                = "did:" method-name ":" method-specific-id
//	method-name        = 1*method-char
//	method-specific-id = *( *idchar ":" ) 1*idchar
//	did-url            = did path-abempty [ "?" query ] [ "#" fragment ]
func checkDID(u uri.URI) []Finding {
	l := layoutOf(u)
	if bad := l.refuseAuthority(ruleDID, "the method"); bad != nil {
		return bad
	}
	method, id := l.did()
	for i := l.path; i < method; i++ {
		switch c := l.s[i]; {
		case isDigit(c), 'a' <= c && c <= 'z':
		case isAlpha(c):
			return []Finding{broken(i, i+1, ruleDIDMethod, "the name of a method is in lower case").instead(string(lower(c)))}
		default:
			return refuse(i, i+1, ruleDIDMethod, "the name of a method is letters in lower case and digits")
		}
	}
	switch {
	case method == l.path:
		return refuse(method, method, ruleDIDMethod, "the name of the method is missing")
	case method == id:
		return refuse(id, id, ruleDID, "a colon and an identifier must follow the method")
	case l.s[id-1] == ':':
		return refuse(id, id, ruleDIDID, "the identifier, or its last piece, is missing")
	}
	if i := firstNot(l.s, method+1, id, isDIDChar); i >= 0 {
		return refuse(i, i+1, ruleDIDID, "an identifier is letters, digits, - . _ and escapes, with colons between")
	}
	return l.checkDIDParams()
}

// isDIDChar reports whether c may stand in an identifier; a percent sign begins
// an escape.
func isDIDChar(c byte) bool { return isAlnum(c) || strings.IndexByte("-._%:", c) >= 0 }

// checkDIDParams checks the parameter whose values are defined.
func (l *layout) checkDIDParams() []Finding {
	for at := l.query; l.query >= 0 && at <= l.queryEnd; {
		f := nextField(l.s, at, l.queryEnd, '&')
		if l.s[f.name:f.nameEnd] == "versionTime" {
			value, err := uri.Unescape(l.s[max(f.value, f.nameEnd):f.end])
			if err == nil {
				_, err = time.Parse("2006-01-02T15:04:05Z", value)
			}
			if err != nil || strings.IndexByte(value, '.') >= 0 {
				return refuse(f.name, f.end, ruleDIDURL+": versionTime", "the time is in UTC and without fractions, such as 2026-11-30T12:00:00Z")
			}
		}
		at = f.end + 1
	}
	return nil
}

func partsDID(dst []Part, u uri.URI) []Part {
	t := take(dst, u)
	method, id := t.did()
	t.part("method", t.path, method)
	if method < id {
		t.data("id", method+1, id)
	}
	if id < t.pathEnd {
		t.data("path", id, t.pathEnd)
	}
	if t.query >= 0 {
		t.fields(t.query, t.queryEnd, '&')
	}
	t.fragment()
	return t.parts
}
