package rule

import (
	"errors"
	"fmt"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/internal/location"
	"github.com/nomen-project/nomen/uri"
)

// A place is a location of a rule, whose URL is a template.
type place struct {
	nomen.Location
	template template
	labels   []string // variables in the host
}

// newPlace parses a location. The scheme and the host must be literal, except that labels before
// the domain may be variables.
func newPlace(l nomen.Location, t template) (place, error) {
	p := place{Location: l, template: t}
	scheme, rest, ok := "", "", false
	if len(t.parts) > 0 {
		scheme, rest, ok = strings.Cut(t.parts[0].literal, ":")
	}
	if !ok || !isScheme(scheme) {
		return p, t.fault(0, "scheme", "must begin with a literal scheme")
	}
	rest, ok = strings.CutPrefix(rest, "//")
	switch bare := rest == "" || rest == "/"; {
	case ok:
		err := p.setHost(scheme, rest)
		return p, err
	case isWeb(scheme): // browsers read such a URL as if it had two slashes
		return p, t.fault(len(scheme)+1, "hier-part", `missing "//" and a host`)
	case bare && len(t.parts) > 1 && (rest != "" || t.parts[1].op.char != 0):
		return p, t.fault(t.parts[1].offset, "hier-part", "the text after the scheme must be literal, so that a name cannot add a host")
	}
	return p, nil // the URL has no host
}

// setHost checks the host of the template and records its variables. The parameter tail is the
// first literal text, after "//".
func (p *place) setHost(scheme, tail string) error {
	t := p.template
	const variable = "{" // replaces a variable in host; literal text cannot contain it
	host := ""
	for i := 0; ; tail = t.parts[i].literal {
		literal, _, ended := cutAny(tail, "/?#")
		host += literal
		if i++; ended || i == len(t.parts) {
			break
		}
		part := &t.parts[i]
		if part.vars == nil {
			continue
		}
		if part.op.char != 0 || len(part.vars) != 1 || part.vars[0].explode || part.vars[0].prefix != 0 {
			return t.fault(part.offset, "authority", `missing "/" before this; in the host only a whole label can be a variable, such as "{part}"`)
		}
		p.labels = append(p.labels, part.vars[0].name)
		host += variable
	}
	offset := strings.Index(t.source, "//") + len("//")
	domain := host[strings.LastIndex(host, variable)+1:]
	switch {
	case strings.IndexByte(host, '@') >= 0:
		return t.fault(offset, "userinfo", "must not contain a user name or password")
	case host == "":
		return t.fault(offset, "host", "the host is empty")
	case len(p.labels) > 0 && (!strings.HasPrefix(domain, ".") || strings.Count(domain, ".") < 2):
		return t.fault(offset, "host", `the host must end in a literal domain, such as "{part}.example.org"`)
	}
	written := scheme + "://" + strings.ReplaceAll(host, variable, "x") + "/" // the part that does not depend on the name
	var bad *location.Error
	if errors.As(location.Check(written), &bad) {
		return t.fault(min(bad.Offset, len(t.source)), bad.Rule, bad.Message)
	}
	return nil
}

func cutAny(s, chars string) (before, after string, found bool) {
	if i := strings.IndexAny(s, chars); i >= 0 {
		return s[:i], s[i:], true
	}
	return s, "", false
}

func isWeb(scheme string) bool {
	switch strings.ToLower(scheme) {
	case "http", "https", "ftp", "ws", "wss":
		return true
	}
	return false
}

func isScheme(s string) bool {
	for i := range len(s) {
		if c := s[i]; !ascii.IsAlnum(c) && strings.IndexByte("+-.", c) < 0 || i == 0 && (ascii.IsDigit(c) || !ascii.IsAlnum(c)) {
			return false
		}
	}
	return true
}

var (
	errLabel   = errors.New("not a valid label of a host")
	errSegment = errors.New(`"." or ".." would change the path`)
	errTooLong = fmt.Errorf("longer than %d bytes", maxExpansion)
)

func (p *place) expand(parts map[string]string, value func(string) templateValue) (nomen.Location, error) {
	for _, label := range p.labels {
		if !isLabel(parts[label]) {
			return nomen.Location{}, fmt.Errorf("%s is %q: %w", label, parts[label], errLabel)
		}
	}
	l := p.Location
	s, ok := p.template.expand(value)
	if !ok {
		return l, errTooLong
	}
	u, err := uri.Parse(s)
	if err != nil {
		return l, err
	}
	if err := location.CheckURI(u); err != nil {
		return l, err
	}
	if hasDots(u.Path()) {
		return l, errSegment
	}
	l.URL = s
	return l, nil
}

// isLabel reports whether s is a label of a domain name (RFC 1123, section 2.1).
func isLabel(s string) bool {
	const longest = 63
	if s == "" || len(s) > longest || s[0] == '-' || s[len(s)-1] == '-' {
		return false
	}
	for i := range len(s) {
		if !ascii.IsAlnum(s[i]) && s[i] != '-' {
			return false
		}
	}
	return true
}

// hasDots reports whether a path has a segment that a program could read as "." or "..". Escaped
// dots count as dots. Slashes and backslashes, escaped or not, separate segments.
func hasDots(path string) bool {
	for segment := range strings.FieldsFuncSeq(path, func(r rune) bool { return r == '/' || r == '\\' }) {
		plain := unescape(segment)
		if plain == "." || plain == ".." {
			return true
		}
		for inner := range strings.FieldsFuncSeq(plain, func(r rune) bool { return r == '/' || r == '\\' }) {
			if inner == "." || inner == ".." {
				return true
			}
		}
	}
	return false
}
