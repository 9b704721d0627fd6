package name

import (
	"strings"

	"github.com/nomen-project/nomen/internal/pid"
	"github.com/nomen-project/nomen/namespace"
)

// A Prefix is the text with which all names of a naming authority begin. A prefix covers a key if
// the key begins with the prefix and a delimiter of the namespace. For example, "urn:nbn:fi" covers
// "urn:nbn:fi-x" and "urn:nbn:fi:y-x", but not "urn:nbn:fin-x".
//
// A prefix must be spelled like a key. For example, a prefix of ARKs has no hyphens, because the
// keys of ARKs have none. If the names of a namespace are single numbers, as in isbn and uuid, the
// only prefix is that of the whole namespace. A scheme such as "doi" or "ark" can be a prefix, too.
// Two Prefixes can be compared with ==. The zero Prefix is not valid.
type Prefix struct {
	key  string
	only byte // the only delimiter that may follow the key; 0 means any delimiter of the namespace
}

// delimiters returns the delimiters of the namespace or scheme of a key, or "". [Prefix.Join]
// inserts the first delimiter.
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

func isWeb(key string) bool {
	return strings.HasPrefix(key, "http://") || strings.HasPrefix(key, "https://")
}

// pathOffset returns the offset of the path in rest, which is an http or https key without its
// scheme and colon. It returns -1 if there is no path. A colon before the path belongs to the port,
// so it is not a delimiter.
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

// ParsePrefix parses the prefix of an authority in any spelling. It ignores a delimiter at the end,
// so "urn:ietf:rfc" and "URN:IETF:rfc:" are the same prefix. It returns an [*Error] if s is not a
// prefix, or if no valid name can begin with it.
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
	const element = "0" // stands for any element
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

// CanonicalPrefix returns the canonical spelling of the prefix s. Unlike [ParsePrefix], it keeps a
// delimiter at the end. A result with such a delimiter covers only names in which this delimiter
// follows the prefix; see [ParseScope].
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

// Beginning returns the start of the keys that match a search for s. This is [CanonicalPrefix] of s
// if s is a prefix. Otherwise it is s itself, which may be an incomplete prefix, such as a part of
// a scheme.
func Beginning(s string) string {
	if canonical, err := CanonicalPrefix(s); err == nil {
		return canonical
	}
	return s
}

// ParseScope parses a result of [CanonicalPrefix]. Unlike [ParsePrefix], it does not ignore a
// delimiter at the end. For example, urn:nbn:fi:ex- covers urn:nbn:fi:ex-1, but not
// urn:nbn:fi:ex:1.
func ParseScope(s string) (Prefix, error) {
	p, err := ParsePrefix(s)
	if err == nil && len(delimiters(p.key)) > 1 && strings.HasPrefix(s, p.key) && len(s) == len(p.key)+1 {
		p.only = s[len(p.key)]
	}
	return p, err
}

// isWhole reports whether a scheme, such as "doi", can be a prefix for all its names. The scheme
// must be in lower case.
func isWhole(scheme string) bool { return pid.Lookup(scheme).Prefix }

func foldPrefix(key string) string {
	if root := rootLength(key); 0 < root && root < len(key) && !strings.HasPrefix(key, "urn:dns:") {
		return key[:root+1] + namespace.FoldPrefix(key[len("urn:"):root], key[root+1:])
	}
	return key
}

func rootLength(key string) int {
	rest, ok := strings.CutPrefix(key, "urn:")
	if !ok {
		return 0
	}
	nid, _, _ := strings.Cut(rest, ":")
	return len("urn:") + len(nid)
}

func wholeError(s string) *Error {
	root := rootLength(strings.ToLower(s))
	return newError(s, root, "prefix", "names of this namespace cannot be divided: the only prefix is %q", strings.ToLower(s[:root]))
}

// prefixError returns the error for the prefix s, where err is the error for s followed by a
// placeholder. If s alone has the same fault, prefixError returns the error for s alone, because
// its message does not mention the placeholder.
func prefixError(s string, err error) error {
	e := wrap(s, err).(*Error)
	if _, own := Parse(s); own != nil {
		if o := wrap(s, own).(*Error); o.Offset == e.Offset && o.Rule == e.Rule {
			e = o
		}
	}
	return &Error{Input: s, Offset: min(e.Offset, len(s)), Rule: e.Rule, Message: e.Message, Err: e.Err}
}

// MustParsePrefix is like [ParsePrefix], but panics if s is not a prefix.
func MustParsePrefix(s string) Prefix {
	p, err := ParsePrefix(s)
	if err != nil {
		panic("name: MustParsePrefix: " + err.Error())
	}
	return p
}

// PrefixFromKey returns the prefix with the given String, without checking it. The argument must be
// canonical, for example because it comes from a store with the same [RulesVersion].
func PrefixFromKey(key string) Prefix { return Prefix{key: key} }

func (p Prefix) IsZero() bool { return p.key == "" }

// String returns the canonical spelling of the prefix. It ends in a delimiter only if the prefix
// comes from [ParseScope].
func (p Prefix) String() string {
	if p.only != 0 {
		return p.key + string(p.only)
	}
	return p.key
}

func (p Prefix) delimiters() string {
	if p.only != 0 {
		return string(p.only)
	}
	return delimiters(p.key)
}

// Covers reports whether n begins with p and a delimiter. An http or https prefix also covers the
// name that consists of the prefix and a slash.
func (p Prefix) Covers(n Name) bool {
	rest, ok := strings.CutPrefix(n.key, p.key)
	return ok && p.key != "" && (len(rest) > 1 || rest == "/" && isWeb(n.key)) && strings.IndexByte(p.delimiters(), rest[0]) >= 0
}

// Spans returns the texts with which the keys covered by p can begin. Each text is p followed by a
// delimiter.
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

// Element returns the part of n after p and the delimiter, so that p.Join(p.Element(n)) is n. It
// returns "" if p does not cover n, or if p is an http or https prefix and n is p and a slash.
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

// Join returns the name that consists of p, a delimiter and element. It inserts the first delimiter
// of the namespace, unless the namespace has several and element already begins with one of them.
// If the result is not a valid name, the error is an [*Error], whose Input is the joined text.
func (p Prefix) Join(element string) (Name, error) { return Parse(p.Spell(element)) }

// Spell returns the text that [Prefix.Join] parses.
func (p Prefix) Spell(element string) string {
	d := p.delimiters()
	if len(d) > 1 && element != "" && strings.IndexByte(d, element[0]) >= 0 {
		return p.key + element
	}
	return p.key + d[:1] + element
}

// Prefixes calls yield for every prefix that could cover n, the longest first. The method value
// n.Prefixes is an iterator.
func (n Name) Prefixes(yield func(Prefix) bool) {
	d, root := delimiters(n.key), rootLength(n.key)
	divides := func(i int) bool { return strings.IndexByte(d, n.key[i]) >= 0 }
	first := root + 1 // every prefix ends after this offset, because an empty part cannot precede the first delimiter
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

// UnmarshalText implements [encoding.TextUnmarshaler]. An empty text becomes the zero Prefix.
func (p *Prefix) UnmarshalText(text []byte) (err error) {
	if len(text) == 0 {
		*p = Prefix{}
		return nil
	}
	*p, err = ParsePrefix(string(text))
	return err
}
