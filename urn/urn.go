package urn

import "strings"

// MaxLength is the maximum length of a URN, in bytes.
const MaxLength = 1 << 16

// A URN is a Uniform Resource Name. It consists of the assigned name and, if it is used as a
// reference, components.
//
// A URN is an immutable value. Two URNs are == exactly if their spellings and dialects are equal.
// The parts of a URN are substrings of the spelling, so a part keeps the whole spelling in memory.
// The zero URN is not valid.
type URN struct {
	s       string // without white space and brackets in Draft1995
	nid     uint32 // end of the NID or SchemeID
	auth    uint32 // end of the AuthorityID; 0 except in Draft1995
	nss     uint32 // end of the NSS or ElementID
	r       uint32 // end of the r-component, or nss
	q       uint32 // end of the q-component or the query, or r
	dialect Dialect
}

const prefixLen = len("urn:")

// Parse parses a URN in the dialect [Latest]; see [Dialect.Parse].
func Parse(s string) (URN, error) { return Latest.Parse(s) }

// MustParse is like [Parse], but panics if s is not a URN. Use it for constants and in tests.
func MustParse(s string) URN {
	u, err := Parse(s)
	if err != nil {
		panic("urn: MustParse: " + err.Error())
	}
	return u
}

// ParseAssigned parses an assigned name in the dialect [Latest]; see [Dialect.ParseAssigned].
func ParseAssigned(s string) (URN, error) { return Latest.ParseAssigned(s) }

// Parse parses a URN in dialect d. The URN may have the components that a reference can have. If s
// is not a URN, the error is an [*Error].
func (d Dialect) Parse(s string) (u URN, _ error) {
	if err := u.read(d, s); err != nil {
		return URN{}, err
	}
	return u, nil
}

// ParseAssigned parses a name that can be assigned to a resource. Such a name has no query or
// fragment (draft of 2012, sections 2.3 and 2.4) and no r-, q- or f-component (RFC 8141, section
// 2). It is not a request to a resolver ([IsRequest]). If s is not such a name, the error is an
// [*Error].
func (d Dialect) ParseAssigned(s string) (u URN, _ error) {
	err := u.read(d, s)
	switch {
	case err != nil:
	case int(u.nss) < len(u.s):
		err = d.fail(s, int(u.nss), grammars[d].inner, "an assigned name cannot contain %s", found(s, int(u.nss)))
	case IsRequest(u.ElementID()):
		err = d.fail(s, offset1995(s, int(u.auth)+1), grammars[d].nss,
			"elements that begin with %q are requests to a resolver", ReservedPrefix)
	default:
		return u, nil
	}
	return URN{}, err
}

// read parses s into u. On error, u is the longest URN at the start of s, or the zero URN.
func (u *URN) read(d Dialect, s string) *Error {
	if len(s) > MaxLength {
		return d.fail(s, MaxLength, "URN", "longer than %d bytes", MaxLength)
	}
	switch d {
	case Draft1995:
		return u.read1995(s)
	case RFC2141, Draft2012, RFC8141:
		return u.readName(d, s)
	}
	return d.fail(s, 0, "URN", "unknown dialect")
}

// IsValid reports whether u was parsed. It returns false only for the zero URN.
func (u URN) IsValid() bool { return u.dialect != 0 }

// Dialect returns the dialect in which u was parsed.
func (u URN) Dialect() Dialect { return u.dialect }

// String returns the text from which u was parsed. In [Draft1995] this excludes white space and
// angle brackets, which do not belong to the name.
func (u URN) String() string { return u.s }

// NID returns the namespace identifier as it is spelled (RFC 8141, section 2.1). In [Draft1995]
// this is the SchemeID.
func (u URN) NID() string {
	if !u.IsValid() {
		return ""
	}
	return u.s[prefixLen:u.nid]
}

// NSS returns the namespace-specific string (RFC 8141, section 2.2). In [Draft1995] this is
// everything after the SchemeID.
func (u URN) NSS() string {
	if !u.IsValid() {
		return ""
	}
	return u.s[u.nid+1 : u.nss]
}

// RComponent returns the r-component, and whether there is one. An r-component is meant for the
// resolver (RFC 8141, section 2.3.1).
func (u URN) RComponent() (string, bool) {
	if u.r == u.nss {
		return "", false
	}
	return u.s[u.nss+2 : u.r], true
}

// QComponent returns the q-component, and whether there is one. A q-component is meant for the
// resource (RFC 8141, section 2.3.2).
func (u URN) QComponent() (string, bool) {
	if u.q == u.r || u.dialect != RFC8141 {
		return "", false
	}
	return u.s[u.r+2 : u.q], true
}

// Query returns the query of a URN in [Draft2012] without its question mark, and whether there is
// one (section 2.3). A query is never empty. Use [URN.Directives] to split it.
func (u URN) Query() (string, bool) {
	if u.q == u.nss || u.dialect != Draft2012 {
		return "", false
	}
	return u.s[u.nss+1 : u.q], true
}

// FComponent returns the f-component, and whether there is one (RFC 8141, section 2.3.3). In
// [Draft2012] it returns the fragment (section 2.4). An f-component or fragment is meant for the
// client alone, and may be empty.
func (u URN) FComponent() (string, bool) {
	if int(u.q) == len(u.s) {
		return "", false
	}
	return u.s[u.q+1:], true
}

// IsAssigned reports whether u can be an assigned name. This is the case if u is valid, has no
// components, and is not a request to a resolver; see [IsRequest].
func (u URN) IsAssigned() bool {
	return u.IsValid() && int(u.nss) == len(u.s) && !IsRequest(u.ElementID())
}

// Assigned returns u without its components. The result is the name that a resolver looks up.
func (u URN) Assigned() URN {
	u.s = u.s[:u.nss]
	u.r, u.q = u.nss, u.nss
	return u
}

// SchemeID returns the second of the four fields of a URN in [Draft1995]. In other dialects it
// returns "".
func (u URN) SchemeID() string {
	if u.dialect != Draft1995 {
		return ""
	}
	return u.s[prefixLen:u.nid]
}

// AuthorityID returns the third of the four fields of a URN in [Draft1995].
func (u URN) AuthorityID() string {
	if u.dialect != Draft1995 {
		return ""
	}
	return u.s[u.nid+1 : u.auth]
}

// ElementID returns the last of the four fields of a URN in [Draft1995].
func (u URN) ElementID() string {
	if u.dialect != Draft1995 {
		return ""
	}
	return u.s[u.auth+1 : u.nss]
}

// IsReservedRequest reports whether the ElementID begins with "urn+" without escapes (draft of
// 1995, sections 2.3 and 3.5). A URN with such an ElementID is a request to the resolver, and can
// never be assigned. If "urn+" is escaped, the URN is not a request, but it cannot be assigned
// either; see [IsRequest].
func (u URN) IsReservedRequest() bool {
	return strings.HasPrefix(u.ElementID(), ReservedPrefix)
}

// ReservedPrefix is the prefix of the ElementID of a reserved request. It is case-sensitive (draft
// of 1995, section 2.3).
const ReservedPrefix = "urn+"

// IsRequest reports whether an ElementID begins with "urn+" after its escapes are decoded. Such an
// ElementID cannot be assigned. Software that decodes escapes before it resolves a name would send
// a reserved request instead.
func IsRequest(element string) bool { return requestLength(element) > 0 }

// requestLength returns the length of "urn+", with or without escapes, at the start of an
// ElementID. It returns 0 if the ElementID begins with other text.
func requestLength(element string) int {
	i := 0
	for n := range len(ReservedPrefix) {
		switch want := ReservedPrefix[n]; {
		case i < len(element) && element[i] == want:
			i++
		case isEscape(element, i) && octetAt(element, i) == want:
			i += 3
		default:
			return 0
		}
	}
	return i
}

// AppendText implements [encoding.TextAppender].
func (u URN) AppendText(b []byte) ([]byte, error) { return append(b, u.s...), nil }

// MarshalText implements [encoding.TextMarshaler].
func (u URN) MarshalText() ([]byte, error) { return []byte(u.s), nil }

// UnmarshalText implements [encoding.TextUnmarshaler]. It parses a URN in the dialect [Latest]. An
// empty text becomes the zero URN.
func (u *URN) UnmarshalText(text []byte) (err error) {
	if len(text) == 0 {
		*u = URN{}
		return nil
	}
	*u, err = Parse(string(text))
	return err
}
