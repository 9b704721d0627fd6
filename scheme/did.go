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
	Note:       "method-specific rules are not checked",
	Security:   "how far a DID can be trusted depends on its method; the service that resolves it learns which DIDs are looked up",
	Special:    []Special{{uri.ComponentPath, ":", "separates the method and the identifier"}, {uri.ComponentPath, "/", "begins a path whose meaning the subject's document defines"}},
	Properties: "identifies a subject that can prove control of it; the method resolves it to a document with its keys",
	Rules:      RuleSet{Check: checkDID, Parts: partsDID},
}

// The grammar rules of DID Core.
const (
	ruleDID       = "W3C DID Core, 3.1: did"
	ruleDIDMethod = "W3C DID Core, 3.1: method-name"
	ruleDIDID     = "W3C DID Core, 3.1: method-specific-id"
	ruleDIDURL    = "W3C DID Core, 3.2: did-url"
)

// did returns the ends of the method and of the identifier.
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
			return []Finding{instead(broken(i, i+1, ruleDIDMethod, "the method name must be in lower case"), string(lower(c)))}
		default:
			return refuse(i, i+1, ruleDIDMethod, "the method name must consist of lower-case letters and digits")
		}
	}
	switch {
	case method == l.path:
		return refuse(method, method, ruleDIDMethod, "missing method name")
	case method == id:
		return refuse(id, id, ruleDID, "a colon and an identifier must follow the method")
	case l.s[id-1] == ':':
		return refuse(id, id, ruleDIDID, "missing identifier, or its last segment is empty")
	}
	if i := firstNot(l.s, method+1, id, isDIDChar); i >= 0 {
		return refuse(i, i+1, ruleDIDID, "the identifier must consist of letters, digits, - . _, percent-encodings and colons")
	}
	return l.checkDIDParams()
}

// isDIDChar reports whether c is allowed in an identifier. It accepts the
// percent sign, which begins a percent-encoding.
func isDIDChar(c byte) bool { return isAlnum(c) || strings.IndexByte("-._%:", c) >= 0 }

// checkDIDParams checks versionTime, the only parameter with a defined syntax.
func (l *layout) checkDIDParams() []Finding {
	for at := l.query; l.query >= 0 && at <= l.queryEnd; {
		f := nextField(l.s, at, l.queryEnd, '&')
		if l.s[f.name:f.nameEnd] == "versionTime" {
			value, err := uri.Unescape(l.s[max(f.value, f.nameEnd):f.end])
			if err == nil {
				_, err = time.Parse("2006-01-02T15:04:05Z", value)
			}
			if err != nil || strings.IndexByte(value, '.') >= 0 {
				return refuse(f.name, f.end, ruleDIDURL+": versionTime", "the time must be in UTC without fractions, such as 2026-11-30T12:00:00Z")
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
