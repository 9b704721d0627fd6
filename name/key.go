package name

import (
	"errors"
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/internal/pid"
	"github.com/nomen-project/nomen/namespace"
	"github.com/nomen-project/nomen/uri"
	"github.com/nomen-project/nomen/urn"
)

// urnKey returns the key of an assigned URN. All names that the namespace considers equivalent have
// the same key. If the name breaks the rules of its namespace and [namespace.Rules].Always is
// false, the key has the canonical spelling of the general syntax.
func urnKey(u urn.URN) (string, error) {
	if strings.EqualFold(u.NID(), "dns") {
		return dnsKey(u)
	}
	return namespace.Fold(u.Canonical()), nil
}

// dnsKey returns the key of a urn:dns name by the rules of the draft of 1995.
func dnsKey(u urn.URN) (string, error) {
	old, err := u.Convert(urn.Draft1995)
	if err != nil {
		return "", err
	}
	return old.Canonical(), nil
}

func schemeKey(u uri.URI, scheme string) (string, error) {
	if pid.Lookup(scheme).Path {
		return pathKey(u, scheme)
	}
	switch scheme {
	case "tag":
		return scheme + u.String()[len(scheme):], nil
	case "http", "https":
		return webKey(u, scheme)
	}
	return u.Normalize(uri.LevelPercent).String(), nil
}

// pathKey returns the key of an ark, doi, hdl or info name. The parameter scheme must be in lower
// case.
func pathKey(u uri.URI, scheme string) (string, error) {
	s := u.String()
	if q, ok := u.Query(); ok {
		return "", newError(s, len(s)-len(q)-1, "query", "a query is part of a request, not of the name")
	}
	rest := s[len(scheme)+1:]
	switch scheme {
	case "ark":
		return arkKey(s, rest)
	case "doi":
		return handleKey(s, scheme, pid.FoldDOI(rest))
	case "hdl":
		return handleKey(s, scheme, upperHex(pid.FoldHandle(rest)))
	}
	return infoKey(s, u.Normalize(uri.LevelPercent).String())
}

// handleKey returns the key of a handle after checking its form (RFC 3651, section 2).
func handleKey(s, label, folded string) (string, error) {
	prefix, local, ok := strings.Cut(folded, "/")
	if !ok || prefix == "" || local == "" {
		return "", newError(s, len(s), label, `must have the form prefix "/" local-name`)
	}
	return label + ":" + folded, nil
}

func infoKey(s, normal string) (string, error) {
	namespace, id, ok := strings.Cut(normal, "/")
	if !ok || id == "" || namespace == "info:" {
		return "", newError(s, len(s), "info-URI", `must have the form "info:" namespace "/" identifier`)
	}
	return pid.FoldInfo(normal), nil
}

func webKey(u uri.URI, scheme string) (string, error) {
	s := u.String()
	if host, ok := u.Host(); !ok || host == "" {
		begin := len(scheme + ":")
		if strings.HasPrefix(s[begin:], "//") {
			begin += len("//")
		}
		return "", newError(s, begin, "authority", "a web name must have a host")
	}
	if _, ok := u.Userinfo(); ok {
		return "", newError(s, len(scheme+"://"), "userinfo", "a web name cannot contain a user name or password")
	}
	// pid.HTTP and pid.HTTPS do not set IPv6Text, because the keys of existing stores must not
	// change. In existing keys, IPv6 addresses may have other spellings.
	return u.Normalize(uri.LevelScheme, pid.HTTP, pid.HTTPS).String(), nil
}

// arkKey parses "ark:" ["/"] NAAN "/" Name.
func arkKey(s, rest string) (string, error) {
	rest = strings.TrimPrefix(rest, "/")
	naan, tail, ok := strings.Cut(rest, "/")
	for i := range len(naan) {
		if !ascii.IsAlnum(naan[i]) && naan[i] != '-' {
			return "", newError(s, len(s)-len(rest)+i, "NAAN", "contains %q", naan[i:i+1])
		}
	}
	key := pid.FoldARK(naan, upperHex(tail))
	if !ok || strings.HasPrefix(key, "ark:/") || strings.HasSuffix(key, "/") {
		return "", newError(s, len(s), "ARK", `must have the form "ark:" NAAN "/" name`)
	}
	return key, nil
}

func upperHex(s string) string {
	if strings.IndexByte(s, '%') < 0 {
		return s
	}
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i:], strings.ToUpper(s[i:i+3]))
			i += 2
		}
	}
	return string(b)
}

// wrap converts the error of another parser to an [*Error], with its offset and rule.
func wrap(s string, err error) error {
	var own *Error
	var bad uri.InputError
	switch {
	case errors.As(err, &own):
		return own
	case errors.As(err, &bad):
		v := bad.Violation()
		return &Error{Input: s, Offset: v.Offset, Rule: v.Rule, Message: v.Message, Err: err}
	}
	return &Error{Input: s, Rule: "name", Message: err.Error(), Err: err}
}
