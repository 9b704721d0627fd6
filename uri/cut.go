package uri

import "github.com/nomen-project/nomen/internal/ascii"

// A Cutter finds where a URI at the start of a text ends. It accepts only the most common form of
// URIs, in the dialect [Latest]:
//
//	scheme "://" host [ ":" port ] path [ "?" query ] [ "#" fragment ]
//
// The host is an IPv4 address or a name. Each label of a name consists of letters, digits, hyphens
// and underscores, is not empty, and neither begins nor ends with a hyphen. The last label may be
// followed by a full stop. A Cutter is safe for concurrent use.
type Cutter struct {
	places [256]class
}

// Character classes and weights that only a Cutter uses. The weights detect invalid pairs of
// characters in a name, such as "..": a pair is invalid if the sum of its weights is at least
// tooHeavy.
const (
	inAuthority class = 1 << 15 // may appear in an authority, and so does not end it
	inName      class = 1 << 14

	hyphenWeight class = 1 << 12
	dotWeight    class = 2 << 12
	tooHeavy     class = 3 << 12
	anyWeight    class = 3 << 12
)

// NewCutter returns a Cutter that also ends a path, query or fragment before any octet in stop. The
// parameter stop should contain punctuation that belongs to the surrounding text, such as quotation
// marks. It must not contain a percent sign.
func NewCutter(stop string) *Cutter {
	c := &Cutter{places: classes[Latest]}
	for i, p := range c.places {
		o := byte(i)
		if p&(inUser|inHost|inPath) != 0 && o != '/' || o == '@' || o == ':' || o == '[' || o == ']' || o == '%' {
			c.places[i] |= inAuthority
		}
		if ascii.IsLetter(o) || ascii.IsDigit(o) || o == '-' || o == '.' || o == '_' {
			c.places[i] |= inName
		}
	}
	for i := range len(stop) {
		c.places[stop[i]] &^= inPath | inQuery | inFrag
	}
	c.places['-'] |= hyphenWeight
	c.places['.'] |= dotWeight
	return c
}

// Cut returns the URI at the start of s. The URI extends to the first octet that cannot be part of
// it. If the text up to this octet does not have the form described at [Cutter], ok is false. Cut
// does not try a shorter text. Cut reads at most the first [MaxLength] octets of s, in one pass,
// and does not allocate.
func (c *Cutter) Cut(s string) (u URI, ok bool) {
	t := &c.places
	s = s[:min(len(s), MaxLength)]
	i := 0
	for i < len(s) && t[s[i]]&inScheme != 0 {
		i++
	}
	if i+2 >= len(s) || s[i] != ':' || s[i+1] != '/' || s[i+2] != '/' || !ascii.IsLetter(s[0]) {
		return URI{}, false
	}
	u.scheme = uint32(i)
	start := i + 3
	i = start
	last, most := dotWeight, class(0)
	for i < len(s) && t[s[i]]&inName != 0 {
		weight := t[s[i]] & anyWeight
		most = max(most, last+weight)
		last = weight
		i++
	}
	if i == start || most >= tooHeavy || last == hyphenWeight {
		return URI{}, false
	}
	u.host, u.hostEnd, u.kind = uint32(start), uint32(i), kindOfName(s[start:i])
	if i < len(s) && s[i] == ':' {
		for i++; i < len(s) && ascii.IsDigit(s[i]); i++ {
		}
	}
	if i < len(s) && t[s[i]]&inAuthority != 0 {
		return URI{}, false
	}
	u.path = uint32(i)
	for i < len(s) && t[s[i]]&inPath != 0 {
		i++
	}
	u.query, u.frag = uint32(i), uint32(i)
	if i < len(s) {
		i = parseTail(t, &u, s, i, inPath, inQuery)
	}
	u.s, u.dialect = s[:i], Latest
	return u, true
}
