package rewrite

import (
	"errors"
	"fmt"
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/rule"
)

// A Target builds the URL template of a location.
type Target struct {
	Parts map[string]rule.Part // conversions of the parts in the template

	template strings.Builder
	host     int // 0 before "://", 1 in the host, 2 after it
	scheme   string
}

// Literal appends literal text. If escape is true, it percent-encodes "%", "?", "#" and all other
// characters that a URL path cannot contain. If escape is false, it percent-encodes only characters
// that no part of a URL can contain.
func (t *Target) Literal(s string, escape bool) {
	for i := range len(s) {
		t.Char(s[i:], escape)
	}
}

// Char appends the first byte of rest in the same way as [Target.Literal].
func (t *Target) Char(rest string, escape bool) {
	c := rest[0]
	t.advance(c)
	switch {
	case ascii.IsAlnum(c), strings.IndexByte("$-_.+!*'(),:;@&=/~", c) >= 0,
		t.host < 2 && strings.IndexByte("{}", c) < 0,
		!escape && (strings.IndexByte("?#", c) >= 0 || c == '%' && isEscape(rest)):
		t.template.WriteByte(c)
	default:
		t.template.WriteString(ascii.Escape(c))
	}
}

func (t *Target) advance(c byte) {
	switch {
	case t.host == 0:
		if t.scheme += string(c); strings.HasSuffix(t.scheme, "://") {
			t.host = 1
		}
	case t.host == 1 && strings.IndexByte("/?#", c) >= 0:
		t.host = 2
	}
}

func isEscape(s string) bool {
	return len(s) > 2 && s[0] == '%' && ascii.IsHex(s[1]) && ascii.IsHex(s[2])
}

// Part appends a variable for a part of the name or the request. If escape is true, "%" and
// characters that a path cannot contain are percent-encoded in the value. If delimiters is true,
// the delimiters of paths are percent-encoded as well.
func (t *Target) Part(name string, escape, delimiters bool) {
	if t.host == 1 || delimiters {
		t.template.WriteString("{" + name + "}")
		return
	}
	t.template.WriteString("{+" + name + "}")
	if escape {
		if t.Parts == nil {
			t.Parts = make(map[string]rule.Part)
		}
		t.Parts[name] = rule.Part{Escape: true}
	}
}

var errNoHost = errors.New("the scheme or host of the target depends on the request")

// Template returns the URL template. It returns an error if the scheme or the host depends on the
// request.
func (t *Target) Template() (string, error) {
	s := t.template.String()
	scheme, rest, ok := strings.Cut(s, "://")
	if !ok || strings.ContainsAny(scheme, "{") || strings.HasPrefix(rest, "{") && !strings.Contains(rest[:max(0, strings.IndexByte(rest+"/", '/'))], ".") {
		return "", fmt.Errorf("%w: %s", errNoHost, s)
	}
	return s, nil
}
