package extra

import (
	"strings"
	"time"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/scheme"
	"github.com/nomen-project/nomen/scheme/internal/layout"
	"github.com/nomen-project/nomen/uri"
)

var did = scheme.Scheme{
	Name: "did", Title: "Decentralized Identifiers", Kind: scheme.KindName,
	Reference:  "W3C DID Core, 3",
	Example:    "did:example:123456789abcdefghi?service=agent#key-1",
	Note:       "method-specific rules are not checked",
	Security:   "how far a DID can be trusted depends on its method; the service that resolves it learns which DIDs are looked up",
	Special:    []scheme.Special{inPath(":", "separates the method and the identifier"), inPath("/", "begins a path whose meaning the subject's document defines")},
	Properties: "identifies a subject that can prove control of it; the method resolves it to a document with its keys",
	Rules:      scheme.RuleSet{Check: checkDID, Parts: partsDID},
}

const (
	ruleDID       = "W3C DID Core, 3.1: did"
	ruleDIDMethod = "W3C DID Core, 3.1: method-name"
	ruleDIDID     = "W3C DID Core, 3.1: method-specific-id"
	ruleDIDURL    = "W3C DID Core, 3.2: did-url"
)

func didOf(l *layout.Layout) (method, id int) {
	id = ascii.Until(l.Text, l.Path, l.PathEnd, '/')
	return ascii.Until(l.Text, l.Path, id, ':'), id
}

// checkDID checks a DID URL.
//
//	did                = "did:" method-name ":" method-specific-id
//	method-name        = 1*method-char
//	method-specific-id = *( *idchar ":" ) 1*idchar
//	did-url            = did path-abempty [ "?" query ] [ "#" fragment ]
func checkDID(u uri.URI) []scheme.Finding {
	l := layout.Of(u)
	if bad := refuseAuthority(&l, ruleDID, "the method"); bad != nil {
		return bad
	}
	method, id := didOf(&l)
	for i := l.Path; i < method; i++ {
		switch c := l.Text[i]; {
		case ascii.IsDigit(c), 'a' <= c && c <= 'z':
		case ascii.IsLetter(c):
			return []scheme.Finding{layout.Instead(layout.Broken(i, i+1, ruleDIDMethod, "the method name must be in lower case"), string(ascii.Lower(c)))}
		default:
			return layout.Refuse(i, i+1, ruleDIDMethod, "the method name must consist of lower-case letters and digits")
		}
	}
	switch {
	case method == l.Path:
		return layout.Refuse(method, method, ruleDIDMethod, "missing method name")
	case method == id:
		return layout.Refuse(id, id, ruleDID, "a colon and an identifier must follow the method")
	case l.Text[id-1] == ':':
		return layout.Refuse(id, id, ruleDIDID, "missing identifier, or its last segment is empty")
	}
	if i := firstNot(l.Text, method+1, id, isDIDChar); i >= 0 {
		return layout.Refuse(i, i+1, ruleDIDID, "the identifier must consist of letters, digits, - . _, percent-encodings and colons")
	}
	return checkDIDParams(&l)
}

// isDIDChar reports whether an identifier may contain c. It accepts the percent sign, which begins
// a percent-encoding.
func isDIDChar(c byte) bool { return ascii.IsAlnum(c) || strings.IndexByte("-._%:", c) >= 0 }

// checkDIDParams checks versionTime, which is the only parameter with a defined syntax.
func checkDIDParams(l *layout.Layout) []scheme.Finding {
	for f := range queryFields(l, '&') {
		if l.Text[f.name:f.nameEnd] == "versionTime" {
			value, err := uri.Unescape(l.Text[max(f.value, f.nameEnd):f.end])
			if err == nil {
				_, err = time.Parse("2006-01-02T15:04:05Z", value)
			}
			if err != nil || strings.IndexByte(value, '.') >= 0 {
				return layout.Refuse(f.name, f.end, ruleDIDURL+": versionTime", "the time must be in UTC without fractions, such as 2026-11-30T12:00:00Z")
			}
		}
	}
	return nil
}

func partsDID(dst []scheme.Part, u uri.URI) []scheme.Part {
	t := layout.Take(dst, u)
	method, id := didOf(&t.Layout)
	t.Part("method", t.Path, method)
	t.Data("id", method+1, id)
	if id < t.PathEnd {
		t.Data("path", id, t.PathEnd)
	}
	appendFields(&t, "parameter", t.Query, t.QueryEnd, '&')
	t.Fragment()
	return t.Parts
}
