package server

import (
	"crypto/sha256"
	"encoding/base64"
	"hash"
	"net/http"
	"slices"
	"strings"
	"time"
)

// tagOf returns the strong entity tag of a representation: a digest of everything that
// distinguishes it from others.
func tagOf(contentType string, how coding, body []byte) string {
	h := sha256.New()
	h.Write([]byte(contentType + "\n" + string(how) + "\n"))
	h.Write(body)
	return digestTag(h)
}

func digestTag(h hash.Hash) string {
	const enough = 16 // bytes
	return `"` + base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:enough]) + `"`
}

// represent completes a 200 reply with a body, compressed if it is long enough or the
// client requires it, and applies the preconditions of the request.
func (s *Server) represent(r *request, p *reply, contentType string, body []byte) *reply {
	how := identity
	if isCodable(contentType) && (len(body) >= minCoded || refusesIdentity(r.encodings)) {
		p.vary("Accept-Encoding")
		how = codingFor(r.encodings)
	}
	p.add("ETag", tagOf(contentType, how, body))
	if p = conditional(r, p); p.status != http.StatusOK {
		return p
	}
	if how != identity {
		coded, err := s.coders.coded(how, body)
		if err != nil {
			return s.failure(r, err)
		}
		p.add("Content-Encoding", string(how))
		body = coded
	}
	return p.withBody(contentType, body)
}

// lastModified returns the date of the last change, rounded up to the second but not
// later than now (RFC 9110, 8.8.2.1), or "" if it is not known.
func lastModified(modified, now time.Time) string {
	if modified.IsZero() {
		return ""
	}
	t := modified.UTC().Truncate(time.Second)
	if t.Before(modified) {
		t = t.Add(time.Second)
	}
	if t.After(now) {
		t = now.UTC().Truncate(time.Second)
	}
	return t.Format(http.TimeFormat)
}

// conditional applies the preconditions of a request to a 200 reply, in the order of RFC
// 9110, 13.2.2. They do not apply to redirects and errors.
func conditional(r *request, p *reply) *reply {
	tag, modified := p.get("ETag"), httpTime(p.get("Last-Modified"))
	switch {
	case r.ifMatch != "":
		if !matches(r.ifMatch, tag, false) {
			return preconditionFailed(p)
		}
	case r.ifUnmodifiedSince != "":
		if since := httpTime(r.ifUnmodifiedSince); !since.IsZero() && modified.After(since) {
			return preconditionFailed(p)
		}
	}
	switch {
	case r.ifNoneMatch != "":
		if matches(r.ifNoneMatch, tag, true) {
			return notModified(p)
		}
	case r.ifModifiedSince != "":
		if since := httpTime(r.ifModifiedSince); !since.IsZero() && !modified.IsZero() && !modified.After(since) {
			return notModified(p)
		}
	}
	return p
}

// httpTime parses a date of HTTP in one of its three forms; it returns zero if s is
// invalid.
func httpTime(s string) time.Time {
	t, err := http.ParseTime(s)
	if err != nil {
		return time.Time{}
	}
	return t
}

// maxTags is how many tags of one field are compared.
const maxTags = 256

// matches reports whether a field contains the tag or is "*". The weak comparison ignores
// that a tag is weak; the strong comparison never matches a weak tag (RFC 9110, 8.8.3.2).
func matches(field, tag string, weak bool) bool {
	if strings.Trim(field, " \t") == "*" {
		return true
	}
	for n := 0; n < maxTags; n++ {
		field = strings.TrimLeft(field, " \t,")
		isWeak := strings.HasPrefix(field, "W/")
		candidate := strings.TrimPrefix(field, "W/")
		if candidate == "" || candidate[0] != '"' {
			return false
		}
		end := strings.IndexByte(candidate[1:], '"')
		if end < 0 {
			return false
		}
		if candidate[:end+2] == tag && (weak || !isWeak) {
			return true
		}
		field = candidate[end+2:]
	}
	return false
}

// notModified returns the 304 for a reply, with the fields that a cache needs to update
// its copy (RFC 9110, 15.4.5).
func notModified(p *reply) *reply {
	kept := []string{"ETag", "Last-Modified", "Vary", "Cache-Control", "Content-Location", "Link", "Memento-Datetime"}
	out := newReply(http.StatusNotModified)
	for _, f := range p.fields {
		if slices.Contains(kept, f.name) {
			out.fields = append(out.fields, f)
		}
	}
	return out
}

func preconditionFailed(p *reply) *reply {
	out := newReply(http.StatusPreconditionFailed)
	out.add("Vary", p.get("Vary"))
	return out.withText("The resource was modified: it does not match the preconditions of the request.")
}
