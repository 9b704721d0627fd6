package scheme

import (
	"strings"
	"unicode/utf8"

	"github.com/nomen-project/nomen/uri"
)

// A Part is a named piece of a URI.
type Part struct {
	Name  string // as the document calls it, in lower case with "_" for spaces
	Value string // as spelled, or what the scheme supplies where nothing is spelled
	// Offset is where Value is in the spelling; -1 if it is not spelled there,
	// because the scheme supplies it.
	Offset int
	// Escaped says that the scheme gives Value to a protocol decoded: see
	// [Part.Data]. Other values are used as they are spelled.
	Escaped bool
}

// Data returns the octets that the part stands for. Only a part that is Escaped
// is decoded.
func (p Part) Data() uri.Data {
	if !p.Escaped {
		return uri.Data(p.Value)
	}
	data, err := uri.Decode(p.Value)
	if err != nil {
		return uri.Data(p.Value) // not from a parser: leave it alone
	}
	return data
}

// Text returns the characters that the part stands for: octets are ISO Latin-1
// in 1993, and UTF-8 in the other dialects. It is false if they are not.
func (p Part) Text(d uri.Dialect) (string, bool) {
	data := string(p.Data())
	if d != uri.Draft1993 {
		return data, utf8.ValidString(data)
	}
	text, err := uri.DecodeLatin1(p.Value)
	if !p.Escaped || err != nil {
		return data, utf8.ValidString(data)
	}
	return text, true
}

// Get returns the value of the first part with a name; false if there is none:
// then it is undefined.
func Get(parts []Part, name string) (string, bool) {
	for i := range parts {
		if parts[i].Name == name {
			return parts[i].Value, true
		}
	}
	return "", false
}

// GetAll returns the values of all parts with a name.
func GetAll(parts []Part, name string) []string {
	var all []string
	for i := range parts {
		if parts[i].Name == name {
			all = append(all, parts[i].Value)
		}
	}
	return all
}

// A layout says where the components of a URI are in its spelling. Those that
// are undefined begin at -1.
type layout struct {
	s               string
	rest            int // after the colon of the scheme
	user, userEnd   int
	host, hostEnd   int
	port, portEnd   int
	path, pathEnd   int // the path is never undefined
	query, queryEnd int
	frag            int // the fragment ends with the spelling
	authority       bool
	dialect         uri.Dialect
}

// layoutOf measures u.
func layoutOf(u uri.URI) layout {
	l := layout{s: u.String(), user: -1, host: -1, port: -1, query: -1, frag: -1, dialect: u.Dialect()}
	if name, ok := u.Scheme(); ok {
		l.rest = len(name) + 1
	}
	at := l.rest
	if authority, ok := u.Authority(); ok {
		l.authority = true
		l.measure(u, at+2)
		if authority == "" { // in 1997 and 2003 no server, and yet an empty host
			l.host, l.hostEnd = at+2, at+2
		}
		at += 2 + len(authority)
	}
	l.path, l.pathEnd = at, at+len(u.Path())
	end := l.pathEnd
	if query, ok := u.Query(); ok {
		l.query, l.queryEnd = end+1, end+1+len(query)
		end = l.queryEnd
	}
	if _, ok := u.Fragment(); ok {
		l.frag = end + 1
	}
	return l
}

// measure measures an authority that begins at an offset.
func (l *layout) measure(u uri.URI, at int) {
	if user, ok := u.Userinfo(); ok {
		l.user, l.userEnd = at, at+len(user)
		at = l.userEnd + 1
	}
	host, ok := u.Host()
	if !ok {
		return
	}
	l.host, l.hostEnd = at, at+len(host)
	if port, ok := u.Port(); ok {
		l.port, l.portEnd = l.hostEnd+1, l.hostEnd+1+len(port)
	}
}

// is1993 reports whether the rules of 1993 hold.
func (l *layout) is1993() bool { return l.dialect == uri.Draft1993 }

// hasPath reports whether there is a path that is not empty.
func (l *layout) hasPath() bool { return l.path < l.pathEnd }

// isRooted reports whether the path begins with a slash.
func (l *layout) isRooted() bool { return l.hasPath() && l.s[l.path] == '/' }

// pathText returns the path as spelled.
func (l *layout) pathText() string { return l.s[l.path:l.pathEnd] }

// end is where the spelling ends, without the fragment.
func (l *layout) end() int {
	switch {
	case l.query >= 0:
		return l.queryEnd
	default:
		return l.pathEnd
	}
}

// A taker takes parts out of a URI.
type taker struct {
	layout
	parts []Part
}

// take begins to take parts of u, after those in dst.
func take(dst []Part, u uri.URI) taker { return taker{layoutOf(u), dst} }

// part takes what is spelled between two offsets.
func (t *taker) part(name string, from, to int) {
	t.parts = append(t.parts, Part{Name: name, Value: t.s[from:to], Offset: from})
}

// data takes what is spelled between two offsets and used decoded.
func (t *taker) data(name string, from, to int) {
	t.parts = append(t.parts, Part{Name: name, Value: t.s[from:to], Offset: from, Escaped: true})
}

// supply adds a part that is not spelled.
func (t *taker) supply(name, value string) {
	t.parts = append(t.parts, Part{Name: name, Value: value, Offset: -1})
}

// login takes user and password, as far as they are defined.
func (t *taker) login() {
	if t.user < 0 {
		return
	}
	colon := strings.IndexByte(t.s[t.user:t.userEnd], ':')
	if colon < 0 {
		t.data("user", t.user, t.userEnd)
		return
	}
	t.data("user", t.user, t.user+colon)
	t.data("password", t.user+colon+1, t.userEnd)
}

// server takes host and port, as far as they are defined.
func (t *taker) server() {
	if t.host >= 0 {
		t.part("host", t.host, t.hostEnd)
	}
	if t.port >= 0 {
		t.part("port", t.port, t.portEnd)
	}
}

// rooted takes the path. In 1993 the slash that ends the host part does not
// belong to it.
func (t *taker) rooted(name string) {
	switch {
	case t.is1993() && !t.hasPath():
	case t.is1993() && t.authority:
		t.part(name, t.path+1, t.pathEnd)
	default:
		t.part(name, t.path, t.pathEnd)
	}
}

// search takes the query, which is called the search in 1993 and is made of
// words then.
func (t *taker) search() {
	switch {
	case t.query < 0:
	case !t.is1993():
		t.part("query", t.query, t.queryEnd)
	default:
		t.part("search", t.query, t.queryEnd)
		t.each("word", t.query, t.queryEnd, '+')
	}
}

// each takes the pieces between separators, to be decoded.
func (t *taker) each(name string, from, to int, sep byte) {
	for {
		n := strings.IndexByte(t.s[from:to], sep)
		if n < 0 {
			t.data(name, from, to)
			return
		}
		t.data(name, from, from+n)
		from += n + 1
	}
}

// fragment takes the fragment.
func (t *taker) fragment() {
	if t.frag >= 0 {
		t.part("fragment", t.frag, len(t.s))
	}
}
