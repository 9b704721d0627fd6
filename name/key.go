package name

import (
	"errors"
	"strings"

	"github.com/nomen-project/nomen/scheme"
	"github.com/nomen-project/nomen/uri"
	"github.com/nomen-project/nomen/urn"
)

// urnKey returns the key of an assigned URN by the rules of its namespace.
func urnKey(u urn.URN) (string, error) {
	switch strings.ToLower(u.NID()) {
	case "dns":
		old, err := u.Convert(urn.Draft1995)
		if err != nil {
			return "", err
		}
		return old.Canonical(), nil
	case "doi":
		return "urn:doi:" + doiKey(u.NSS()), nil
	case "ietf":
		return upperHex(strings.ToLower(u.Canonical())), nil
	case "nbn":
		return nbnKey(u.Canonical()), nil
	}
	return u.Canonical(), nil
}

// doiKey folds a DOI: ASCII letters in lower case, and no escape of a character
// that can stand for itself, since the DOI is what the escapes stand for.
func doiKey(s string) string {
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c != '%' {
			b = append(b, lower(c))
			continue
		}
		if d := unhex(s[i+1])<<4 | unhex(s[i+2]); standsBare(d) {
			b = append(b, lower(d))
		} else {
			b = append(b, upper(s[i:i+3])...)
		}
		i += 2
	}
	return string(b)
}

// standsBare reports whether c is a pchar of RFC 3986 or a slash.
func standsBare(c byte) bool {
	return isAlnum(c) || strings.IndexByte("-._~!$&'()*+,;=:@/", c) >= 0
}

// nbnKey folds the prefix: all before the first hyphen, or the country code.
func nbnKey(s string) string {
	const start = len("urn:nbn:")
	end := strings.IndexByte(s, '-')
	if end < 0 {
		end = start + strings.IndexByte(s[start:]+":", ':')
	}
	return upperHex(strings.ToLower(s[:end]) + s[end:])
}

// schemeKey returns the key of a name that is no URN. The name of its scheme is
// in lower case.
func schemeKey(u uri.URI, name string) (string, error) {
	switch name {
	case "ark", "doi", "hdl", "info":
		return pathKey(u, name)
	case "tag":
		return name + u.String()[len(name):], nil
	case "http", "https":
		return webKey(u, name)
	}
	return u.Normalize(uri.LevelPercent).String(), nil
}

// pathKey returns the key of a name whose scheme has no query: what follows a
// question mark is said to a resolver or to the resource.
func pathKey(u uri.URI, name string) (string, error) {
	s := u.String()
	if q, ok := u.Query(); ok {
		return "", refuse(s, len(s)-len(q)-1, "query", "a query belongs to a request, not to the name")
	}
	rest := s[len(name)+1:]
	switch name {
	case "ark":
		return arkKey(s, rest)
	case "doi":
		return handleKey(s, name, doiKey(rest))
	case "hdl":
		return handleKey(s, name, hdlKey(rest))
	}
	return infoKey(s, u.Normalize(uri.LevelPercent).String())
}

// handleKey checks the form of a folded handle (RFC 3651, 2).
func handleKey(s, label, folded string) (string, error) {
	prefix, local, ok := strings.Cut(folded, "/")
	if !ok || prefix == "" || local == "" {
		return "", refuse(s, len(s), label, `wants the form prefix "/" local-name`)
	}
	return label + ":" + folded, nil
}

// hdlKey folds the prefix of a handle.
func hdlKey(s string) string {
	prefix, _, _ := strings.Cut(s, "/")
	return upperHex(strings.ToLower(prefix) + s[len(prefix):])
}

func infoKey(s, normal string) (string, error) {
	namespace, id, ok := strings.Cut(normal, "/")
	if !ok || id == "" || namespace == "info:" {
		return "", refuse(s, len(s), "info-URI", `wants the form "info:" namespace "/" identifier`)
	}
	return strings.ToLower(namespace) + "/" + id, nil
}

// webKey returns the normal form of an http or https URL.
func webKey(u uri.URI, name string) (string, error) {
	s := u.String()
	if host, ok := u.Host(); !ok || host == "" {
		begin := len(name + ":")
		if strings.HasPrefix(s[begin:], "//") {
			begin += len("//")
		}
		return "", refuse(s, begin, "authority", "a web name needs a host")
	}
	if _, ok := u.Userinfo(); ok {
		return "", refuse(s, len(name+"://"), "userinfo", "a web name holds no user name or password")
	}
	return u.Normalize(uri.LevelScheme, scheme.Rules()...).String(), nil
}

// arkKey reads "ark:" ["/"] NAAN "/" Name.
func arkKey(s, rest string) (string, error) {
	rest = strings.TrimPrefix(rest, "/")
	naan, tail, ok := strings.Cut(rest, "/")
	naan = strings.ToLower(strings.ReplaceAll(naan, "-", ""))
	for i := range len(naan) {
		if !isAlnum(naan[i]) {
			return "", refuse(s, len(s)-len(rest)+i, "NAAN", "contains %q", naan[i:i+1])
		}
	}
	tail = arkTail(tail)
	if !ok || naan == "" || tail == "" {
		return "", refuse(s, len(s), "ARK", `wants the form "ark:" NAAN "/" name`)
	}
	return "ark:" + naan + "/" + tail, nil
}

// arkTail drops hyphens, raises hex digits, and makes structural characters
// single and inner ones.
func arkTail(s string) string {
	b := make([]byte, 0, len(s))
	for _, c := range []byte(upperHex(s)) {
		structural := c == '/' || c == '.'
		switch {
		case c == '-':
		case structural && (len(b) == 0 || isStructural(b[len(b)-1])):
		default:
			b = append(b, c)
		}
	}
	for len(b) > 0 && isStructural(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return string(b)
}

func isStructural(c byte) bool { return c == '/' || c == '.' }

// upperHex raises the hex digits of the escapes of s.
func upperHex(s string) string {
	if strings.IndexByte(s, '%') < 0 {
		return s
	}
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i:], upper(s[i:i+3]))
			i += 2
		}
	}
	return string(b)
}

func isAlnum(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

func upper(s string) string { return strings.ToUpper(s) }

func unhex(c byte) byte {
	switch {
	case c <= '9':
		return c - '0'
	case c <= 'F':
		return c - 'A' + 10
	}
	return c - 'a' + 10
}

// wrap makes an [*Error] of a parser's error, keeping place and rule.
func wrap(s string, err error) error {
	var own *Error
	var nerr *urn.Error
	var uerr *uri.Error
	switch {
	case errors.As(err, &own):
		return own
	case errors.As(err, &nerr):
		return &Error{Input: s, Offset: nerr.Offset, Rule: nerr.Rule, Message: nerr.Message, Err: err}
	case errors.As(err, &uerr):
		return &Error{Input: s, Offset: uerr.Offset, Rule: uerr.Rule, Message: uerr.Code.String(), Err: err}
	}
	return &Error{Input: s, Rule: "name", Message: err.Error(), Err: err}
}
