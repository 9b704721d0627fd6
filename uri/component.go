package uri

import (
	"errors"
	"iter"
	"log/slog"
	"strings"
)

// A Component is a part of a URI, such as its host or its query.
type Component uint8

// The components. ComponentAuthority is the userinfo, host and port together. ComponentSegment is
// one segment of a path; only the escaping functions use it.
const (
	ComponentScheme Component = iota
	ComponentAuthority
	ComponentUserinfo
	ComponentHost
	ComponentPort
	ComponentPath
	ComponentQuery
	ComponentFragment
	ComponentSegment

	components = int(ComponentFragment) + 1
)

// String returns the name of the component.
func (c Component) String() string {
	names := [...]string{"scheme", "authority", "userinfo", "host", "port", "path", "query", "fragment", "segment"}
	if int(c) >= len(names) {
		return "unknown"
	}
	return names[c]
}

// Get returns a component as it is spelled in u, and whether u has that component. A component can
// be present and empty, like the query of "http://a/?".
func (u URI) Get(c Component) (string, bool) {
	switch c {
	case ComponentScheme:
		return u.Scheme()
	case ComponentAuthority:
		return u.Authority()
	case ComponentUserinfo:
		return u.Userinfo()
	case ComponentHost:
		return u.Host()
	case ComponentPort:
		return u.Port()
	case ComponentPath:
		return u.Path(), u.IsValid()
	case ComponentQuery:
		return u.Query()
	case ComponentFragment:
		return u.Fragment()
	default:
		return "", false
	}
}

// Data returns a component with its escapes decoded. It returns false if u does not have the
// component. It also returns false for the path and the authority, which must be split before they
// are decoded; see [URI.Segments].
func (u URI) Data(c Component) (Data, bool) {
	if c == ComponentPath || c == ComponentAuthority {
		return "", false
	}
	raw, ok := u.Get(c)
	if !ok {
		return "", false
	}
	data, err := Decode(raw)
	return data, err == nil
}

// Parts returns an iterator over the pieces of the spelling, in order, each with its component. The
// pieces include the delimiters, so the concatenation of all pieces is the spelling. A program that
// displays URIs can use Parts to show the user information in a different colour from the host
// (draft of 2003 and RFC 3986, section 7). In the draft of 2003, an authority may be a registry
// name instead of a server. Such an authority is a single piece with ComponentAuthority.
func (u URI) Parts() iter.Seq2[Component, string] {
	host := ComponentHost
	if u.kind == HostRegistry {
		host = ComponentAuthority
	}
	ends := [...]struct {
		c   Component
		end uint32
	}{
		{ComponentScheme, u.afterScheme()},
		{ComponentAuthority, min(u.afterScheme()+2, u.path)},
		{ComponentUserinfo, u.host},
		{host, u.hostEnd},
		{ComponentPort, u.path},
		{ComponentPath, u.query},
		{ComponentQuery, u.frag},
		{ComponentFragment, uint32(len(u.s))},
	}
	return func(yield func(Component, string) bool) {
		start := uint32(0)
		for _, p := range ends {
			if p.end > start && !yield(p.c, u.s[start:p.end]) {
				return
			}
			start = max(start, p.end)
		}
	}
}

// ErrReread means that components cannot be combined into a URI, because the URI would be parsed
// into different components. Examples are a path that begins with two slashes when there is no
// authority, a first segment with a colon when there is no scheme, and a port without a host.
var ErrReread = errors.New("uri: the result would be parsed as different components")

// A Builder combines components into a URI. It is an immutable value, so Set and Clear return a
// modified copy. The zero Builder builds references in the dialect [Latest], and without any
// components it builds the empty reference.
type Builder struct {
	dialect Dialect
	raw     [components]string
	defined [components]bool
}

// Build returns an empty Builder for references in dialect d.
func (d Dialect) Build() Builder { return Builder{dialect: d} }

// Builder returns a Builder with the components of u.
func (u URI) Builder() Builder {
	b := Builder{dialect: u.dialect}
	for c := ComponentScheme; int(c) < components; c++ {
		b.raw[c], b.defined[c] = u.Get(c)
	}
	return b
}

// Set returns a copy of b with component c set to raw, which must already be escaped. Setting the
// authority clears the userinfo, host and port. Setting one of these three clears an authority that
// was set as a whole.
func (b Builder) Set(c Component, raw string) Builder {
	if int(c) >= components {
		return b
	}
	switch c {
	case ComponentAuthority:
		b = b.Clear(c)
	case ComponentUserinfo, ComponentHost, ComponentPort:
		b.raw[ComponentAuthority], b.defined[ComponentAuthority] = "", false
	}
	b.raw[c], b.defined[c] = raw, true
	return b
}

// SetData returns a copy of b with component c set to data, which it escapes as needed.
func (b Builder) SetData(c Component, data Data) Builder {
	return b.Set(c, b.dialectOrLatest().Escape(c, data))
}

// Clear returns a copy of b without component c. Every URI has a path, so clearing the path makes
// it empty. Clearing the authority also clears the userinfo, host and port.
func (b Builder) Clear(c Component) Builder {
	if int(c) >= components {
		return b
	}
	clear := []Component{c}
	switch c {
	case ComponentAuthority:
		clear = []Component{c, ComponentUserinfo, ComponentHost, ComponentPort}
	case ComponentUserinfo, ComponentHost, ComponentPort:
		clear = []Component{c, ComponentAuthority}
	}
	for _, c := range clear {
		b.raw[c], b.defined[c] = "", false
	}
	return b
}

// URI combines the components into a URI. The error is an *[Error] if the result is not a valid
// reference in the dialect, and [ErrReread] if the result would be parsed into different
// components.
func (b Builder) URI() (URI, error) {
	s, ok := b.spelling()
	if !ok {
		return URI{}, ErrReread
	}
	u, err := b.dialectOrLatest().ParseReference(s)
	if err != nil {
		return URI{}, err
	}
	for c := ComponentScheme; int(c) < components; c++ {
		raw, ok := u.Get(c)
		if c == ComponentPath {
			ok = b.defined[c]
		}
		if c == ComponentAuthority && !b.defined[c] || b.defined[ComponentAuthority] && ComponentAuthority < c && c < ComponentPath {
			continue // either the whole authority or its parts are set, not both
		}
		if raw != b.raw[c] || ok != b.defined[c] {
			return URI{}, ErrReread
		}
	}
	return u, nil
}

func (b Builder) dialectOrLatest() Dialect {
	if b.dialect == 0 {
		return Latest
	}
	return b.dialect
}

// spelling joins the components with their delimiters (RFC 3986, section 5.3). It returns false if
// there is a port or user information without a host.
func (b Builder) spelling() (string, bool) {
	var w strings.Builder
	write := func(before string, c Component, after string) {
		if b.defined[c] {
			w.WriteString(before + b.raw[c] + after)
		}
	}
	write("", ComponentScheme, ":")
	write("//", ComponentAuthority, "")
	if !b.defined[ComponentAuthority] {
		if b.defined[ComponentHost] {
			w.WriteString("//")
		} else if b.defined[ComponentUserinfo] || b.defined[ComponentPort] {
			return "", false
		}
		write("", ComponentUserinfo, "@")
		write("", ComponentHost, "")
		write(":", ComponentPort, "")
	}
	write("", ComponentPath, "")
	write("?", ComponentQuery, "")
	write("#", ComponentFragment, "")
	return w.String(), true
}

// With returns a copy of u with component c set to raw, which must already be escaped. It returns
// the errors of [Builder.URI]. To change several components at once, use a [Builder].
func (u URI) With(c Component, raw string) (URI, error) { return u.Builder().Set(c, raw).URI() }

// Without returns a copy of u without component c; see [Builder.Clear].
func (u URI) Without(c Component) (URI, error) { return u.Builder().Clear(c).URI() }

// Redacted returns the spelling of u with any password replaced by three asterisks, for display and
// logs. The password is the part of the user information after the first colon (draft of 1997,
// section 7; draft of 2003 and RFC 3986, section 7).
func (u URI) Redacted() string {
	user, _ := u.Userinfo()
	name, password, _ := strings.Cut(user, ":")
	if password == "" {
		return u.s
	}
	start := int(u.afterScheme()) + 2 + len(name) + 1
	return u.s[:start] + "***" + u.s[u.host-1:]
}

// LogValue implements [slog.LogValuer]. It returns [URI.Redacted], so that logs have no passwords.
func (u URI) LogValue() slog.Value { return slog.StringValue(u.Redacted()) }
