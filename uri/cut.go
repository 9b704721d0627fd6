package uri

// A Cutter reads the URI that a text begins with, and so finds where it ends. It
// reads those of the form that nearly all have in texts, by [Latest]:
//
//	scheme "://" host [ ":" port ] path [ "?" query ] [ "#" fragment ]
//
// where the host is an IPv4 address or a name of letters, digits, hyphens and
// underscores in labels that neither are empty nor begin or end in a hyphen;
// behind the last there may be a full stop. It may be used by several goroutines
// at the same time.
type Cutter struct {
	places [256]class
}

// The places that only a Cutter tells apart, and the weights of what may not
// stand side by side in a name: two that have tooHeavy together.
const (
	inAuthority class = 1 << 15 // anywhere in it, so that it does not end there
	inName      class = 1 << 14

	hyphenWeight class = 1 << 12
	dotWeight    class = 2 << 12
	tooHeavy     class = 3 << 12
	anyWeight    class = 3 << 12
)

// NewCutter returns a Cutter. The octets of stop, which are not percent signs, end
// a path, a query and a fragment, as do those that none of them can have: who
// looks for URIs in a text may take such signs for those of the text.
func NewCutter(stop string) *Cutter {
	c := &Cutter{places: classes[Latest]}
	for i, p := range c.places {
		o := byte(i)
		if p&(inUser|inHost|inPath) != 0 && o != '/' || o == '@' || o == ':' || o == '[' || o == ']' || o == '%' {
			c.places[i] |= inAuthority
		}
		if isLetter(o) || isDigit(o) || o == '-' || o == '.' || o == '_' {
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

// Cut returns the URI that s begins with: it ends before the first octet that
// cannot stand there. It is false if what has been read up to there is not of the
// form; a shorter one is not looked for. Cut never allocates. It reads s once, and
// no more than [MaxLength] octets of it.
func (c *Cutter) Cut(s string) (u URI, ok bool) {
	t := &c.places
	s = s[:min(len(s), MaxLength)]
	i := 0
	for i < len(s) && t[s[i]]&inScheme != 0 {
		i++
	}
	if i+2 >= len(s) || s[i] != ':' || s[i+1] != '/' || s[i+2] != '/' || !isLetter(s[0]) {
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
		for i++; i < len(s) && isDigit(s[i]); i++ {
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
