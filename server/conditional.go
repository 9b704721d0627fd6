package server

import (
	"net/http"
	"slices"

	"github.com/nomen-project/nomen/internal/validator"
)

// represent completes a reply of status 200: it adds the body, and evaluates the preconditions of
// the request. It compresses the body if the body is long, or if the client does not accept it
// uncompressed.
func (s *Server) represent(r *request, p *reply, contentType string, body []byte) *reply {
	how := identity
	if isCodable(contentType) && (len(body) >= minCoded || refusesIdentity(r.encodings)) {
		p.vary("Accept-Encoding")
		how = codingFor(r.encodings)
	}
	p.add("ETag", validator.TagOf(contentType, string(how), body))
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

// conditional evaluates the preconditions of a request (RFC 9110, 13.2.2). If the status of the
// reply is not 200, conditional returns the reply unchanged.
func conditional(r *request, p *reply) *reply {
	tag, modified := p.get("ETag"), validator.ParseDate(p.get("Last-Modified"))
	switch {
	case r.ifMatch != "":
		if !validator.Matches(r.ifMatch, tag, false) {
			return preconditionFailed(p)
		}
	case r.ifUnmodifiedSince != "":
		if since := validator.ParseDate(r.ifUnmodifiedSince); !since.IsZero() && modified.After(since) {
			return preconditionFailed(p)
		}
	}
	switch {
	case r.ifNoneMatch != "":
		if validator.Matches(r.ifNoneMatch, tag, true) {
			return notModified(p)
		}
	case r.ifModifiedSince != "":
		if since := validator.ParseDate(r.ifModifiedSince); !since.IsZero() && !modified.IsZero() && !modified.After(since) {
			return notModified(p)
		}
	}
	return p
}

// notModified returns the 304 for a reply, with the fields that caches need to update their copies
// (RFC 9110, 15.4.5).
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
