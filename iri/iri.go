package iri

import (
	"encoding"
	"fmt"
	"log/slog"
	"strings"

	"github.com/nomen-project/nomen/uri"
)

// An IRI is a parsed IRI or relative reference. It is an immutable value, and can be a map key. Two
// IRIs are == exactly if they have the same spelling. The zero IRI is not valid.
type IRI struct {
	s string
	u uri.URI // the equivalent URI, which has the same delimiters
}

var (
	_ fmt.Stringer             = IRI{}
	_ encoding.TextMarshaler   = IRI{}
	_ encoding.TextUnmarshaler = (*IRI)(nil)
)

// Parse parses an IRI in UTF-8. The IRI must have a scheme. If s is not an IRI, the error is an
// *[Error].
func Parse(s string) (IRI, error) { return parse(s, uri.Parse) }

// ParseReference parses an IRI or a relative reference in UTF-8. If s is neither, the error is an
// *[Error].
func ParseReference(s string) (IRI, error) { return parse(s, uri.ParseReference) }

// MustParse is like [Parse], but panics if s is not an IRI. Use it for constants.
func MustParse(s string) IRI {
	i, err := Parse(s)
	if err != nil {
		panic(err)
	}
	return i
}

func parse(s string, generic func(string) (uri.URI, error)) (IRI, error) {
	if len(s) > uri.MaxLength {
		return IRI{}, newError(s, uri.MaxLength, "IRI-reference", uri.CodeTooLong)
	}
	if err := checkCharacters(s); err != nil {
		return IRI{}, err
	}
	u, err := generic(escapeNonASCII(s))
	if err != nil {
		return IRI{}, fromURIError(s, err)
	}
	return IRI{s, u}, nil
}

// checkCharacters checks that each non-ASCII character is ucschar, or iprivate in a query, and is
// not a formatting character (RFC 3987, section 4.1). It does not check that schemes, ports and
// addresses are ASCII. Non-ASCII characters in these become escapes, which the URI parser rejects.
func checkCharacters(s string) error {
	query, fragment := false, false
	for i, r := range s {
		switch {
		case r == '#':
			fragment = true
		case r == '?':
			query = true
		case r < 0x80:
		case isFormatting(r):
			return newError(s, i, "4.1", uri.CodeCharacter)
		case isUCSChar(r):
		case isPrivate(r) && query && !fragment:
		default:
			return newError(s, i, ruleAt(query, fragment), uri.CodeCharacter)
		}
	}
	return nil
}

func ruleAt(query, fragment bool) string {
	switch {
	case fragment:
		return "ifragment"
	case query:
		return "iquery"
	default:
		return "ucschar"
	}
}

// isUCSChar reports whether r is ucschar (RFC 3987, section 2.2).
func isUCSChar(r rune) bool {
	switch {
	case r < 0xA0:
		return false
	case r <= 0xFFEF:
		return r <= 0xD7FF || 0xF900 <= r && r <= 0xFDCF || 0xFDF0 <= r
	case r < 0x10000 || r&0xFFFF > 0xFFFD:
		return false
	default:
		return r <= 0xDFFFD || 0xE1000 <= r && r <= 0xEFFFD
	}
}

// isPrivate reports whether r is iprivate (RFC 3987, section 2.2).
func isPrivate(r rune) bool {
	return 0xE000 <= r && r <= 0xF8FF || 0xF0000 <= r && r <= 0xFFFFD || 0x100000 <= r && r <= 0x10FFFD
}

// isFormatting reports whether r is LRM, RLM, LRE, RLE, PDF, LRO or RLO (RFC 3987, section 4.1), or
// an isolate, which Unicode added later.
func isFormatting(r rune) bool {
	return r == 0x200E || r == 0x200F || 0x202A <= r && r <= 0x202E || 0x2066 <= r && r <= 0x2069
}

// IsValid reports whether i was parsed. It returns false only for the zero IRI.
func (i IRI) IsValid() bool { return i.u.IsValid() }

// IsReference reports whether i is a relative reference.
func (i IRI) IsReference() bool { return i.u.IsReference() }

// String returns the text from which i was parsed.
func (i IRI) String() string { return i.s }

// Get returns a component as it is spelled in i, and whether i has this component.
func (i IRI) Get(c uri.Component) (string, bool) {
	raw, ok := i.u.Get(c)
	if !ok || raw == "" || len(i.s) == len(i.u.String()) {
		return raw, ok
	}
	return i.slice(c), true
}

// slice returns the spelling of component c, which must not be empty. The components before c
// determine where the spelling of c starts. Their lengths in the URI are converted to lengths in
// the spelling.
func (i IRI) slice(c uri.Component) string {
	rest := i.s
	if c == uri.ComponentAuthority {
		_, rest, _ = strings.Cut(rest, "//")
		if n := strings.IndexAny(rest, "/?#"); n >= 0 {
			rest = rest[:n]
		}
		return rest
	}
	for role, piece := range i.u.Parts() {
		n := spelled(rest, piece)
		if role == c {
			return trimDelimiters(c, rest[:n])
		}
		rest = rest[n:]
	}
	return ""
}

// spelled returns the number of bytes at the start of s from which piece, a part of the URI, was
// made.
func spelled(s, piece string) int {
	n := 0
	for left := len(piece); left > 0; n++ {
		if s[n] < 0x80 {
			left--
		} else {
			left -= len("%XX")
		}
	}
	return n
}

func trimDelimiters(c uri.Component, piece string) string {
	switch c {
	case uri.ComponentScheme, uri.ComponentUserinfo:
		return piece[:len(piece)-1]
	case uri.ComponentPort, uri.ComponentQuery, uri.ComponentFragment:
		return piece[1:]
	default:
		return piece
	}
}

// Scheme returns the scheme, and whether there is one. It does not convert the scheme to lower
// case.
func (i IRI) Scheme() (string, bool) { return i.Get(uri.ComponentScheme) }

// Authority returns the authority, and whether there is one.
func (i IRI) Authority() (string, bool) { return i.Get(uri.ComponentAuthority) }

// Userinfo returns the user information, and whether there is any.
func (i IRI) Userinfo() (string, bool) { return i.Get(uri.ComponentUserinfo) }

// Host returns the host, and whether there is one. An IP literal includes its brackets.
func (i IRI) Host() (string, bool) { return i.Get(uri.ComponentHost) }

// HostKind returns the kind of the host.
func (i IRI) HostKind() uri.HostKind { return i.u.HostKind() }

// Port returns the port, and whether there is one.
func (i IRI) Port() (string, bool) { return i.Get(uri.ComponentPort) }

// Path returns the path, which may be empty.
func (i IRI) Path() string {
	s, _ := i.Get(uri.ComponentPath)
	return s
}

// Query returns the query without its question mark, and whether there is one.
func (i IRI) Query() (string, bool) { return i.Get(uri.ComponentQuery) }

// Fragment returns the fragment without its number sign, and whether there is one.
func (i IRI) Fragment() (string, bool) { return i.Get(uri.ComponentFragment) }

// MarshalText implements [encoding.TextMarshaler]. It returns the spelling of i.
func (i IRI) MarshalText() ([]byte, error) { return []byte(i.s), nil }

// UnmarshalText implements [encoding.TextUnmarshaler]. It parses a reference. If there is an error,
// i does not change.
func (i *IRI) UnmarshalText(text []byte) error {
	v, err := ParseReference(string(text))
	if err != nil {
		return err
	}
	*i = v
	return nil
}

// LogValue implements [slog.LogValuer]. It returns the URI of i without a password.
func (i IRI) LogValue() slog.Value { return i.u.LogValue() }
