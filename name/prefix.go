package name

import (
	"strings"

	"github.com/nomen-project/nomen/internal/pid"
	"github.com/nomen-project/nomen/namespace"
)

// A Prefix is the beginning of the keys for which a naming authority is responsible. It covers a
// key if a delimiter of the scheme or namespace follows the prefix in the key. So "urn:nbn:fi"
// covers "urn:nbn:fi-x" and "urn:nbn:fi:y-x", but not "urn:nbn:fin-x". "urn:oid:1.3" covers
// "urn:oid:1.3.6".
//
// A prefix is compared with keys, not with spellings: an ARK is stored without hyphens, so the
// prefix of an ARK has no hyphens. A namespace whose names are single numbers (isbn, uuid) has
// only one prefix, which covers all names of the namespace. A scheme such as doi or ark is
// also a prefix: "doi". Prefixes are comparable; the zero Prefix is invalid.
type Prefix struct {
	key  string
	only byte // the only delimiter that may follow the prefix; 0 if every delimiter of the namespace may
}

// delimiters returns the characters that can follow a prefix or divide a key. It returns "" if
// there are none. [Prefix.Join] inserts the first character.
func delimiters(key string) string {
	scheme, rest, more := strings.Cut(key, ":")
	if !more && isWhole(scheme) {
		return ":"
	}
	switch scheme {
	case "urn":
		nid, nss, _ := strings.Cut(rest, ":")
		if nss == "" {
			return ":"
		}
		return namespace.Delimiters(nid)
	case "tag":
		return ":"
	case "ark":
		return "/."
	case "http", "https":
		if pathOffset(rest) > 0 {
			return "/:"
		}
	}
	return "/"
}

// isWeb reports whether a key is that of a web name.
func isWeb(key string) bool {
	return strings.HasPrefix(key, "http://") || strings.HasPrefix(key, "https://")
}

// pathOffset returns the offset of the path in the part of a web key after the
// scheme and colon, or -1. A colon before the path belongs to the port and is not
// a delimiter.
func pathOffset(rest string) int {
	const slashes = len("//")
	if len(rest) < slashes {
		return -1
	}
	i := strings.IndexByte(rest[slashes:], '/')
	if i < 0 {
		return -1
	}
	return slashes + i
}

// ParsePrefix parses the prefix of an authority in any spelling. It drops a final
// delimiter: "urn:ietf:rfc" and "URN:IETF:rfc:" are the same prefix. The error is
// an [*Error]. A prefix under which no name is valid is an error too.
func ParsePrefix(s string) (Prefix, error) {
	if s == "" {
		return Prefix{}, newError(s, 0, "prefix", "empty")
	}
	if whole := strings.ToLower(strings.TrimSuffix(s, ":")); isWhole(whole) {
		return Prefix{key: whole}, nil
	}
	trimmed := s
	if strings.IndexByte(delimiters(strings.ToLower(s)), s[len(s)-1]) >= 0 {
		trimmed = s[:len(s)-1]
	}
	d := delimiters(strings.ToLower(trimmed))
	switch {
	case d == "":
		return Prefix{}, wholeError(s)
	case trimmed != "" && strings.IndexByte(d, trimmed[len(trimmed)-1]) >= 0:
		return Prefix{}, newError(s, len(trimmed), "prefix", "ends with an empty part")
	}
	const element = "0" // represents any element
	n, err := Parse(trimmed + d[:1] + element)
	if err != nil {
		return Prefix{}, prefixError(s, err)
	}
	key, ok := strings.CutSuffix(n.key, d[:1]+element)
	if !ok { // for example, s is "https://"
		return Prefix{}, newError(s, len(s), "prefix", "incomplete: the first part is missing")
	}
	return Prefix{key: foldPrefix(key)}, nil
}

// CanonicalPrefix returns the prefix that [ParsePrefix] returns. If s ends in a delimiter, the
// result ends in it too, and covers only names in which this delimiter follows the prefix; see
// [ParseScope].
func CanonicalPrefix(s string) (string, error) {
	p, err := ParsePrefix(s)
	if err != nil {
		return "", err
	}
	if end := s[len(s)-1:]; strings.Contains(delimiters(p.key), end) && !strings.HasSuffix(p.key, end) {
		return p.key + end, nil
	}
	return p.key, nil
}

// Beginning returns the beginning of the keys that a person looks for by a prefix. This is the
// result of [CanonicalPrefix]. If s is not a prefix, it is s itself, because s may be the beginning
// of a prefix, such as a part of a scheme.
func Beginning(s string) string {
	if canonical, err := CanonicalPrefix(s); err == nil {
		return canonical
	}
	return s
}

// ParseScope parses a result of [CanonicalPrefix]. It is like [ParsePrefix], with one difference.
// If s ends with a delimiter, the result covers only names that continue with this delimiter. So
// urn:nbn:fi:ex- covers urn:nbn:fi:ex-1, but not urn:nbn:fi:ex:1.
func ParseScope(s string) (Prefix, error) {
	p, err := ParsePrefix(s)
	if err == nil && len(delimiters(p.key)) > 1 && strings.HasPrefix(s, p.key) && len(s) == len(p.key)+1 {
		p.only = s[len(p.key)]
	}
	return p, err
}

// isWhole reports whether a scheme, in lower case, can be a prefix for all its names, as "doi"
// can.
func isWhole(scheme string) bool { return pid.Lookup(scheme).Prefix }

// foldPrefix folds the prefix of keys in the same way as the names under it.
func foldPrefix(key string) string {
	if root := rootLength(key); 0 < root && root < len(key) && !strings.HasPrefix(key, "urn:dns:") {
		return key[:root+1] + namespace.FoldPrefix(key[len("urn:"):root], key[root+1:])
	}
	return key
}

// rootLength returns the length of "urn:" and the NID, 0 if key is not the key of a URN.
func rootLength(key string) int {
	rest, ok := strings.CutPrefix(key, "urn:")
	if !ok {
		return 0
	}
	nid, _, _ := strings.Cut(rest, ":")
	return len("urn:") + len(nid)
}

// wholeError returns the error for a prefix in a namespace whose names have no
// parts.
func wholeError(s string) *Error {
	root := rootLength(strings.ToLower(s))
	return newError(s, root, "prefix", "names of this namespace cannot be divided: the only prefix is %q", strings.ToLower(s[:root]))
}

// prefixError returns the error for the prefix s. Its argument err is the error of parsing s
// followed by a placeholder. If parsing s alone fails at the same offset by the same rule,
// prefixError returns that error, because err may refer to the placeholder.
func prefixError(s string, err error) error {
	e := wrap(s, err).(*Error)
	if _, own := Parse(s); own != nil {
		if o := wrap(s, own).(*Error); o.Offset == e.Offset && o.Rule == e.Rule {
			e = o
		}
	}
	return &Error{Input: s, Offset: min(e.Offset, len(s)), Rule: e.Rule, Message: e.Message, Err: e.Err}
}

// MustParsePrefix is like [ParsePrefix] but panics on an error.
func MustParsePrefix(s string) Prefix {
	p, err := ParsePrefix(s)
	if err != nil {
		panic("name: MustParsePrefix: " + err.Error())
	}
	return p
}

// PrefixFromKey returns the prefix with the given String, such as one from a store of the same
// [RulesVersion]. It does not check the key.
func PrefixFromKey(key string) Prefix { return Prefix{key: key} }

// IsZero reports whether p is the invalid zero Prefix.
func (p Prefix) IsZero() bool { return p.key == "" }

// String returns the prefix without a final delimiter, unless it comes from [ParseScope].
func (p Prefix) String() string {
	if p.only != 0 {
		return p.key + string(p.only)
	}
	return p.key
}

// delimiters returns the characters that may follow p.
func (p Prefix) delimiters() string {
	if p.only != 0 {
		return string(p.only)
	}
	return delimiters(p.key)
}

// Covers reports whether n is under p. A web prefix also covers the name that consists of the prefix
// and a slash.
func (p Prefix) Covers(n Name) bool {
	rest, ok := strings.CutPrefix(n.key, p.key)
	return ok && p.key != "" && (len(rest) > 1 || rest == "/" && isWeb(n.key)) && strings.IndexByte(p.delimiters(), rest[0]) >= 0
}

// Spans returns the beginnings of the keys that p covers. Each beginning is p and one of the
// delimiters that may follow p.
func (p Prefix) Spans() []string {
	if p.key == "" {
		return nil
	}
	var all []string
	for _, d := range []byte(p.delimiters()) {
		all = append(all, p.key+string(d))
	}
	return all
}

// Element returns the part of n after p, so that p.Join(p.Element(n)) is n. It is
// "" if p does not cover n, and for the name of a web prefix and a slash.
func (p Prefix) Element(n Name) string {
	if !p.Covers(n) {
		return ""
	}
	rest, d := n.key[len(p.key):], p.delimiters()
	if len(rest) > 1 && len(d) > 1 && (rest[0] != d[0] || strings.IndexByte(d, rest[1:][0]) >= 0) {
		return rest
	}
	return rest[1:]
}

// Join returns the name of an element under p. Join inserts the first delimiter of the namespace.
// If the namespace has several delimiters and the element begins with one of them, Join inserts
// none. The Input of an error is the joined spelling.
func (p Prefix) Join(element string) (Name, error) { return Parse(p.Spell(element)) }

// Spell returns the spelling that [Prefix.Join] parses.
func (p Prefix) Spell(element string) string {
	d := p.delimiters()
	if len(d) > 1 && element != "" && strings.IndexByte(d, element[0]) >= 0 {
		return p.key + element
	}
	return p.key + d[:1] + element
}

// Prefixes yields every prefix that could cover n, the longest first. The method value is an
// iterator.
func (n Name) Prefixes(yield func(Prefix) bool) {
	d, root := delimiters(n.key), rootLength(n.key)
	divides := func(i int) bool { return strings.IndexByte(d, n.key[i]) >= 0 }
	first := root + 1 // no prefix ends at or before this offset, because the part before the first delimiter is not empty
	if scheme, rest, _ := strings.Cut(n.key, ":"); isWeb(n.key) {
		first = len(scheme) + pathOffset(rest)
	}
	last := len(n.key) - 2
	if isWeb(n.key) && strings.HasSuffix(n.key, "/") {
		last++
	}
	for i := last; i > first; i-- {
		if divides(i) && !divides(i-1) && !yield(Prefix{key: n.key[:i]}) {
			return
		}
	}
	if root == 0 {
		if scheme, _, _ := strings.Cut(n.key, ":"); isWhole(scheme) {
			yield(Prefix{key: scheme})
		}
		return
	}
	if root < len(n.key)-1 {
		yield(Prefix{key: n.key[:root]})
	}
}

// MarshalText implements [encoding.TextMarshaler].
func (p Prefix) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler]. An empty text is the zero
// Prefix.
func (p *Prefix) UnmarshalText(text []byte) (err error) {
	if len(text) == 0 {
		*p = Prefix{}
		return nil
	}
	*p, err = ParsePrefix(string(text))
	return err
}
