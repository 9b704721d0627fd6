package scheme

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/nomen-project/nomen/uri"
)

// Gateways say through what to reach schemes that a client does not speak: a
// table that a user configures (1993, Registration of naming schemes). It is a
// value; the zero Gateways has none.
type Gateways struct{ list []gateway }

// A gateway is a line of the table.
type gateway struct{ scheme, template string }

// The schemes that stand for several.
const (
	AnyExperimental = "x-*" // all whose names begin with "x-" and that have no gateway of their own
	AnyScheme       = "*"   // all others
)

// Where a template takes the locator.
const (
	varURI  = "{uri}"  // all but unreserved characters escaped
	varRaw  = "{+uri}" // as it is spelled
	varRest = "{rest}" // what follows the colon, all but unreserved characters escaped
)

// ErrGateway is the error of a gateway that cannot be one.
var ErrGateway = errors.New("not a gateway locator")

// ErrThrough is the error of a locator that cannot be asked of a gateway as it
// is spelled, because what follows would be read as another path.
var ErrThrough = errors.New("cannot pass the gateway")

// With returns the table with a gateway for a scheme, or for [AnyExperimental]
// or [AnyScheme]; it takes the place of one for the same. The gateway is a
// locator in full form. It may say where the locator goes that is to be reached:
//
//	{uri}   all of it, everything but unreserved characters escaped
//	{+uri}  all of it as it is spelled, as some gateways want it
//	{rest}  what follows the colon of the scheme, escaped
//
// If it says none, {uri} is appended. The error wraps [ErrGateway].
func (g Gateways) With(scheme, template string) (Gateways, error) {
	scheme = strings.ToLower(scheme)
	if !IsName(scheme) && scheme != AnyExperimental && scheme != AnyScheme {
		return g, fmt.Errorf("scheme: %q: %w: %w", scheme, ErrGateway, ErrName)
	}
	if !strings.Contains(template, varURI) && !strings.Contains(template, varRaw) && !strings.Contains(template, varRest) {
		template += varURI
	}
	sample, err := uri.Parse(expand(template, uri.MustParse("x:x")))
	if err != nil {
		return g, fmt.Errorf("scheme: %q: %w: %w", template, ErrGateway, err)
	}
	if reason := badGateway(template, sample, scheme); reason != "" {
		return g, fmt.Errorf("scheme: %q: %w: %s", template, ErrGateway, reason)
	}
	list := slices.DeleteFunc(slices.Clone(g.list), func(old gateway) bool { return old.scheme == scheme })
	return Gateways{append(list, gateway{scheme, template})}, nil
}

// badGateway says why a template is refused.
func badGateway(template string, sample uri.URI, scheme string) string {
	name, _ := sample.Scheme()
	host, ok := sample.Host()
	authority, _ := sample.Authority()
	brace := strings.IndexByte(template, '{')
	switch {
	case !ok || host == "":
		return "needs a host"
	case equalFold(name, scheme):
		return "leads to the scheme that it is for"
	case brace < strings.Index(template, "//")+2+len(authority):
		return "the locator must not stand in the scheme or the host"
	}
	if _, ok := sample.Fragment(); ok {
		return "a fragment is not sent"
	}
	return ""
}

// All yields the schemes with their gateways, in the order in which they were
// given.
func (g Gateways) All() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for _, w := range g.list {
			if !yield(w.scheme, w.template) {
				return
			}
		}
	}
}

// has reports whether there is a gateway for just this scheme.
func (g Gateways) has(scheme string) bool {
	return slices.ContainsFunc(g.list, func(w gateway) bool { return equalFold(w.scheme, scheme) })
}

// Locator returns the locator to fetch in order to get what u names, without its
// fragment, which stays with the client. It is false if no gateway is configured
// for the scheme. The error wraps [ErrThrough].
func (g Gateways) Locator(u uri.URI) (uri.URI, bool, error) {
	template := g.templateFor(u)
	if template == "" {
		return uri.URI{}, false, nil
	}
	u = u.WithoutFragment()
	if strings.Contains(template, varRaw) && !passes(u) {
		return uri.URI{}, false, fmt.Errorf("scheme: %s: %w: it has dot segments, and the gateway wants it as it is spelled", u.Redacted(), ErrThrough)
	}
	at, err := uri.Parse(expand(template, u))
	if err != nil {
		return uri.URI{}, false, fmt.Errorf("scheme: %s: %w: %w", u.Redacted(), ErrThrough, err)
	}
	return at, true, nil
}

// templateFor returns the gateway for the scheme of u, or "". One that leads
// through the scheme of u is none for it.
func (g Gateways) templateFor(u uri.URI) string {
	name, ok := u.Scheme()
	if !ok {
		return ""
	}
	for _, want := range [...]string{name, AnyExperimental, AnyScheme} {
		for _, w := range g.list {
			if !equalFold(w.scheme, want) || want == AnyExperimental && !IsExperimental(name) {
				continue
			}
			if own, _, _ := strings.Cut(w.template, ":"); !equalFold(own, name) {
				return w.template
			}
		}
	}
	return ""
}

// passes reports whether no part of u is a dot segment, also for those who
// decode first.
func passes(u uri.URI) bool {
	text := u.String()
	for i := 0; i < len(text); {
		end := i
		for end < len(text) && strings.IndexByte("/?:", text[end]) < 0 {
			end++
		}
		if segment := Part.Data(Part{Value: text[i:end], Escaped: true}); segment == "." || segment == ".." {
			return false
		}
		i = end + 1
	}
	return true
}

// expand puts a locator into a template.
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
		default: // an unknown variable: the brace is for the parser to refuse
			b.WriteByte('{')
			template = template[1:]
		}
	}
	b.WriteString(template)
	return b.String()
}

// escapeAll writes s with all but unreserved characters escaped (RFC 6570,
// 3.2.2).
func escapeAll(b *strings.Builder, s string) {
	const hex = "0123456789ABCDEF"
	for i := range len(s) {
		if c := s[i]; isAlnum(c) || strings.IndexByte("-._~", c) >= 0 {
			b.WriteByte(c)
		} else {
			b.Write([]byte{'%', hex[c>>4], hex[c&15]})
		}
	}
}
