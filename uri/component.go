package uri

import (
	"errors"
	"iter"
	"log/slog"
	"strings"
)

// A Component is a part of a URI.
type Component uint8

// The components. The authority is userinfo, host and port together. A segment is
// a part of a path; it is used for escaping only.
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

// Get returns a component in its raw spelling, and whether it is defined.
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

// Data returns a decoded component. It reports false for the path and the
// authority, which must be split first: see [URI.Segments].
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

// Parts yields the pieces of the spelling in order, each with its component. A program that
// displays URIs can use Parts to distinguish user information from the host (2003 and RFC 3986,
// section 7). The pieces include their delimiters; together they are the spelling. An authority
// that is not a server is yielded as ComponentAuthority.
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

// ErrReread is the error for components that cannot be combined, because the result would be
// parsed as other components. Examples are a path that begins with two slashes without an
// authority, a colon in the first segment without a scheme, and a port without a host.
var ErrReread = errors.New("uri: the result would be parsed as different components")

// A Builder combines components into a URI. It is a value: Set and Clear return a
// modified copy. The zero Builder builds the empty reference by [Latest].
type Builder struct {
	dialect Dialect
	raw     [components]string
	defined [components]bool
}

// Build returns an empty Builder for a dialect.
func (d Dialect) Build() Builder { return Builder{dialect: d} }

// Builder returns a Builder with the components of u.
func (u URI) Builder() Builder {
	b := Builder{dialect: u.dialect}
	for c := ComponentScheme; int(c) < components; c++ {
		b.raw[c], b.defined[c] = u.Get(c)
	}
	return b
}

// Set returns b with a component in its raw spelling. Setting the authority clears userinfo,
// host and port. Setting userinfo, host or port clears an authority that was set as a whole.
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

// SetData returns b with a component from decoded data, which is escaped as
// needed.
func (b Builder) SetData(c Component, data Data) Builder {
	return b.Set(c, b.dialectOrLatest().Escape(c, data))
}

// Clear returns b with a component undefined, or with an empty path. Clearing the
// authority clears all its parts.
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

// URI combines the components into a URI. The error is a *[Error] if the result is not a
// reference in the dialect, and [ErrReread] if it parses into other components.
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
			continue // not set in b: the authority as a whole, or its parts
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

// spelling writes the components with their delimiters (RFC 3986, 5.3). It
// reports false if there is user information or a port, but no host.
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

// With returns u with a component replaced, in its raw spelling. Use a [Builder]
// to change several at once; the errors are those of [Builder.URI].
func (u URI) With(c Component, raw string) (URI, error) { return u.Builder().Set(c, raw).URI() }

// Without returns u without a component; see [Builder.Clear].
func (u URI) Without(c Component) (URI, error) { return u.Builder().Clear(c).URI() }

// Redacted returns the spelling with the password replaced by three stars. The
// password is the part of the user information after a colon (1997, 7; 2003 and RFC 3986,
// section 7). Use it for displays and logs.
func (u URI) Redacted() string {
	user, _ := u.Userinfo()
	name, password, _ := strings.Cut(user, ":")
	if password == "" {
		return u.s
	}
	start := int(u.afterScheme()) + 2 + len(name) + 1
	return u.s[:start] + "***" + u.s[u.host-1:]
}

// LogValue returns the spelling without a password.
func (u URI) LogValue() slog.Value { return slog.StringValue(u.Redacted()) }
