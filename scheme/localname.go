package scheme

import (
	"errors"
	"fmt"
	"strings"

	"github.com/nomen-project/nomen/uri"
)

// LocalNames maps the names of a local system onto paths and back, so that its
// hierarchy becomes that of slashes (1993, Encoding prohibited characters). The
// mapping has to be unambiguous and reversible: Join of Split is the name.
type LocalNames struct {
	Split func(local string) ([]string, error)    // into the elements of the hierarchy
	Join  func(elements []string) (string, error) // out of them
}

// ErrLocalName is the error of a name that a mapping cannot express.
var ErrLocalName = errors.New("cannot be mapped")

// Path returns the path, without a slash before it, that stands for a local
// name. What is not allowed in a path is escaped by the charset of the dialect;
// see [uri.Dialect.EscapeText].
func (n LocalNames) Path(d uri.Dialect, local string) (string, error) {
	elements, err := n.Split(local)
	if err != nil {
		return "", err
	}
	for i, e := range elements {
		if e == "." || e == ".." {
			return "", fmt.Errorf("scheme: %q: an element that is dots has another meaning in a path: %w", local, ErrLocalName)
		}
		if elements[i], err = d.EscapeText(uri.ComponentSegment, e); err != nil {
			return "", err
		}
	}
	return strings.Join(elements, "/"), nil
}

// Local returns the local name that a path, without a slash before it, stands
// for.
func (n LocalNames) Local(d uri.Dialect, path string) (string, error) {
	elements := strings.Split(path, "/")
	for i, e := range elements {
		if _, err := uri.Decode(e); err != nil {
			return "", err
		}
		text, ok := Part{Value: e, Escaped: true}.Text(d)
		if !ok {
			return "", fmt.Errorf("scheme: %q: not UTF-8: %w", path, ErrLocalName)
		}
		elements[i] = text
	}
	return n.Join(elements)
}

// UnixNames maps names of Unix. The slash of an absolute one belongs to its
// first element, where it is escaped: "/etc/motd" is %2Fetc/motd (RFC 1738,
// 3.2.2).
func UnixNames() LocalNames {
	return LocalNames{Split: splitUnix, Join: joinUnix}
}

func splitUnix(local string) ([]string, error) {
	rest, absolute := strings.CutPrefix(local, "/")
	elements := strings.Split(rest, "/")
	if absolute {
		elements[0] = "/" + elements[0]
	}
	if strings.IndexByte(local, 0) >= 0 {
		return nil, fmt.Errorf("scheme: %q: NUL in a name: %w", local, ErrLocalName)
	}
	return elements, nil
}

func joinUnix(elements []string) (string, error) {
	for i, e := range elements {
		if i == 0 {
			e = strings.TrimPrefix(e, "/")
		}
		if strings.ContainsAny(e, "/\x00") {
			return "", fmt.Errorf("scheme: %q: a slash or NUL in an element: %w", e, ErrLocalName)
		}
	}
	return strings.Join(elements, "/"), nil
}

// VMSNames maps names of VMS: DISK:[A.B]C.TXT is DISK:/A/B/C.TXT.
func VMSNames() LocalNames {
	return LocalNames{Split: splitVMS, Join: joinVMS}
}

// vmsSpecial are the characters that structure a name.
const vmsSpecial = "[]:/"

func splitVMS(local string) ([]string, error) {
	wrong := fmt.Errorf("scheme: %q: not the name of a file of VMS: %w", local, ErrLocalName)
	var elements []string
	rest := local
	if colon := strings.IndexByte(rest, ':'); colon > 0 {
		elements, rest = append(elements, rest[:colon+1]), rest[colon+1:]
	}
	if dirs, ok := strings.CutPrefix(rest, "["); ok {
		dirs, name, ok := strings.Cut(dirs, "]")
		if !ok {
			return nil, wrong
		}
		elements, rest = append(elements, strings.Split(dirs, ".")...), name
	}
	for i, e := range append(elements, rest) {
		if e == "" || strings.ContainsAny(strings.TrimSuffix(e, ":"), vmsSpecial) || strings.HasSuffix(e, ":") && i > 0 {
			return nil, wrong
		}
	}
	return append(elements, rest), nil
}

func joinVMS(elements []string) (string, error) {
	dirs, name := elements[:len(elements)-1], elements[len(elements)-1]
	local := ""
	if len(dirs) > 0 && strings.HasSuffix(dirs[0], ":") {
		local, dirs = dirs[0], dirs[1:]
	}
	for _, d := range dirs {
		if strings.IndexByte(d, '.') >= 0 {
			return "", fmt.Errorf("scheme: %q: a dot in a directory: %w", d, ErrLocalName)
		}
	}
	if len(dirs) > 0 {
		local += "[" + strings.Join(dirs, ".") + "]"
	}
	local += name
	if _, err := splitVMS(local); err != nil {
		return "", err
	}
	return local, nil
}

// DOSNames maps names of DOS and Windows: C:\A\B.TXT is C:/A/B.TXT.
func DOSNames() LocalNames {
	return LocalNames{
		Split: func(local string) ([]string, error) {
			if strings.ContainsAny(local, "/\x00") {
				return nil, fmt.Errorf("scheme: %q: a slash or NUL in a name: %w", local, ErrLocalName)
			}
			return strings.Split(local, `\`), nil
		},
		Join: func(elements []string) (string, error) {
			for _, e := range elements {
				if strings.ContainsAny(e, "/\\\x00") {
					return "", fmt.Errorf("scheme: %q: a slash, backslash or NUL in an element: %w", e, ErrLocalName)
				}
			}
			return strings.Join(elements, `\`), nil
		},
	}
}
