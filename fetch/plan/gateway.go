package plan

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/scheme"
	"github.com/nomen-project/nomen/uri"
)

// Gateways is a user's table of gateways. Through a gateway, a client can retrieve locators of
// schemes that it does not support (draft of 1993, section "Registration of naming schemes"). It is
// immutable. The zero Gateways is empty.
type Gateways struct{ list []gateway }

type gateway struct{ scheme, template string }

// Wildcards for scheme names.
const (
	AnyExperimental = "x-*" // schemes that begin with "x-" and have no other gateway
	AnyScheme       = "*"   // schemes that have no other gateway
)

// Variables in a gateway.
const (
	varURI  = "{uri}"  // the locator, with all but unreserved characters percent-encoded
	varRaw  = "{+uri}" // the locator as it is spelled
	varRest = "{rest}" // the text after the first colon, encoded like {uri}
)

// ErrGateway means that a gateway is invalid.
var ErrGateway = errors.New("invalid gateway locator")

// ErrThrough means that a locator cannot be passed to the gateway, for example because the gateway
// would remove dot segments from it.
var ErrThrough = errors.New("cannot be passed to the gateway")

// With returns a copy of the table with a gateway for a scheme, or for [AnyExperimental] or
// [AnyScheme]. The new gateway replaces the previous gateway for the scheme. The template is an
// absolute locator. It may contain one of these variables, which stands for the locator to
// retrieve:
//
//	{uri}   the whole locator, with all but unreserved characters escaped
//	{+uri}  the whole locator as it is spelled, which some gateways need
//	{rest}  the text after the first colon, escaped like {uri}
//
// If the template has no variable, {uri} is appended. The error wraps [ErrGateway].
func (g Gateways) With(name, template string) (Gateways, error) {
	name = strings.ToLower(name)
	if !scheme.IsName(name) && name != AnyExperimental && name != AnyScheme {
		return g, fmt.Errorf("scheme: %q: %w: %w", name, ErrGateway, scheme.ErrName)
	}
	if !strings.Contains(template, varURI) && !strings.Contains(template, varRaw) && !strings.Contains(template, varRest) {
		template += varURI
	}
	sample, err := uri.Parse(expand(template, uri.MustParse("x:x")))
	if err != nil {
		return g, fmt.Errorf("scheme: %q: %w: %w", template, ErrGateway, err)
	}
	if reason := badGateway(template, sample, name); reason != "" {
		return g, fmt.Errorf("scheme: %q: %w: %s", template, ErrGateway, reason)
	}
	list := slices.DeleteFunc(slices.Clone(g.list), func(old gateway) bool { return old.scheme == name })
	return Gateways{append(list, gateway{name, template})}, nil
}

func badGateway(template string, sample uri.URI, scheme string) string {
	name, _ := sample.Scheme()
	host, ok := sample.Host()
	authority, _ := sample.Authority()
	brace := strings.IndexByte(template, '{')
	switch {
	case !ok || host == "":
		return "missing host"
	case strings.EqualFold(name, scheme):
		return "uses the same scheme that it is a gateway for"
	case brace < strings.Index(template, "//")+2+len(authority):
		return "the variable must not be in the scheme or the host"
	}
	if _, ok := sample.Fragment(); ok {
		return "a fragment would not be sent"
	}
	return ""
}

// All returns an iterator over the schemes and the templates of their gateways, in the order in
// which they were added.
func (g Gateways) All() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for _, w := range g.list {
			if !yield(w.scheme, w.template) {
				return
			}
		}
	}
}

func (g Gateways) has(scheme string) bool {
	return slices.ContainsFunc(g.list, func(w gateway) bool { return strings.EqualFold(w.scheme, scheme) })
}

// Locator returns the locator by which to retrieve u through a gateway. It omits the fragment of u.
// It returns false if the table has no gateway for the scheme. The error wraps [ErrThrough].
func (g Gateways) Locator(u uri.URI) (uri.URI, bool, error) {
	template := g.templateFor(u)
	if template == "" {
		return uri.URI{}, false, nil
	}
	u = u.WithoutFragment()
	if strings.Contains(template, varRaw) && !passes(u) {
		return uri.URI{}, false, fmt.Errorf("scheme: %s: %w: it contains dot segments, which this gateway would resolve", u.Redacted(), ErrThrough)
	}
	at, err := uri.Parse(expand(template, u))
	if err != nil {
		return uri.URI{}, false, fmt.Errorf("scheme: %s: %w: %w", u.Redacted(), ErrThrough, err)
	}
	return at, true, nil
}

// templateFor returns the template for the scheme of u, or "". It skips gateways whose own locators
// have this scheme.
func (g Gateways) templateFor(u uri.URI) string {
	name, ok := u.Scheme()
	if !ok {
		return ""
	}
	for _, want := range [...]string{name, AnyExperimental, AnyScheme} {
		for _, w := range g.list {
			if !strings.EqualFold(w.scheme, want) || want == AnyExperimental && !scheme.IsExperimental(name) {
				continue
			}
			if own, _, _ := strings.Cut(w.template, ":"); !strings.EqualFold(own, name) {
				return w.template
			}
		}
	}
	return ""
}

func passes(u uri.URI) bool {
	text := u.String()
	for i := 0; i < len(text); {
		end := i
		for end < len(text) && strings.IndexByte("/?:", text[end]) < 0 {
			end++
		}
		if segment := scheme.Part.Data(scheme.Part{Value: text[i:end], Escaped: true}); segment == "." || segment == ".." {
			return false
		}
		i = end + 1
	}
	return true
}

// expand replaces the variables in the template of a gateway.
func expand(template string, u uri.URI) string {
	name, _ := u.Scheme()
	text := u.String()
	var b strings.Builder
	for template != "" {
		i := strings.IndexByte(template, '{')
		if i < 0 {
			break
		}
		b.WriteString(template[:i])
		template = template[i:]
		switch {
		case strings.HasPrefix(template, varURI):
			escapeAll(&b, text)
			template = template[len(varURI):]
		case strings.HasPrefix(template, varRaw):
			b.WriteString(text)
			template = template[len(varRaw):]
		case strings.HasPrefix(template, varRest):
			escapeAll(&b, text[len(name)+1:])
			template = template[len(varRest):]
		default: // parsing the result fails because of the brace
			b.WriteByte('{')
			template = template[1:]
		}
	}
	b.WriteString(template)
	return b.String()
}

// escapeAll percent-encodes all characters except unreserved characters (RFC 6570, section 3.2.2).
func escapeAll(b *strings.Builder, s string) {
	for i := range len(s) {
		if c := s[i]; ascii.IsAlnum(c) || strings.IndexByte("-._~", c) >= 0 {
			b.WriteByte(c)
		} else {
			b.WriteString(ascii.Escape(c))
		}
	}
}
