package scheme

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nomen-project/nomen/uri"
)

// ErrNoBuilder means that URIs of the scheme cannot be built from parts.
var ErrNoBuilder = errors.New("the scheme cannot build URIs from parts")

// ErrPart means that a required part is missing, or that parsing the built URI would not return the
// same parts.
var ErrPart = errors.New("cannot build a URI from these parts")

// Build returns a URI of the scheme with the given parts, in dialect d. Build does not encode the
// values of the parts. The caller must percent-encode characters that a part does not allow (see
// [uri.Dialect.EscapeText]). Build omits values that the scheme implies, such as the default port.
//
// The error wraps [ErrNoBuilder] or [ErrPart], is a *[uri.Error], or is the [Finding] for the rule
// that the URI would violate.
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
		return uri.URI{}, fmt.Errorf("scheme: %s: %w: %s would be parsed differently", s.Name, ErrPart, name)
	}
	return u, nil
}

// misread compares the given parts with those from parsing the built URI, which are in got. It
// returns the label of the first part whose values differ, or "".
func (s *Scheme) misread(got, given []Part) string {
	for _, p := range given {
		if p.Name == "port" && p.Value == s.DefaultPort || slices.Contains(supplied, p.Name) {
			continue
		}
		if !slices.Equal(GetAll(got, p.Label()), GetAll(given, p.Label())) {
			return p.Label()
		}
	}
	return ""
}

// supplied lists the labels of the parts that parsing derives from other parts.
var supplied = []string{"kind", "word", "suffix"}

func missingPart(name string) error { return fmt.Errorf("%w: missing %s", ErrPart, name) }

// A builder writes a URI.
type builder struct {
	d     uri.Dialect
	parts []Part
	b     strings.Builder
	err   error
}

func newBuilder(d uri.Dialect, scheme, defaultPort string, parts []Part) *builder {
	w := &builder{d: d, parts: parts}
	w.write(scheme + ":")
	w.server(defaultPort)
	return w
}

// server writes the user, password, host and port (draft of 1993, section "Internet protocol
// parts"). It omits a default port.
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

// path writes the path. In the dialect of 1993, the leading slash of the path is not in the value
// of the part.
func (w *builder) path() {
	path, ok := Get(w.parts, "path")
	if ok && w.d == uri.Draft1993 {
		path = "/" + path
	}
	w.write(path)
}

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

func (w *builder) text() (string, error) { return w.b.String(), w.err }
