package scheme

import (
	"strings"

	"github.com/nomen-project/nomen/uri"
)

var opaquelocktoken = Scheme{
	Name: "opaquelocktoken", Title: "WebDAV lock tokens", Kind: KindName,
	Reference:  "RFC 4918, C",
	Example:    "opaquelocktoken:e71d4fae-5dec-22d6-fea5-00a0c91e6be4",
	Note:       "compared as spelled; a path may follow the UUID",
	Security:   "the token alone does not authorise using a lock, which belongs to the client that created it",
	Properties: "permanently unique, as the UUID is",
	Rules:      RuleSet{Check: withFragment(checkLockToken, ruleLockToken), Parts: partsLockToken},
}

var pkcs11 = Scheme{
	Name: "pkcs11", Title: "PKCS #11 objects", Kind: KindName,
	Reference: "RFC 7512",
	Example:   "pkcs11:token=The%20Software%20PKCS%2311%20Softtoken;object=my-certificate;type=cert?pin-source=file:/etc/token",
	Note:      "an omitted attribute matches any value; the order of attributes in the path is not significant",
	Security:  "a module can be any library, which is then loaded; a PIN value is visible to all who see the URI",
	Special: []Special{
		{uri.ComponentPath, ";", "separates attributes"},
		{uri.ComponentQuery, "&", "separates attributes"},
		{uri.ComponentPath, "=", "separates the name and value of an attribute"},
	},
	Properties: "identifies tokens, slots, libraries, keys, certificates and data objects by their attributes",
	Rules:      RuleSet{Check: withFragment(checkPKCS11, rulePKCS11), Parts: partsPKCS11, Canonical: canonicalPKCS11},
}

// The grammar rules.
const (
	ruleLockToken   = "RFC 4918, C: OpaqueLockToken-URI"
	rulePKCS11      = "RFC 7512, 2.3: pk11-URI"
	rulePKCS11Path  = "RFC 7512, 2.3: pk11-pattr"
	rulePKCS11Query = "RFC 7512, 2.3: pk11-qattr"
)

// uuidEnd returns the end of the UUID at the beginning of the path.
func (l *layout) uuidEnd() int {
	const length = len("e71d4fae-5dec-22d6-fea5-00a0c91e6be4")
	return min(l.path+length, l.pathEnd)
}

// checkLockToken checks a UUID and an optional extension.
//
//	OpaqueLockToken-URI = "opaquelocktoken:" UUID [Extension]
//	Extension           = path
func checkLockToken(u uri.URI) []Finding {
	l := layoutOf(u)
	if bad := l.refuseAuthority(ruleLockToken, "the UUID"); bad != nil {
		return bad
	}
	if end := l.uuidEnd(); !isUUID(l.s[l.path:end]) {
		return refuse(l.path, end, ruleLockToken, "a UUID must be 32 hexadecimal digits in groups of 8, 4, 4, 4 and 12, separated by hyphens")
	}
	return l.refuseQuery(ruleLockToken)
}

func partsLockToken(dst []Part, u uri.URI) []Part {
	t := take(dst, u)
	end := t.uuidEnd()
	t.part("uuid", t.path, end)
	if end < t.pathEnd {
		t.data("extension", end, t.pathEnd)
	}
	t.fragment()
	return t.parts
}

// checkPKCS11 checks the attributes.
//
//	pk11-URI   = "pkcs11:" pk11-path [ "?" pk11-query ]
//	pk11-path  = [ pk11-pattr *(";" pk11-pattr) ]
//	pk11-query = [ pk11-qattr *("&" pk11-qattr) ]
func checkPKCS11(u uri.URI) []Finding {
	l := layoutOf(u)
	if bad := l.refuseAuthority(rulePKCS11, "an attribute"); bad != nil {
		return bad
	}
	if l.hasPath() {
		if bad := l.checkPKCS11Path(); bad != nil {
			return bad
		}
	}
	if l.query < 0 || l.query == l.queryEnd {
		return nil
	}
	return l.checkPKCS11Query()
}

// checkAttribute checks name=value.
func (l *layout) checkAttribute(f field, rule string, kind func(byte) bool) []Finding {
	if f.value < 0 || f.name == f.nameEnd {
		return refuse(f.name, f.end, rule, "an attribute must have the form name=value")
	}
	if i := firstNot(l.s, f.name, f.nameEnd, func(c byte) bool { return isTelName(c) || c == '_' }); i >= 0 {
		return refuse(i, i+1, "RFC 7512, 2.3: pk11-v-attr-nm", "an attribute name must consist of letters, digits, - and _")
	}
	if i := firstNot(l.s, f.value, f.end, kind); i >= 0 {
		return refuse(i, i+1, rule, "must be percent-encoded in an attribute value")
	}
	return nil
}

// isPKCS11Path reports whether c is a pk11-pchar, isPKCS11Query whether it is a
// pk11-qchar. Both accept the percent sign, which begins a percent-encoding.
func isPKCS11Path(c byte) bool {
	return isUnreserved(c) || strings.IndexByte(":[]@!$'()*+,=&%", c) >= 0
}

func isPKCS11Query(c byte) bool {
	return isUnreserved(c) || strings.IndexByte(":[]@!$'()*+,=/?|%", c) >= 0
}

// checkPKCS11Path checks the attributes that identify the object. Each may
// appear once.
func (l *layout) checkPKCS11Path() []Finding {
	for at := l.path; at <= l.pathEnd; {
		f := nextField(l.s, at, l.pathEnd, ';')
		if bad := l.checkAttribute(f, rulePKCS11Path, isPKCS11Path); bad != nil {
			return bad
		}
		value := l.s[f.value:f.end]
		switch l.s[f.name:f.nameEnd] {
		case "type":
			switch value {
			case "public", "private", "cert", "secret-key", "data":
			default:
				return refuse(f.value, f.end, "RFC 7512, 2.3: pk11-type", "the type must be public, private, cert, secret-key or data")
			}
		case "library-version":
			major, minor, ok := strings.Cut(value, ".")
			if !all(major, isDigit) || ok && !all(minor, isDigit) {
				return refuse(f.value, f.end, "RFC 7512, 2.3: pk11-lib-ver", "a version must be a number, optionally followed by a dot and another number")
			}
		case "slot-id":
			if !all(value, isDigit) {
				return refuse(f.value, f.end, "RFC 7512, 2.3: pk11-slot-id", "a slot identifier must be a number")
			}
		}
		at = f.end + 1
	}
	if f, again := repeatedField(l.s, l.path, l.pathEnd, ';'); again {
		return refuse(f.name, f.end, rulePKCS11Path, "duplicate attribute")
	}
	return nil
}

// checkPKCS11Query checks the attributes that say how to access the object.
// Attributes that the document does not define may be repeated.
func (l *layout) checkPKCS11Query() []Finding {
	var found []Finding
	var seen [4]bool
	known := [...]string{"pin-source", "pin-value", "module-name", "module-path"}
	for at := l.query; at <= l.queryEnd; {
		f := nextField(l.s, at, l.queryEnd, '&')
		if bad := l.checkAttribute(f, rulePKCS11Query, isPKCS11Query); bad != nil {
			return bad
		}
		for i, name := range known {
			if l.s[f.name:f.nameEnd] != name {
				continue
			}
			if seen[i] {
				return refuse(f.name, f.end, rulePKCS11Query, "duplicate attribute")
			}
			seen[i] = true
			if name == "pin-value" {
				found = append(found, warn(CodeCredentials, f.name, f.end, "RFC 7512, 6", "the PIN is visible to all who see the URI"))
			}
			if name == "module-path" {
				found = append(found, warn(CodeDanger, f.name, f.end, "RFC 7512, 6", "a library is loaded and run"))
			}
		}
		at = f.end + 1
	}
	if seen[0] && seen[1] {
		return refuse(l.query, l.queryEnd, "RFC 7512, 2.4", "pin-source and pin-value must not appear together")
	}
	return found
}

func partsPKCS11(dst []Part, u uri.URI) []Part {
	t := take(dst, u)
	if t.hasPath() {
		t.fields(t.path, t.pathEnd, ';')
	}
	if t.query >= 0 && t.query < t.queryEnd {
		t.fields(t.query, t.queryEnd, '&')
	}
	t.fragment()
	return t.parts
}

// canonicalPKCS11 sorts the attributes of the path, whose order is not
// significant (RFC 7512, 2.6).
func canonicalPKCS11(u uri.URI) string {
	l := layoutOf(u)
	if !l.hasPath() {
		return l.s
	}
	list := sortedFields(l.s, l.path, l.pathEnd, ';', func(b []byte, f field) []byte { return append(b, l.s[f.name:f.end]...) })
	return l.s[:l.path] + strings.Join(list, ";") + l.s[l.pathEnd:]
}
