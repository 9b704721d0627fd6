package server

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/format"
	"github.com/nomen-project/nomen/gateway"
	"github.com/nomen-project/nomen/internal/accept"
	"github.com/nomen-project/nomen/internal/question"
	"github.com/nomen-project/nomen/uri"
)

// fetch answers I2R and I2Rs. It passes on a resource from another server, which it does not trust.
func (s *Server) fetch(ctx context.Context, r *request, a parsedTarget, service nomen.Service) *reply {
	if p := s.checkRate(ctx); p != nil {
		return p
	}
	back, err := s.resources.take(ctx)
	var limit *gateway.LimitError
	if errors.As(err, &limit) {
		return s.tooMany(limit)
	}
	return s.fetchInTurn(ctx, r, a, service, back)
}

// fetchInTurn is fetch for a request that has its turn (see withTurn). It calls endTurn after the
// response.
func (s *Server) fetchInTurn(ctx context.Context, r *request, a parsedTarget, service nomen.Service, endTurn func()) (p *reply) {
	ctx, cancel := context.WithTimeout(ctx, s.limits.Resource)
	ctx, begun, end := gateway.Beginning(ctx)
	var ans *nomen.Answer
	var err error
	release := func() {
		if ans != nil {
			question.CloseResources(ans)
		}
		end()
		cancel()
		endTurn()
	}
	streams := false
	defer func() {
		if !streams {
			release()
		}
	}()
	q, _ := a.question(r, service) // fails only for I=I
	if ans, err = s.resolver.Resolve(ctx, q); err != nil {
		return s.problem(ctx, r, a, gateway.Late(ctx, err))
	}
	begun()
	switch {
	case ans.Redirect != "", ans.Service != service:
		return s.answered(ctx, r, a, service, ans)
	case service == nomen.I2Rs:
		p = s.multipart(r, a, ans)
	case ans.Resource == nil:
		return s.failure(r, errors.New("server: the resolver returned no resource for I2R"))
	default:
		p = s.resource(r, a, ans)
	}
	streams, p.release, p.pool = true, release, s.resources
	return p
}

// foreignPolicy is the Content-Security-Policy for content of other servers. The content has no
// origin and cannot run scripts.
const foreignPolicy = "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// newForeign returns a reply for content of other servers. Caches must not keep it, unless the
// authority sets a lifetime.
func (s *Server) newForeign(r *request, a parsedTarget, ans *nomen.Answer) *reply {
	p := newReply(http.StatusOK)
	s.link(p, r, a, ans)
	p.varyWith(ans)
	if ans.MaxAge > 0 {
		p.add("Cache-Control", cacheControl(ans))
	} else {
		p.add("Cache-Control", "no-store")
	}
	p.add("Content-Security-Policy", foreignPolicy)
	p.add("Accept-Ranges", "none")
	return p
}

func (s *Server) resource(r *request, a parsedTarget, ans *nomen.Answer) *reply {
	res := ans.Resource
	contentType := safeType(res.Type)
	p := s.newForeign(r, a, ans)
	p.add("Content-Type", contentType)
	p.add("Content-Location", safeLocation(res.URL))
	if !isInert(contentType) {
		p.add("Content-Disposition", "attachment")
	}
	p.length = res.Size
	p.stream = func(_ context.Context, w io.Writer) error { return copyExactly(w, res.Body, res.Size) }
	return p
}

// copyExactly copies a body of the given size. It truncates a longer body, and returns an error for
// a shorter body. If size is -1, the size is unknown, and copyExactly copies everything.
func copyExactly(w io.Writer, from io.Reader, size int64) error {
	if size < 0 {
		_, err := io.Copy(w, from)
		return err
	}
	n, err := io.Copy(w, io.LimitReader(from, size))
	if err == nil && n < size {
		err = fmt.Errorf("resource truncated: %d of %d bytes: %w", n, size, io.ErrUnexpectedEOF)
	}
	return err
}

// multipart passes on all versions of a resource that the client accepts, as multipart/alternative
// (RFC 2169, 3.4; RFC 2046, 5.1.4). It leaves out versions that cannot be read.
func (s *Server) multipart(r *request, a parsedTarget, ans *nomen.Answer) *reply {
	boundary := "nomen-" + rand.Text()
	p := s.newForeign(r, a, ans)
	p.add("Content-Type", "multipart/alternative; boundary="+boundary)
	p.add("Content-Disposition", "attachment")
	accepted := acceptedOf(r.accept, ans.Resources)
	p.stream = func(_ context.Context, w io.Writer) error {
		for _, res := range accepted {
			err := s.writePart(w, boundary, res)
			if err != nil {
				return err
			}
		}
		_, err := io.WriteString(w, "--"+boundary+"--\r\n")
		return err
	}
	return p
}

func acceptedOf(field string, all []*nomen.Resource) []*nomen.Resource {
	var f accept.Field
	if f.ReadMedia(field); f.Len() == 0 {
		return all
	}
	var some []*nomen.Resource
	for _, res := range all {
		kind, _, _ := strings.Cut(res.Type, ";")
		kind = strings.TrimSpace(kind)
		if kind == "" || f.Media(kind, "*", true).Q > 0 {
			some = append(some, res)
		}
	}
	return some
}

func (s *Server) writePart(w io.Writer, boundary string, res *nomen.Resource) error {
	beginning := make([]byte, 32<<10)
	n, err := io.ReadFull(res.Body, beginning)
	ended := err == io.EOF || err == io.ErrUnexpectedEOF
	if err != nil && !ended {
		s.log.Info("cannot read a resource", "err", err)
		return nil
	}
	head := "--" + boundary + "\r\nContent-Type: " + safeType(res.Type) + "\r\n"
	if u := safeLocation(res.URL); u != "" {
		head += "Content-Location: " + u + "\r\n"
	}
	if _, err := io.WriteString(w, head+"\r\n"); err != nil {
		return err
	}
	if _, err := w.Write(beginning[:n]); err != nil {
		return err
	}
	if !ended {
		if _, err := io.Copy(w, res.Body); err != nil {
			return err
		}
	}
	_, err = io.WriteString(w, "\r\n")
	return err
}

func safeType(s string) string {
	const unknown = "application/octet-stream"
	if s == "" || len(s) > 256 {
		return unknown
	}
	kind, params, err := mime.ParseMediaType(s)
	if err != nil || !strings.Contains(kind, "/") {
		return unknown
	}
	if again := mime.FormatMediaType(kind, params); again != "" {
		return again
	}
	return unknown
}

func safeLocation(s string) string {
	u, err := uri.Parse(s)
	if err != nil {
		return ""
	}
	return u.WithoutFragment().String()
}

// isInert reports whether browsers show content of a media type without executing anything. Other
// content is sent as an attachment.
func isInert(contentType string) bool {
	kind, _, _ := strings.Cut(contentType, ";")
	switch kind {
	case "text/plain", "text/csv", format.TypeURIList, format.TypeJSON, "image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/tiff":
		return true
	}
	return strings.HasPrefix(kind, "audio/") || strings.HasPrefix(kind, "video/")
}
