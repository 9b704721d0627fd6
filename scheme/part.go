package scheme

import (
	"strings"
	"unicode/utf8"

	"github.com/nomen-project/nomen/uri"
)

// A Part is a named piece of a URI.
type Part struct {
	Name  string // in lower case with "_" for spaces, as in the defining document
	Value string // as spelled, or the value that the scheme implies
	// Offset is the offset of Value in the spelling, or -1 if the scheme
	// implies the value.
	Offset int
	// Escaped means that Value is decoded before use; see [Part.Data]. Other
	// values are used as spelled.
	Escaped bool
}

// Data returns the octets that the part stands for: Value, decoded if Escaped
// is set.
func (p Part) Data() uri.Data {
	if !p.Escaped {
		return uri.Data(p.Value)
	}
	data, err := uri.Decode(p.Value)
	if err != nil {
		return uri.Data(p.Value) // not from a parser: use it unchanged
	}
	return data
}

// Text returns the characters that the part stands for. Octets are ISO Latin-1
// in 1993 and UTF-8 in the other dialects; the result is false if they are
// invalid.
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

// Get returns the value of the first part with the given name. The result is
// false if the part is undefined.
func Get(parts []Part, name string) (string, bool) {
	for i := range parts {
		if parts[i].Name == name {
			return parts[i].Value, true
		}
	}
	return "", false
}

// GetAll returns the values of all parts with the given name.
func GetAll(parts []Part, name string) []string {
	var all []string
	for i := range parts {
		if parts[i].Name == name {
			all = append(all, parts[i].Value)
		}
	}
	return all
}

// A layout holds the offsets of the components of a URI, -1 for those that are
// undefined.
type layout struct {
	s               string
	rest            int // after the colon of the scheme
	user, userEnd   int
	host, hostEnd   int
	port, portEnd   int
	path, pathEnd   int // the path is always defined
	query, queryEnd int
	frag            int // the fragment extends to the end of the spelling
	authority       bool
	dialect         uri.Dialect
}

// layoutOf returns the layout of u.
func layoutOf(u uri.URI) layout {
	l := layout{s: u.String(), user: -1, host: -1, port: -1, query: -1, frag: -1, dialect: u.Dialect()}
	if name, ok := u.Scheme(); ok {
		l.rest = len(name) + 1
	}
	at := l.rest
	if authority, ok := u.Authority(); ok {
		l.authority = true
		l.measure(u, at+2)
		if authority == "" { // no server in 1997 and 2003, but an empty host
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

// measure determines the offsets inside an authority that begins at from.
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

// is1993 reports whether the URI was read in the dialect of 1993.
func (l *layout) is1993() bool { return l.dialect == uri.Draft1993 }

// hasPath reports whether the path is not empty.
func (l *layout) hasPath() bool { return l.path < l.pathEnd }

// isRooted reports whether the path begins with a slash.
func (l *layout) isRooted() bool { return l.hasPath() && l.s[l.path] == '/' }

// pathText returns the path as spelled.
func (l *layout) pathText() string { return l.s[l.path:l.pathEnd] }

// end returns the end of the spelling without the fragment.
func (l *layout) end() int {
	switch {
	case l.query >= 0:
		return l.queryEnd
	default:
		return l.pathEnd
	}
}

// A taker collects the parts of a URI.
type taker struct {
	layout
	parts []Part
}

// take returns a taker that appends the parts of u to dst.
func take(dst []Part, u uri.URI) taker { return taker{layoutOf(u), dst} }

// part adds the text between two offsets, which is used as spelled.
func (t *taker) part(name string, from, to int) {
	t.parts = append(t.parts, Part{Name: name, Value: t.s[from:to], Offset: from})
}

// data adds the text between two offsets, which is decoded before use.
func (t *taker) data(name string, from, to int) {
	t.parts = append(t.parts, Part{Name: name, Value: t.s[from:to], Offset: from, Escaped: true})
}

// supply adds a part that the spelling does not contain.
func (t *taker) supply(name, value string) {
	t.parts = append(t.parts, Part{Name: name, Value: value, Offset: -1})
}

// login adds user and password if defined.
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

// server adds host and port if defined.
func (t *taker) server() {
	if t.host >= 0 {
		t.part("host", t.host, t.hostEnd)
	}
	if t.port >= 0 {
		t.part("port", t.port, t.portEnd)
	}
}

// rooted adds the path. In 1993 the slash after the host is not a part of it.
func (t *taker) rooted(name string) {
	switch {
	case t.is1993() && !t.hasPath():
	case t.is1993() && t.authority:
		t.part(name, t.path+1, t.pathEnd)
	default:
		t.part(name, t.path, t.pathEnd)
	}
}

// search adds the query, which in 1993 is called the search and consists of
// words.
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

// each adds the pieces between separators, which are decoded before use.
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

// fragment adds the fragment.
func (t *taker) fragment() {
	if t.frag >= 0 {
		t.part("fragment", t.frag, len(t.s))
	}
}
