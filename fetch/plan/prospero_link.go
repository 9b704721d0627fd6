package plan

import (
	"errors"
	"fmt"
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/scheme"
	"github.com/nomen-project/nomen/uri"
)

// An AccessMethod is a way to retrieve an object that a Prospero directory lists.
type AccessMethod struct {
	Method string // the protocol, such as AFTP, in upper or lower case
	Host   string // for AFS: the cell
	Port   string // "" means the default
	Name   string // name of the object on the host, not percent-encoded
}

// ErrAccessMethod means that an access method cannot be expressed as a locator.
var ErrAccessMethod = errors.New("the access method has no locator")

// Locator returns the locator for the access method. The scheme is ftp for the methods FTP and
// AFTP, afs for AFS, gopher for GOPHER, and prospero for objects in Prospero itself (PROSPERO and
// DIRECTORY; draft of 1993, section "Prospero"). For other methods the error wraps
// [ErrAccessMethod].
func (m AccessMethod) Locator(d uri.Dialect) (uri.URI, error) {
	path, err := d.EscapeText(uri.ComponentPath, strings.TrimPrefix(m.Name, "/"))
	if err != nil {
		return uri.URI{}, err
	}
	server := []scheme.Part{{Name: "host", Value: m.Host}}
	if m.Port != "" {
		server = append(server, scheme.Part{Name: "port", Value: m.Port})
	}
	switch strings.ToUpper(m.Method) {
	case "FTP", "AFTP":
		return build("ftp", d, append(server, ftpPath(d, uri.MakeSafer(path, ";?"))...))
	case "AFS":
		return build("afs", d, []scheme.Part{{Name: "cell", Value: m.Host}, {Name: "path", Value: uri.MakeSafer(path, "?")}})
	case "GOPHER":
		return gopherName(d, server, m.Name)
	case "PROSPERO", "DIRECTORY":
		return build("prospero", d, append(server, scheme.Part{Name: "hsoname", Value: uri.MakeSafer(path, ";?")}))
	}
	return uri.URI{}, fmt.Errorf("scheme: prospero: %q: %w", m.Method, ErrAccessMethod)
}

func ftpPath(d uri.Dialect, path string) []scheme.Part {
	if d == uri.Draft1993 {
		return []scheme.Part{{Name: "path", Value: path}}
	}
	var parts []scheme.Part
	for {
		dir, rest, more := strings.Cut(path, "/")
		if !more {
			return append(parts, scheme.Part{Name: "name", Value: path})
		}
		parts, path = append(parts, scheme.Part{Name: "cwd", Value: dir}), rest
	}
}

// gopherName returns the locator of a Gopher item, whose type is the first character of the
// selector by convention.
func gopherName(d uri.Dialect, server []scheme.Part, name string) (uri.URI, error) {
	selector, err := d.EscapeText(uri.ComponentPath, name)
	if err != nil {
		return uri.URI{}, err
	}
	kind := "1" // the type of a menu
	if name != "" && ascii.IsAlnum(name[0]) {
		kind = name[:1]
	}
	return build("gopher", d, append(server, scheme.Part{Name: "type", Value: kind}, scheme.Part{Name: "selector", Value: uri.MakeSafer(selector, "?")}))
}
