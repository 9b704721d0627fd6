package scheme

import (
	"errors"
	"fmt"
	"strings"

	"github.com/nomen-project/nomen/uri"
)

// An AccessMethod is how a directory of Prospero says that an object can be had.
type AccessMethod struct {
	Method string // AFTP, FTP, AFS, GOPHER, WAIS, PROSPERO ..., in any case
	Host   string // of AFS: the cell
	Port   string // "" is the default of the method
	Name   string // host-specific name of the object, not escaped
}

// ErrAccessMethod is the error of an access method that has no locator.
var ErrAccessMethod = errors.New("the access method has no locator")

// Locator returns the locator of an access method: one of the underlying scheme
// for what lies outside of Prospero, never a Prospero one (1993, Prospero).
func (m AccessMethod) Locator(d uri.Dialect) (uri.URI, error) {
	path, err := d.EscapeText(uri.ComponentPath, strings.TrimPrefix(m.Name, "/"))
	if err != nil {
		return uri.URI{}, err
	}
	server := []Part{{Name: "host", Value: m.Host}}
	if m.Port != "" {
		server = append(server, Part{Name: "port", Value: m.Port})
	}
	switch strings.ToUpper(m.Method) {
	case "FTP", "AFTP":
		return ftp.Build(d, append(server, ftpPath(d, uri.MakeSafer(path, ";?"))...))
	case "AFS":
		return afs.Build(d, []Part{{Name: "cell", Value: m.Host}, {Name: "path", Value: uri.MakeSafer(path, "?")}})
	case "GOPHER":
		return gopherName(d, server, m.Name)
	case "PROSPERO", "DIRECTORY":
		return prospero.Build(d, append(server, Part{Name: "hsoname", Value: uri.MakeSafer(path, ";?")}))
	}
	return uri.URI{}, fmt.Errorf("scheme: prospero: %q: %w", m.Method, ErrAccessMethod)
}

// ftpPath returns an escaped path as the parts of FTP in a dialect.
func ftpPath(d uri.Dialect, path string) []Part {
	if d == uri.Draft1993 {
		return []Part{{Name: "path", Value: path}}
	}
	var parts []Part
	for {
		dir, rest, more := strings.Cut(path, "/")
		if !more {
			return append(parts, Part{Name: "name", Value: path})
		}
		parts, path = append(parts, Part{Name: "cwd", Value: dir}), rest
	}
}

// gopherName returns the locator of an item whose type is the first character of
// its selector, as is the habit.
func gopherName(d uri.Dialect, server []Part, name string) (uri.URI, error) {
	selector, err := d.EscapeText(uri.ComponentPath, name)
	if err != nil {
		return uri.URI{}, err
	}
	kind := defaultGopherType
	if name != "" && isAlnum(name[0]) {
		kind = name[:1]
	}
	return gopher.Build(d, append(server, Part{Name: "type", Value: kind}, Part{Name: "selector", Value: uri.MakeSafer(selector, "?")}))
}
