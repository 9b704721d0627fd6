package plan

import (
	"errors"
	"fmt"
	"strings"

	"github.com/nomen-project/nomen/scheme"
	"github.com/nomen-project/nomen/uri"
)

// LocalNames converts file names of an operating system to paths of URIs and back. In the paths,
// slashes express the hierarchy (draft of 1993, section "Encoding prohibited characters"). The
// conversion must be reversible: Join(Split(name)) must return name.
type LocalNames struct {
	Split func(local string) ([]string, error)    // splits a name into segments
	Join  func(elements []string) (string, error) // joins segments to a name
}

// ErrLocalName means that a file name or a path cannot be converted.
var ErrLocalName = errors.New("cannot be mapped")

// Path converts a file name to a path without a leading slash. It encodes the name in the charset
// of the dialect, and percent-encodes the characters that a path cannot contain; see
// [uri.Dialect.EscapeText].
func (n LocalNames) Path(d uri.Dialect, local string) (string, error) {
	elements, err := n.Split(local)
	if err != nil {
		return "", err
	}
	for i, e := range elements {
		if e == "." || e == ".." {
			return "", fmt.Errorf("scheme: %q: a segment . or .. has another meaning in a path: %w", local, ErrLocalName)
		}
		if elements[i], err = d.EscapeText(uri.ComponentSegment, e); err != nil {
			return "", err
		}
	}
	return strings.Join(elements, "/"), nil
}

// Local converts a path without a leading slash to a file name.
func (n LocalNames) Local(d uri.Dialect, path string) (string, error) {
	elements := strings.Split(path, "/")
	for i, e := range elements {
		if _, err := uri.Decode(e); err != nil {
			return "", err
		}
		text, ok := scheme.Part{Value: e, Escaped: true}.Text(d)
		if !ok {
			return "", fmt.Errorf("scheme: %q: not UTF-8: %w", path, ErrLocalName)
		}
		elements[i] = text
	}
	return n.Join(elements)
}

// UnixNames converts Unix file names. The leading slash of an absolute name is percent-encoded in
// the path. For example, "/etc/motd" becomes %2Fetc/motd (RFC 1738, section 3.2.2).
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
		return nil, fmt.Errorf("scheme: %q: name contains NUL: %w", local, ErrLocalName)
	}
	return elements, nil
}

func joinUnix(elements []string) (string, error) {
	for i, e := range elements {
		if i == 0 {
			e = strings.TrimPrefix(e, "/")
		}
		if strings.ContainsAny(e, "/\x00") {
			return "", fmt.Errorf("scheme: %q: segment contains a slash or NUL: %w", e, ErrLocalName)
		}
	}
	return strings.Join(elements, "/"), nil
}

// VMSNames converts VMS file names, such as DISK:[A.B]C.TXT to DISK:/A/B/C.TXT.
func VMSNames() LocalNames {
	return LocalNames{Split: splitVMS, Join: joinVMS}
}

const vmsSpecial = "[]:/"

func splitVMS(local string) ([]string, error) {
	wrong := fmt.Errorf("scheme: %q: invalid VMS file name: %w", local, ErrLocalName)
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
			return "", fmt.Errorf("scheme: %q: directory contains a dot: %w", d, ErrLocalName)
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

// DOSNames converts DOS and Windows file names, such as C:\A\B.TXT to C:/A/B.TXT.
func DOSNames() LocalNames {
	return LocalNames{
		Split: func(local string) ([]string, error) {
			if strings.ContainsAny(local, "/\x00") {
				return nil, fmt.Errorf("scheme: %q: name contains a slash or NUL: %w", local, ErrLocalName)
			}
			return strings.Split(local, `\`), nil
		},
		Join: func(elements []string) (string, error) {
			for _, e := range elements {
				if strings.ContainsAny(e, "/\\\x00") {
					return "", fmt.Errorf("scheme: %q: segment contains a slash, backslash or NUL: %w", e, ErrLocalName)
				}
			}
			return strings.Join(elements, `\`), nil
		},
	}
}
