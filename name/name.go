package name

import (
	"errors"
	"fmt"
	"strings"

	"github.com/nomen-project/nomen/uri"
	"github.com/nomen-project/nomen/urn"
)

// RulesVersion numbers the rules by which spellings become keys. It grows with
// every change that can move a key; its history is in docs/formats.md.
const RulesVersion = 3

// MaxLength is the longest key, and the longest spelling read, in bytes. It is
// short enough for the index of any database.
const MaxLength = 2048

// A Name is a persistent name in canonical form. Names are comparable; the zero
// Name is invalid.
type Name struct{ key string }

// An Error is the refusal of a spelling.
type Error struct {
	Input   string // as given
	Offset  int    // in bytes, into Input
	Rule    string // the production or rule that was broken
	Message string // what was found, in words
	Err     error  // the parser's error, if one refused it
}

const maxQuoted = 80 // bytes of the input that an error message shows

func (e *Error) Error() string {
	in := e.Input
	if len(in) > maxQuoted {
		in = in[:maxQuoted] + "..."
	}
	s := fmt.Sprintf("name: %q: offset %d: %s: %s", in, e.Offset, e.Rule, e.Message)
	if m, ok := Meant(e.Input); ok {
		s += "; did you mean " + m.Spelling + "?"
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }

func refuse(input string, offset int, rule, format string, args ...any) *Error {
	return &Error{Input: input, Offset: offset, Rule: rule, Message: fmt.Sprintf(format, args...)}
}

// Parse returns the name that s spells, perhaps between the delimiters of a text
// ([uri.Undelimit]; 1995, 2). The error is an [*Error] with the offset into s.
func Parse(s string) (Name, error) {
	if inner, delimited := uri.Undelimit(s); delimited {
		n, err := parse(inner)
		if bad, ok := errors.AsType[*Error](err); ok {
			e := *bad
			e.Input, e.Offset = s, uri.DelimitedOffset(s, e.Offset)
			err = &e
		}
		return n, err
	}
	return parse(s)
}

// parse is Parse for what has no delimiters.
func parse(s string) (Name, error) {
	if len(s) > MaxLength {
		return Name{}, refuse(s, MaxLength, "name", "longer than %d bytes", MaxLength)
	}
	if i := strings.IndexByte(s, ':'); i == len("urn") && strings.EqualFold(s[:i], "urn") {
		u, err := urn.Parse(s)
		if err != nil {
			return Name{}, wrap(s, err)
		}
		return FromURN(u)
	}
	u, err := uri.Parse(s)
	if err != nil {
		return Name{}, wrap(s, err)
	}
	return FromURI(u)
}

// MustParse is like [Parse] but panics when s is not a name. It is for constants
// of programs and tests.
func MustParse(s string) Name {
	n, err := Parse(s)
	if err != nil {
		panic("name: MustParse: " + err.Error())
	}
	return n
}

// FromURN returns the name that u refers to. A component of u is refused: it
// belongs to the reference, not to the name ([urn.URN.Assigned] drops it).
func FromURN(u urn.URN) (Name, error) {
	s := u.String()
	if !u.IsValid() {
		return Name{}, refuse(s, 0, "URN", "the zero URN")
	}
	if a := u.Assigned().String(); len(a) < len(s) {
		return Name{}, refuse(s, len(a), "assigned-name", "a component follows the name")
	}
	key, err := urnKey(u)
	if err != nil {
		return Name{}, wrap(s, err)
	}
	return checked(s, key)
}

// FromURI returns the name that u spells.
func FromURI(u uri.URI) (Name, error) {
	s := u.String()
	scheme, ok := u.Scheme()
	switch {
	case !ok:
		return Name{}, refuse(s, 0, "scheme", "a name begins with its scheme, as in urn: or https:")
	case strings.EqualFold(scheme, "urn"):
		return parse(s)
	}
	if f, ok := u.Fragment(); ok {
		return Name{}, refuse(s, len(s)-len(f)-1, "fragment", "a fragment belongs to a reference, not to the name")
	}
	key, err := schemeKey(u, strings.ToLower(scheme))
	if err != nil {
		return Name{}, wrap(s, err)
	}
	return checked(s, key)
}

// FromKey returns the name whose key is key, which must be canonical, as read
// from a store of the same [RulesVersion]. It costs nothing: it does not check.
func FromKey(key string) Name { return Name{key} }

// checked applies what holds for the keys of every scheme.
func checked(s, key string) (Name, error) {
	if len(key) > MaxLength {
		return Name{}, refuse(s, len(s), "name", "its key is longer than %d bytes", MaxLength)
	}
	if i := strings.Index(s, "%00"); i >= 0 {
		return Name{}, refuse(s, i, "NUL", "the NUL character is never part of a name")
	}
	return Name{key}, nil
}

// IsZero reports whether n is the invalid zero Name.
func (n Name) IsZero() bool { return n.key == "" }

// Key returns the key: the canonical spelling.
func (n Name) Key() string { return n.key }

// String returns the key.
func (n Name) String() string { return n.key }

// Scheme returns the scheme, in lower case.
func (n Name) Scheme() string {
	scheme, _, _ := strings.Cut(n.key, ":")
	return scheme
}

// NID returns the namespace identifier of a URN, in lower case, else "".
func (n Name) NID() string {
	rest, ok := strings.CutPrefix(n.key, "urn:")
	if !ok {
		return ""
	}
	nid, _, _ := strings.Cut(rest, ":")
	return nid
}

// URI returns the name as a URI.
func (n Name) URI() uri.URI {
	u, err := uri.Parse(n.key)
	if err != nil {
		return uri.URI{}
	}
	return u
}

// Compare orders names by the bytes of their keys, the order of every store.
func (n Name) Compare(m Name) int { return strings.Compare(n.key, m.key) }

// MarshalText implements [encoding.TextMarshaler].
func (n Name) MarshalText() ([]byte, error) { return []byte(n.key), nil }

// UnmarshalText implements [encoding.TextUnmarshaler]: any spelling is read;
// empty text is the zero Name.
func (n *Name) UnmarshalText(text []byte) (err error) {
	if len(text) == 0 {
		*n = Name{}
		return nil
	}
	*n, err = Parse(string(text))
	return err
}
