package urn

import "strings"

// MaxLength is the maximum length of input for the parsers, in bytes.
const MaxLength = 1 << 16

// A URN is a Uniform Resource Name as used in a reference: the assigned name and
// optional components.
//
// URNs are immutable and comparable; == compares spelling and dialect. The zero
// URN is invalid. Parts are substrings of the spelling and keep it in memory.
type URN struct {
	s       string // without white space and brackets in Draft1995
	nid     uint32 // end of the NID or SchemeID
	auth    uint32 // end of the AuthorityID; 0 unless Draft1995
	nss     uint32 // end of the NSS or ElementID
	r       uint32 // end of the r-component; equal to nss if there is none
	q       uint32 // end of the q-component or the query; equal to r if there is none
	dialect Dialect
}

const prefixLen = len("urn:")

// Parse parses s in the [Latest] dialect.
func Parse(s string) (URN, error) { return Latest.Parse(s) }

// MustParse is like [Parse] but panics if s is not a URN. Use it for constants
// and in tests.
func MustParse(s string) URN {
	u, err := Parse(s)
	if err != nil {
		panic("urn: MustParse: " + err.Error())
	}
	return u
}

// ParseAssigned parses s as an assigned name in the [Latest] dialect; see
// [Dialect.ParseAssigned].
func ParseAssigned(s string) (URN, error) { return Latest.ParseAssigned(s) }

// Parse parses s as a URN of the dialect, with the components that a reference
// may have. The error is an [*Error].
func (d Dialect) Parse(s string) (u URN, _ error) {
	if err := u.read(d, s); err != nil {
		return URN{}, err
	}
	return u, nil
}

// ParseAssigned parses s as a name that can be assigned. Such a name has no query
// or fragment (2012, 2.3 and 2.4) and no r-, q- or f-component (RFC 8141, 2), and
// is not a request to a resolver ([IsRequest]). The error is an [*Error].
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

// read parses s into u. On error, u is the longest URN at the start of s, or the
// zero URN if s does not start with a URN.
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

// IsValid reports whether u came from a parser.
func (u URN) IsValid() bool { return u.dialect != 0 }

// Dialect returns the dialect in which u was parsed.
func (u URN) Dialect() Dialect { return u.dialect }

// String returns the spelling that was parsed; in [Draft1995] without white space
// and angle brackets, which are not part of the name.
func (u URN) String() string { return u.s }

// NID returns the namespace identifier (RFC 8141, 2.1) as spelled; in
// [Draft1995] it is the SchemeID.
func (u URN) NID() string {
	if !u.IsValid() {
		return ""
	}
	return u.s[prefixLen:u.nid]
}

// NSS returns the namespace-specific string (RFC 8141, 2.2); in [Draft1995] it is everything
// after the SchemeID.
func (u URN) NSS() string {
	if !u.IsValid() {
		return ""
	}
	return u.s[u.nid+1 : u.nss]
}

// RComponent returns the r-component, which is for the resolver (RFC 8141,
// 2.3.1), and whether there is one.
func (u URN) RComponent() (string, bool) {
	if u.r == u.nss {
		return "", false
	}
	return u.s[u.nss+2 : u.r], true
}

// QComponent returns the q-component, which is for the resource (RFC 8141,
// 2.3.2), and whether there is one.
func (u URN) QComponent() (string, bool) {
	if u.q == u.r || u.dialect != RFC8141 {
		return "", false
	}
	return u.s[u.r+2 : u.q], true
}

// Query returns the query of [Draft2012] (2.3) without its question mark, and whether there is
// one. A query is never empty. [URN.Directives] splits it.
func (u URN) Query() (string, bool) {
	if u.q == u.nss || u.dialect != Draft2012 {
		return "", false
	}
	return u.s[u.nss+1 : u.q], true
}

// FComponent returns the f-component (RFC 8141, 2.3.3) and whether there is one.
// In [Draft2012] it returns the fragment (2.4). An f-component is for the client
// only, and may be empty.
func (u URN) FComponent() (string, bool) {
	if int(u.q) == len(u.s) {
		return "", false
	}
	return u.s[u.q+1:], true
}

// IsAssigned reports whether u can be an assigned name: it has no components and
// is not a reserved request.
func (u URN) IsAssigned() bool {
	return u.IsValid() && int(u.nss) == len(u.s) && !IsRequest(u.ElementID())
}

// Assigned returns u without its components: the assigned name, by which a
// resolver finds the record.
func (u URN) Assigned() URN {
	u.s = u.s[:u.nss]
	u.r, u.q = u.nss, u.nss
	return u
}

// SchemeID returns the second of the four fields of [Draft1995]. It is empty in
// other dialects.
func (u URN) SchemeID() string {
	if u.dialect != Draft1995 {
		return ""
	}
	return u.s[prefixLen:u.nid]
}

// AuthorityID returns the third of the four fields of [Draft1995].
func (u URN) AuthorityID() string {
	if u.dialect != Draft1995 {
		return ""
	}
	return u.s[u.nid+1 : u.auth]
}

// ElementID returns the last of the four fields of [Draft1995].
func (u URN) ElementID() string {
	if u.dialect != Draft1995 {
		return ""
	}
	return u.s[u.auth+1 : u.nss]
}

// IsReservedRequest reports whether the ElementID begins with exactly "urn+"
// (1995, 2.3 and 3.5). Such an element is a request to the resolver and can never
// be assigned. An element that begins with an escaped "urn+" is not such a
// request, but cannot be assigned either; see [IsRequest].
func (u URN) IsReservedRequest() bool {
	return strings.HasPrefix(u.ElementID(), ReservedPrefix)
}

// ReservedPrefix is the beginning of the ElementIDs of reserved requests. It is
// case-sensitive (1995, 2.3).
const ReservedPrefix = "urn+"

// IsRequest reports whether an ElementID begins with "urn+" after its escapes are decoded.
// Such an element cannot be assigned: software that decodes escapes before it resolves the
// name would send a reserved request instead.
func IsRequest(element string) bool { return requestLength(element) > 0 }

// requestLength returns the length of the beginning of an ElementID that spells "urn+", with or
// without escapes. It returns 0 if the ElementID does not begin with "urn+".
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

// AppendText appends the spelling; it implements [encoding.TextAppender].
func (u URN) AppendText(b []byte) ([]byte, error) { return append(b, u.s...), nil }

// MarshalText implements [encoding.TextMarshaler].
func (u URN) MarshalText() ([]byte, error) { return []byte(u.s), nil }

// UnmarshalText implements [encoding.TextUnmarshaler] in the [Latest] dialect. An
// empty text is the zero URN.
func (u *URN) UnmarshalText(text []byte) (err error) {
	if len(text) == 0 {
		*u = URN{}
		return nil
	}
	*u, err = Parse(string(text))
	return err
}
