package client

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/nomen-project/nomen/uri"
)

// A destination is where a redirection leads: exactly one of a name, another
// site of the same resolver, and a URL.
type destination struct {
	subject   subject
	site      string
	url       string
	fetchable bool // the URL is one of the web
}

// destination reads the reason phrase and Location of a redirection (1995, 4;
// A95-4).
func (r *reply) destination(s stop) (destination, error) {
	if r.status == http.StatusMovedPermanently || r.status == http.StatusFound {
		if u, ok := urnIn(r.reason); ok {
			return destination{subject: u}, nil
		}
	}
	unusable := &StatusError{Code: r.status, Reason: r.reason + " (without a usable Location)"}
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
		d.url = location // as spelled
	}
	if at, ok := s.way.(site); ok && d.fetchable {
		return r.onSite(s, at, u, d), nil
	}
	return d, nil
}

// onSite tells whether a URL, to which a resolver on the web sends us, is that
// of another name there, or its own new address; else it is d.
func (r *reply) onSite(s stop, at site, u *url.URL, d destination) destination {
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

// moved reports whether u is where the same resolver is asked about the same
// name, as when http is led to https, and returns its base there.
func (s stop) moved(at site, u *url.URL) (string, bool) {
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

// absolute resolves a Location against the URL that was asked.
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

// isNameScheme reports whether URIs of this scheme are names and no locations.
func isNameScheme(s string) bool {
	return slices.Contains([]string{"urn", "ark", "doi", "hdl", "info", "tag"}, s)
}

// isWebScheme reports whether URIs of this scheme are locations on the web; they
// may be names too.
func isWebScheme(s string) bool { return s == "http" || s == "https" }

// nameAlone reads a Location that is a name, perhaps as a path from the root,
// perhaps with directives, which the next request has of its own, and a fragment.
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

// urnIn returns the first URN of a reason phrase, perhaps in angle brackets.
func urnIn(phrase string) (subject, bool) {
	for i := 0; i+len("urn:") <= len(phrase); i++ {
		// A folded copy of the phrase may have another length, and other offsets.
		if !strings.EqualFold(phrase[i:i+len("urn:")], "urn:") || i > 0 && isSchemeChar(phrase[i-1]) {
			continue
		}
		if sub, err := parseSubject(token(phrase, i)); err == nil { // else "The URN: it has moved"
			return sub, true
		}
	}
	return subject{}, false
}

// token returns what of s, from i on, belongs together. Where there are other words,
// the punctuation at its end is that of the sentence.
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

func isSchemeChar(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || strings.IndexByte("+-.", c) >= 0
}
