package layout

import (
	"strings"

	"github.com/nomen-project/nomen/uri"
)

// Typecode finds the FTP typecode at the end of the path. It returns the end of the file name and
// the start of the typecode, or -1 if there is no typecode.
func (l *Layout) Typecode() (name, code int) {
	last := l.Path + strings.LastIndexByte(l.PathText(), '/') + 1
	const key = ";type="
	if n := strings.Index(l.Text[last:l.PathEnd], key); n >= 0 {
		return last + n, last + n + len(key)
	}
	return l.PathEnd, -1
}

// A Layout holds the offsets of the components of a URI. The offset of an absent component is -1.
type Layout struct {
	Text            string
	Rest            int // offset after the colon of the scheme
	User, UserEnd   int
	Host, HostEnd   int
	Port, PortEnd   int
	Path, PathEnd   int // every URI has a path
	Query, QueryEnd int
	Frag            int // the fragment extends to the end of the spelling
	Authority       bool
	Dialect         uri.Dialect
}

// Of returns the layout of u.
func Of(u uri.URI) Layout {
	l := Layout{Text: u.String(), User: -1, Host: -1, Port: -1, Query: -1, Frag: -1, Dialect: u.Dialect()}
	if name, ok := u.Scheme(); ok {
		l.Rest = len(name) + 1
	}
	at := l.Rest
	if authority, ok := u.Authority(); ok {
		l.Authority = true
		l.measure(u, at+2)
		if authority == "" { // counts as an empty host, also in the drafts of 1997 and 2003
			l.Host, l.HostEnd = at+2, at+2
		}
		at += 2 + len(authority)
	}
	l.Path, l.PathEnd = at, at+len(u.Path())
	end := l.PathEnd
	if query, ok := u.Query(); ok {
		l.Query, l.QueryEnd = end+1, end+1+len(query)
		end = l.QueryEnd
	}
	if _, ok := u.Fragment(); ok {
		l.Frag = end + 1
	}
	return l
}

// measure finds the components of the authority, which begins at the given offset.
func (l *Layout) measure(u uri.URI, at int) {
	if user, ok := u.Userinfo(); ok {
		l.User, l.UserEnd = at, at+len(user)
		at = l.UserEnd + 1
	}
	host, ok := u.Host()
	if !ok {
		return
	}
	l.Host, l.HostEnd = at, at+len(host)
	if port, ok := u.Port(); ok {
		l.Port, l.PortEnd = l.HostEnd+1, l.HostEnd+1+len(port)
	}
}

// Is1993 reports whether the URI was read in the dialect of 1993.
func (l *Layout) Is1993() bool { return l.Dialect == uri.Draft1993 }

// HasPath reports whether the path is not empty.
func (l *Layout) HasPath() bool { return l.Path < l.PathEnd }

// IsRooted reports whether the path begins with a slash.
func (l *Layout) IsRooted() bool { return l.HasPath() && l.Text[l.Path] == '/' }

// PathText returns the path without decoding.
func (l *Layout) PathText() string { return l.Text[l.Path:l.PathEnd] }

// End returns the end of the URI without the fragment.
func (l *Layout) End() int {
	switch {
	case l.Query >= 0:
		return l.QueryEnd
	default:
		return l.PathEnd
	}
}
