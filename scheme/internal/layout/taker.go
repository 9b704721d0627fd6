package layout

import (
	"strings"

	"github.com/nomen-project/nomen/uri"
)

// Generic appends the parts of a URI of an unknown scheme to dst (draft of 1993, section "BNF").
//
//	generic = scheme ":" path [ "?" search ]
func Generic(dst []uri.Part, u uri.URI) []uri.Part {
	t := Take(dst, u)
	t.Login()
	t.Server()
	t.rooted()
	t.Search()
	t.Fragment()
	return t.Parts
}

// A Taker collects the parts of a URI.
type Taker struct {
	Layout
	Parts []uri.Part
}

// Take returns a Taker that appends the parts of u to dst.
func Take(dst []uri.Part, u uri.URI) Taker { return Taker{Of(u), dst} }

// Part adds the text between two offsets as a part that is not decoded before use. It adds nothing
// if the part is absent, which means that the start is negative or greater than the end.
func (t *Taker) Part(name string, from, to int) { t.add(uri.Part{Name: name}, from, to) }

// Data is like [Taker.Part], for a part that must be decoded before use.
func (t *Taker) Data(name string, from, to int) { t.add(uri.Part{Name: name, Escaped: true}, from, to) }

func (t *Taker) add(p uri.Part, from, to int) {
	if from >= 0 && from <= to {
		p.Value, p.Offset = t.Text[from:to], from
		t.Parts = append(t.Parts, p)
	}
}

// Pair adds the value of a name=value pair to a group (see [uri.Part]). The value must be decoded
// before use. Pair converts the name to lower case, and writes "unnamed" for an empty name.
func (t *Taker) Pair(group, name string, from, to int) {
	name = strings.ToLower(name)
	if name == "" {
		name = "unnamed"
	}
	t.add(uri.Part{Name: name, Group: group, Escaped: true}, from, to)
}

// Supply adds a part that is not in the URI but that the scheme implies.
func (t *Taker) Supply(name, value string) {
	t.Parts = append(t.Parts, uri.Part{Name: name, Value: value, Offset: -1})
}

// Login adds the user and password, if present.
func (t *Taker) Login() {
	if t.User < 0 {
		return
	}
	colon := strings.IndexByte(t.Text[t.User:t.UserEnd], ':')
	if colon < 0 {
		t.Data("user", t.User, t.UserEnd)
		return
	}
	t.Data("user", t.User, t.User+colon)
	t.Data("password", t.User+colon+1, t.UserEnd)
}

// Server adds the host and port, if present.
func (t *Taker) Server() {
	t.Part("host", t.Host, t.HostEnd)
	t.Part("port", t.Port, t.PortEnd)
}

// rooted adds the path. In the dialect of 1993, the path does not include the slash after the host.
func (t *Taker) rooted() {
	switch {
	case t.Is1993() && !t.HasPath():
	case t.Is1993() && t.Authority:
		t.Part("path", t.Path+1, t.PathEnd)
	default:
		t.Part("path", t.Path, t.PathEnd)
	}
}

// Search adds the query. In the dialect of 1993, the query is called the search and consists of
// words.
func (t *Taker) Search() {
	switch {
	case t.Query < 0:
	case !t.Is1993():
		t.Part("query", t.Query, t.QueryEnd)
	default:
		t.Part("search", t.Query, t.QueryEnd)
		t.Each("word", t.Query, t.QueryEnd, '+')
	}
}

// Each splits the text between two offsets at sep, and adds each piece as a part. The pieces must
// be decoded before use.
func (t *Taker) Each(name string, from, to int, sep byte) {
	for {
		n := strings.IndexByte(t.Text[from:to], sep)
		if n < 0 {
			t.Data(name, from, to)
			return
		}
		t.Data(name, from, from+n)
		from += n + 1
	}
}

// Fragment adds the fragment, if present.
func (t *Taker) Fragment() {
	t.Part("fragment", t.Frag, len(t.Text))
}
