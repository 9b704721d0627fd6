package extra

import (
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/scheme"
	"github.com/nomen-project/nomen/scheme/internal/layout"
	"github.com/nomen-project/nomen/uri"
)

var opaquelocktoken = scheme.Scheme{
	Name: "opaquelocktoken", Title: "WebDAV lock tokens", Kind: scheme.KindName,
	Reference:  "RFC 4918, C",
	Example:    "opaquelocktoken:e71d4fae-5dec-22d6-fea5-00a0c91e6be4",
	Note:       "compared as spelled; a path may follow the UUID",
	Security:   "the token alone does not authorise using a lock, which belongs to the client that created it",
	Properties: "permanently unique, as the UUID is",
	Rules:      scheme.RuleSet{Check: withFragment(checkLockToken, ruleLockToken), Parts: partsLockToken},
}

var pkcs11 = scheme.Scheme{
	Name: "pkcs11", Title: "PKCS #11 objects", Kind: scheme.KindName,
	Reference: "RFC 7512",
	Example:   "pkcs11:token=The%20Software%20PKCS%2311%20Softtoken;object=my-certificate;type=cert?pin-source=file:/etc/token",
	Note:      "an omitted attribute matches any value; the order of attributes in the path is not significant",
	Security:  "a module can be any library, which is then loaded; a PIN value is visible to all who see the URI",
	Special: []scheme.Special{
		inPath(";", "separates attributes"),
		inQuery("&", "separates attributes"),
		inPath("=", "separates the name and value of an attribute"),
	},
	Properties: "identifies tokens, slots, libraries, keys, certificates and data objects by their attributes",
	Rules:      scheme.RuleSet{Check: withFragment(checkPKCS11, rulePKCS11), Parts: partsPKCS11, Canonical: canonicalPKCS11},
}

const (
	ruleLockToken   = "RFC 4918, C: OpaqueLockToken-URI"
	rulePKCS11      = "RFC 7512, 2.3: pk11-URI"
	rulePKCS11Path  = "RFC 7512, 2.3: pk11-pattr"
	rulePKCS11Query = "RFC 7512, 2.3: pk11-qattr"
)

func uuidEnd(l *layout.Layout) int {
	const length = len("e71d4fae-5dec-22d6-fea5-00a0c91e6be4")
	return min(l.Path+length, l.PathEnd)
}

// checkLockToken checks the UUID, and the extension if there is one.
//
//	OpaqueLockToken-URI = "opaquelocktoken:" UUID [Extension]
//	Extension           = path
func checkLockToken(u uri.URI) []scheme.Finding {
	l := layout.Of(u)
	if bad := refuseAuthority(&l, ruleLockToken, "the UUID"); bad != nil {
		return bad
	}
	if end := uuidEnd(&l); !ascii.IsUUID(l.Text[l.Path:end]) {
		return layout.Refuse(l.Path, end, ruleLockToken, "a UUID must be 32 hexadecimal digits in groups of 8, 4, 4, 4 and 12, separated by hyphens")
	}
	return refuseQuery(&l, ruleLockToken)
}

func partsLockToken(dst []scheme.Part, u uri.URI) []scheme.Part {
	t := layout.Take(dst, u)
	end := uuidEnd(&t.Layout)
	t.Part("uuid", t.Path, end)
	if end < t.PathEnd {
		t.Data("extension", end, t.PathEnd)
	}
	t.Fragment()
	return t.Parts
}

// checkPKCS11 checks the attributes.
//
//	pk11-URI   = "pkcs11:" pk11-path [ "?" pk11-query ]
//	pk11-path  = [ pk11-pattr *(";" pk11-pattr) ]
//	pk11-query = [ pk11-qattr *("&" pk11-qattr) ]
func checkPKCS11(u uri.URI) []scheme.Finding {
	l := layout.Of(u)
	if bad := refuseAuthority(&l, rulePKCS11, "an attribute"); bad != nil {
		return bad
	}
	if l.HasPath() {
		if bad := checkPKCS11Path(&l); bad != nil {
			return bad
		}
	}
	if l.Query < 0 || l.Query == l.QueryEnd {
		return nil
	}
	return checkPKCS11Query(&l)
}

// The grammars of the attributes in the path and in the query.
var (
	pkcs11Path  = pkcs11Grammar(rulePKCS11Path, isPKCS11Path)
	pkcs11Query = pkcs11Grammar(rulePKCS11Query, isPKCS11Query)
)

func pkcs11Grammar(rule string, value func(byte) bool) fieldGrammar {
	isName := func(c byte) bool { return isTelName(c) || c == '_' }
	return fieldGrammar{
		rule: rule, form: "an attribute must have the form name=value",
		name:  charset{isName, "RFC 7512, 2.3: pk11-v-attr-nm", "an attribute name must consist of letters, digits, - and _"},
		value: charset{value, rule, "must be percent-encoded in an attribute value"},
	}
}

// isPKCS11Path reports whether c is a pk11-pchar. It accepts the percent sign, which begins a
// percent-encoding.
func isPKCS11Path(c byte) bool {
	return isUnreserved(c) || strings.IndexByte(":[]@!$'()*+,=&%", c) >= 0
}

func isPKCS11Query(c byte) bool {
	return isUnreserved(c) || strings.IndexByte(":[]@!$'()*+,=/?|%", c) >= 0
}

// checkPKCS11Path checks the attributes that identify the object, each of which may appear once.
func checkPKCS11Path(l *layout.Layout) []scheme.Finding {
	for f := range fields(l.Text, l.Path, l.PathEnd, ';') {
		if bad := pkcs11Path.check(l.Text, f); bad != nil {
			return bad
		}
		value := l.Text[f.value:f.end]
		switch l.Text[f.name:f.nameEnd] {
		case "type":
			switch value {
			case "public", "private", "cert", "secret-key", "data":
			default:
				return layout.Refuse(f.value, f.end, "RFC 7512, 2.3: pk11-type", "the type must be public, private, cert, secret-key or data")
			}
		case "library-version":
			major, minor, ok := strings.Cut(value, ".")
			if !ascii.All(major, ascii.IsDigit) || ok && !ascii.All(minor, ascii.IsDigit) {
				return layout.Refuse(f.value, f.end, "RFC 7512, 2.3: pk11-lib-ver", "a version must be a number, optionally followed by a dot and another number")
			}
		case "slot-id":
			if !ascii.All(value, ascii.IsDigit) {
				return layout.Refuse(f.value, f.end, "RFC 7512, 2.3: pk11-slot-id", "a slot identifier must be a number")
			}
		}
	}
	if f, again := repeatedField(l.Text, l.Path, l.PathEnd, ';'); again {
		return layout.Refuse(f.name, f.end, rulePKCS11Path, "duplicate attribute")
	}
	return nil
}

// checkPKCS11Query checks the attributes in the query, such as the PIN and the path of the module.
// Attributes that RFC 7512 does not define may be repeated.
func checkPKCS11Query(l *layout.Layout) []scheme.Finding {
	var found []scheme.Finding
	var seen [4]bool
	known := [...]string{"pin-source", "pin-value", "module-name", "module-path"}
	for f := range queryFields(l, '&') {
		if bad := pkcs11Query.check(l.Text, f); bad != nil {
			return bad
		}
		for i, name := range known {
			if l.Text[f.name:f.nameEnd] != name {
				continue
			}
			if seen[i] {
				return layout.Refuse(f.name, f.end, rulePKCS11Query, "duplicate attribute")
			}
			seen[i] = true
			if name == "pin-value" {
				found = append(found, layout.Warn(scheme.CodeCredentials, f.name, f.end, "RFC 7512, 6", "the PIN is visible to all who see the URI"))
			}
			if name == "module-path" {
				found = append(found, layout.Warn(scheme.CodeDanger, f.name, f.end, "RFC 7512, 6", "a library is loaded and run"))
			}
		}
	}
	if seen[0] && seen[1] {
		return layout.Refuse(l.Query, l.QueryEnd, "RFC 7512, 2.4", "pin-source and pin-value must not appear together")
	}
	return found
}

func partsPKCS11(dst []scheme.Part, u uri.URI) []scheme.Part {
	t := layout.Take(dst, u)
	if t.HasPath() {
		appendFields(&t, "attribute", t.Path, t.PathEnd, ';')
	}
	if t.Query >= 0 && t.Query < t.QueryEnd {
		appendFields(&t, "attribute", t.Query, t.QueryEnd, '&')
	}
	t.Fragment()
	return t.Parts
}

// canonicalPKCS11 sorts the attributes of the path, whose order has no meaning (RFC 7512, section
// 2.6).
func canonicalPKCS11(u uri.URI) string {
	l := layout.Of(u)
	if !l.HasPath() {
		return l.Text
	}
	list := sortedFields(l.Text, l.Path, l.PathEnd, ';', func(b []byte, f field) []byte { return append(b, l.Text[f.name:f.end]...) })
	return l.Text[:l.Path] + strings.Join(list, ";") + l.Text[l.PathEnd:]
}
