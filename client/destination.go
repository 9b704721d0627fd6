package client

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/internal/pid"
	"github.com/nomen-project/nomen/uri"
)

// A destination is the target of a redirect. The target is a name, a new base URL of the same
// resolver, or another URL.
type destination struct {
	subject   subject
	site      string
	url       string
	fetchable bool // its scheme is http or https
}

// destination parses the target of a redirect in the reason phrase or the Location field (1995, 4;
// A95-4).
func (r *reply) destination(s hop) (destination, error) {
	if r.status == http.StatusMovedPermanently || r.status == http.StatusFound {
		if u, ok := urnIn(r.reason); ok {
			return destination{subject: u}, nil
		}
	}
	unusable := &StatusError{Code: r.status, Reason: r.reason + " (no usable Location)"}
	location := r.header.Get("Location")
	if !validTarget(location) {
		return destination{}, unusable
	}
	if sub, ok := nameAlone(location); ok && isNameScheme(sub.name.Scheme()) {
		return destination{subject: sub}, nil
	}
	u, ok := r.absolute(location)
	if !ok {
		return destination{}, unusable
	}
	d := destination{url: u.String(), fetchable: isWebScheme(u.Scheme)}
	if strings.HasPrefix(strings.ToLower(location), u.Scheme+":") {
		d.url = location // as in the Location field
	}
	if at, ok := s.way.(site); ok && d.fetchable {
		return r.onSite(s, at, u, d), nil
	}
	return d, nil
}

// onSite interprets a redirect to u by a resolver on the web. If u is the URL of another name at
// that resolver, the result is this name. If u is the URL of the same name at a new base URL, the
// result is this base URL. Otherwise, onSite returns d.
func (r *reply) onSite(s hop, at site, u *url.URL, d destination) destination {
	if path, ok := strings.CutPrefix(u.String(), at.base); ok {
		if sub, ok := nameAlone(path); ok && (isNameScheme(sub.name.Scheme()) || isWebScheme(sub.name.Scheme())) {
			return destination{subject: sub}
		}
	}
	if base, ok := s.moved(at, u); ok && r.status != http.StatusSeeOther {
		return destination{site: base}
	}
	return d
}

// moved returns the new base URL of the resolver if u has the same name at the same resolver. A
// redirect from http to https is an example.
func (s hop) moved(at site, u *url.URL) (string, bool) {
	old, err := url.Parse(at.base)
	if err != nil || bareHost(old) != bareHost(u) {
		return "", false
	}
	path := u.EscapedPath()
	i := strings.LastIndex(path, "/"+s.spelling)
	if i < 0 || i+1+len(s.spelling) != len(path) {
		return "", false
	}
	return u.Scheme + "://" + strings.ToLower(u.Host) + path[:i+1], true
}

func bareHost(u *url.URL) string { return strings.TrimPrefix(strings.ToLower(u.Hostname()), "www.") }

// absolute resolves a Location against the URL of the request.
func (r *reply) absolute(location string) (*url.URL, bool) {
	u, err := url.Parse(location)
	if err != nil || u.IsAbs() {
		return u, err == nil
	}
	base, err := url.Parse(r.url)
	if err != nil || r.url == "" {
		return nil, false
	}
	return base.ResolveReference(u), true
}

func isNameScheme(s string) bool { return pid.Lookup(s).Resolved }

// isWebScheme reports whether URIs with this scheme are locations on the web. Such URIs can also be
// names.
func isWebScheme(s string) bool { return s == "http" || s == "https" }

// nameAlone parses a Location that is a name, or a path that consists of a name, with directives
// and a fragment. It drops the directives, because the next request has its own directives.
func nameAlone(location string) (subject, bool) {
	location = strings.TrimPrefix(location, "/")
	location, fragment, _ := strings.Cut(location, "#")
	location, _, _ = strings.Cut(location, "?")
	sub, err := parseSubject(pathName(location))
	if _, bad := uri.Parse("x:#" + fragment); bad == nil {
		sub.fragment = fragment
	}
	return sub, err == nil
}

// urnIn returns the first URN in a reason phrase, with or without angle brackets.
func urnIn(phrase string) (subject, bool) {
	for i := range len(phrase) {
		if !ascii.HasPrefix(phrase[i:], "urn:") || i > 0 && isSchemeChar(phrase[i-1]) {
			continue
		}
		if sub, err := parseSubject(token(phrase, i)); err == nil { // invalid in "The URN: it has moved"
			return sub, true
		}
	}
	return subject{}, false
}

// token returns the word at offset i of s. If s has other words, token removes punctuation at the
// end, which belongs to the sentence.
func token(s string, i int) string {
	if i > 0 && s[i-1] == '<' {
		if inner, _, ok := strings.Cut(s[i:], ">"); ok {
			return "<" + inner + ">"
		}
	}
	t := s[i:]
	if n := strings.IndexAny(t, " \t<>\"'"); n >= 0 {
		t = t[:n]
	}
	if t == s {
		return t
	}
	for {
		short := strings.TrimRight(t, ".,;:!?")
		if strings.HasSuffix(short, ")") && strings.Count(short, "(") < strings.Count(short, ")") {
			short = short[:len(short)-1]
		}
		if short == t {
			return t
		}
		t = short
	}
}

func isSchemeChar(c byte) bool { return ascii.IsAlnum(c) || strings.IndexByte("+-.", c) >= 0 }
