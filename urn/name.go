package urn

import "strings"

// A Name is an assigned URN in its canonical spelling. It can be a map key: two Names of the same
// dialect are == exactly if they are equivalent. The zero Name is not valid.
//
// A Name never contains an escaped NUL. Some programs would treat the decoded NUL as the end of the
// text (draft of 2012, section 2.5.3).
type Name struct{ u URN }

// ParseName parses s as a [Name] in the dialect [Latest].
func ParseName(s string) (Name, error) {
	u, err := ParseAssigned(s)
	if err != nil {
		return Name{}, err
	}
	return u.Name()
}

// Name returns the assigned name of u, without components and in its canonical spelling. The error
// is an [*Error] if u contains NUL, is a request to a resolver, or is the zero URN.
func (u URN) Name() (Name, error) {
	s := u.Canonical()
	if i := strings.Index(s, escapedNUL); i >= 0 {
		return Name{}, u.dialect.fail(s, i, "excluded", "an escaped NUL is not allowed in a name")
	}
	if s == u.s && u.IsAssigned() {
		return Name{u}, nil
	}
	n, err := u.dialect.ParseAssigned(s)
	if err != nil {
		return Name{}, err
	}
	return Name{n}, nil
}

const escapedNUL = "%00"

// IsValid reports whether n is not the zero Name.
func (n Name) IsValid() bool { return n.u.IsValid() }

// URN returns n as a URN.
func (n Name) URN() URN { return n.u }

// String returns the canonical spelling.
func (n Name) String() string { return n.u.s }

// Compare orders names by their spellings, as the function [Compare] does.
func (n Name) Compare(m Name) int { return Compare(n.u, m.u) }

// AppendText implements [encoding.TextAppender].
func (n Name) AppendText(b []byte) ([]byte, error) { return n.u.AppendText(b) }

// MarshalText implements [encoding.TextMarshaler].
func (n Name) MarshalText() ([]byte, error) { return n.u.MarshalText() }

// UnmarshalText implements [encoding.TextUnmarshaler]. It parses a name in the dialect [Latest]. An
// empty text becomes the zero Name.
func (n *Name) UnmarshalText(text []byte) (err error) {
	if len(text) == 0 {
		*n = Name{}
		return nil
	}
	*n, err = ParseName(string(text))
	return err
}
