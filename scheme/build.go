package scheme

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nomen-project/nomen/uri"
)

// ErrNoBuilder is the error of a scheme that has no rule for writing its URIs.
var ErrNoBuilder = errors.New("the scheme does not say how its parts are put together")

// ErrPart is the error of parts that cannot be written, as one is missing, or as
// they would be read as others.
var ErrPart = errors.New("the parts cannot be put together")

// Build writes the URI of the scheme that has the parts, in a dialect. Their
// values are raw: what is not allowed in them has to be escaped before (see
// [uri.Dialect.EscapeText]). What the scheme supplies by itself is left out: a
// default port, an omitted type. A password is written only if it is given.
//
// The error wraps [ErrNoBuilder] or [ErrPart], is a *[uri.Error], or is the
// [Finding] of a rule that would be broken.
func (s *Scheme) Build(d uri.Dialect, parts []Part) (uri.URI, error) {
	if s.Rules.Build == nil {
		return uri.URI{}, fmt.Errorf("scheme: %s: %w", s.Name, ErrNoBuilder)
	}
	text, err := s.Rules.Build(d, parts)
	if err != nil {
		return uri.URI{}, fmt.Errorf("scheme: %s: %w", s.Name, err)
	}
	u, err := d.Parse(text)
	if err != nil {
		return uri.URI{}, err
	}
	if err := FirstError(s.Check(u)); err != nil {
		return uri.URI{}, err
	}
	if name := s.misread(s.Parts(u), parts); name != "" {
		return uri.URI{}, fmt.Errorf("scheme: %s: %w: %s would be read as something else", s.Name, ErrPart, name)
	}
	return u, nil
}

// misread returns the name of a part that was given and is not what is read, or
// "".
func (s *Scheme) misread(got, given []Part) string {
	for _, p := range given {
		if p.Name == "port" && p.Value == s.DefaultPort || slices.Contains(supplied, p.Name) {
			continue
		}
		if !slices.Equal(GetAll(got, p.Name), GetAll(given, p.Name)) {
			return p.Name
		}
	}
	return ""
}

// supplied are parts that follow from others.
var supplied = []string{"kind", "word", "suffix"}

func missingPart(name string) error { return fmt.Errorf("%w: no %s", ErrPart, name) }

// A builder writes a URI.
type builder struct {
	d     uri.Dialect
	parts []Part
	b     strings.Builder
	err   error
}

// newBuilder writes what all schemes of Internet protocols begin with.
func newBuilder(d uri.Dialect, scheme, defaultPort string, parts []Part) *builder {
	w := &builder{d: d, parts: parts}
	w.write(scheme + ":")
	w.server(defaultPort)
	return w
}

// server writes user, password, host and port (1993, Internet protocol parts). A
// default port is left out.
func (w *builder) server(defaultPort string) {
	host, ok := Get(w.parts, "host")
	if !ok {
		w.err = missingPart("host")
		return
	}
	w.write("//")
	user, hasUser := Get(w.parts, "user")
	password, hasPassword := Get(w.parts, "password")
	if hasUser || hasPassword {
		w.write(user)
		if hasPassword {
			w.write(":" + password)
		}
		w.write("@")
	}
	w.write(host)
	if port, ok := Get(w.parts, "port"); ok && port != defaultPort {
		w.write(":" + port)
	}
}

func (w *builder) write(s string) { w.b.WriteString(s) }

// path writes the path, whose slash is not a part of it in 1993.
func (w *builder) path() {
	path, ok := Get(w.parts, "path")
	if ok && w.d == uri.Draft1993 {
		path = "/" + path
	}
	w.write(path)
}

// search writes the query, which is the search of 1993.
func (w *builder) search() {
	name := "query"
	if w.d == uri.Draft1993 {
		name = "search"
	}
	if query, ok := Get(w.parts, name); ok {
		w.write("?" + query)
	}
}

func (w *builder) fragment() {
	if fragment, ok := Get(w.parts, "fragment"); ok {
		w.write("#" + fragment)
	}
}

// text returns what has been written.
func (w *builder) text() (string, error) { return w.b.String(), w.err }
