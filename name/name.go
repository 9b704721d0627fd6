package name

import (
	"errors"
	"fmt"
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/uri"
	"github.com/nomen-project/nomen/urn"
)

// RulesVersion is the version of the rules that turn spellings into keys. It is incremented when a
// change of the rules can alter a key; docs/reference/files.md has its history.
const RulesVersion = 3

// MaxLength is the maximum length of a key and of a spelling, in bytes. Keys are short enough for
// the indexes of all common databases.
const MaxLength = 2048

// A Name is a persistent name in its canonical form. It can be a map key: two Names are == exactly
// if they are equivalent. The zero Name is not valid.
type Name struct{ key string }

// An Error says at which byte a spelling is not a valid name, and why.
type Error struct {
	Input   string // the whole input
	Offset  int    // offset of the first byte that makes the input invalid
	Rule    string // the violated production or rule, as the document spells it
	Message string // what is wrong, for people
	Err     error  // the error of the parser for this kind of name, or nil
}

const maxQuoted = 80 // how many bytes of the input the message shows

func (e *Error) Error() string {
	s := fmt.Sprintf("name: %q: offset %d: %s: %s", ascii.Head(e.Input, maxQuoted), e.Offset, e.Rule, e.Message)
	if m, ok := Interpret(e.Input); ok {
		s += "; did you mean " + m.Spelling + "?"
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }

// Violation implements [uri.InputError].
func (e *Error) Violation() uri.Violation {
	return uri.Violation{Input: e.Input, Offset: e.Offset, Rule: e.Rule, Message: e.Message}
}

func newError(input string, offset int, rule, format string, args ...any) *Error {
	return &Error{Input: input, Offset: offset, Rule: rule, Message: fmt.Sprintf(format, args...)}
}

// Parse parses s as a name of any scheme. It removes delimiters around the name, such as angle
// brackets ([uri.Undelimit]; draft of 1995, section 2). If s is not a name, the error is an
// [*Error], whose offset refers to s.
func Parse(s string) (Name, error) {
	if inner, delimited := uri.Undelimit(s); delimited {
		n, err := parse(inner)
		var bad *Error
		if errors.As(err, &bad) {
			e := *bad
			e.Input, e.Offset = s, uri.DelimitedOffset(s, e.Offset)
			err = &e
		}
		return n, err
	}
	return parse(s)
}

// parse is Parse without the removal of delimiters.
func parse(s string) (Name, error) {
	if len(s) > MaxLength {
		return Name{}, newError(s, MaxLength, "name", "longer than %d bytes", MaxLength)
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

// MustParse is like [Parse], but panics if s is not a name. Use it for constants and in tests.
func MustParse(s string) Name {
	n, err := Parse(s)
	if err != nil {
		panic("name: MustParse: " + err.Error())
	}
	return n
}

// FromURN returns the name for an assigned URN. It returns an error if u has a component, because
// components do not belong to the name; [urn.URN.Assigned] removes them.
func FromURN(u urn.URN) (Name, error) {
	s := u.String()
	if !u.IsValid() {
		return Name{}, newError(s, 0, "URN", "the zero URN")
	}
	if a := u.Assigned().String(); len(a) < len(s) {
		return Name{}, newError(s, len(a), "assigned-name", "the component is part of a reference, not of the name")
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
		return Name{}, newError(s, 0, "scheme", "missing scheme, such as urn: or https:")
	case strings.EqualFold(scheme, "urn"):
		return parse(s)
	}
	if f, ok := u.Fragment(); ok {
		return Name{}, newError(s, len(s)-len(f)-1, "fragment", "a fragment is part of a reference, not of the name")
	}
	key, err := schemeKey(u, strings.ToLower(scheme))
	if err != nil {
		return Name{}, wrap(s, err)
	}
	return checked(s, key)
}

// FromKey returns the name that has the given key. It does not check the key, which must be
// canonical, for example because it comes from a store with the same [RulesVersion].
func FromKey(key string) Name { return Name{key} }

// checked returns the name with a key. It returns an error if the key violates a rule that applies
// to every scheme.
func checked(s, key string) (Name, error) {
	if len(key) > MaxLength {
		return Name{}, newError(s, len(s), "name", "its key is longer than %d bytes", MaxLength)
	}
	if i := strings.Index(s, "%00"); i >= 0 {
		return Name{}, newError(s, i, "NUL", "a name cannot contain the NUL character")
	}
	return Name{key}, nil
}

func (n Name) IsZero() bool { return n.key == "" }

// Key returns the key, which is the canonical spelling.
func (n Name) Key() string { return n.key }

// String returns the key.
func (n Name) String() string { return n.key }

// Scheme returns the scheme in lower case.
func (n Name) Scheme() string {
	scheme, _, _ := strings.Cut(n.key, ":")
	return scheme
}

// NID returns the namespace identifier of a URN in lower case, or "" if the name is not a URN.
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

// Compare compares names by the bytes of their keys, which is the order in every store.
func (n Name) Compare(m Name) int { return strings.Compare(n.key, m.key) }

// MarshalText implements [encoding.TextMarshaler].
func (n Name) MarshalText() ([]byte, error) { return []byte(n.key), nil }

// UnmarshalText implements [encoding.TextUnmarshaler]. It parses any spelling of a name. An empty
// text becomes the zero Name.
func (n *Name) UnmarshalText(text []byte) (err error) {
	if len(text) == 0 {
		*n = Name{}
		return nil
	}
	*n, err = Parse(string(text))
	return err
}
