package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/format"
	"github.com/nomen-project/nomen/internal/qrcode"
	"github.com/nomen-project/nomen/internal/question"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/tlog"
	"github.com/nomen-project/nomen/tlog/publish"
	"github.com/nomen-project/nomen/tlog/receipt"
)

// The path prefixes of the published log and of receipts.
const (
	logPath   = "/-/log/"
	proofPath = "/-/proof/"
)

const formatQR = "qr"

// published answers requests for the published log and for receipts. It returns nil for other
// targets, or if the server publishes no log.
func (s *Server) published(ctx context.Context, r *request, path, q string, set *store.AuthoritySet) *reply {
	if s.publication == nil {
		return nil
	}
	if rest, ok := strings.CutPrefix(path, logPath); ok {
		return s.logFile(ctx, r, rest)
	}
	if spelling, ok := strings.CutPrefix(path, proofPath); ok {
		return s.costly(ctx, func() *reply { return s.receipt(ctx, r, adminapi.UnescapeName(spelling), q, set) })
	}
	return nil
}

// logFile serves a file of the published log (tlog-tiles). The path is relative to [logPath].
func (s *Server) logFile(ctx context.Context, r *request, path string) *reply {
	switch path {
	case "":
		return s.aboutLog(r)
	case "checkpoint":
		text, err := s.publication.Checkpoint()
		if err != nil {
			return s.logProblem(r, err)
		}
		p := newReply(http.StatusOK)
		p.add("Cache-Control", "max-age=1")
		return s.represent(r, p, textPage.ContentType(), text)
	}
	serve := func() *reply {
		data, immutable, err := s.publication.File(ctx, path)
		if err != nil {
			return s.logProblem(r, err)
		}
		p := newReply(http.StatusOK)
		if immutable {
			p.add("Cache-Control", "public, max-age=31536000, immutable")
		} else { // entries may become private
			p.add("Cache-Control", "no-cache")
		}
		return s.represent(r, p, "application/octet-stream", data)
	}
	if t, err := tlog.ParseTilePath(path); err == nil && s.publication.Cached(t) {
		return serve()
	}
	return s.costly(ctx, serve)
}

func (s *Server) logProblem(r *request, err error) *reply {
	var p *reply
	switch {
	case errors.Is(err, fs.ErrNotExist):
		p = newReply(http.StatusNotFound).withText("The published log has no such file. " + s.root(r) + logPath + " describes what it has.")
	case errors.Is(err, publish.ErrNotShown):
		p = newReply(http.StatusForbidden).withText("This bundle has entries about names that are not public, so it is not served. " + s.root(r) + logPath + "shown/ has the other entries.")
	case errors.Is(err, publish.ErrPending):
		p = newReply(http.StatusServiceUnavailable).withText("The change is not in the published log yet. Try again in a few seconds.")
		p.add("Retry-After", "2")
	case errors.Is(err, publish.ErrSuspended):
		p = newReply(http.StatusServiceUnavailable).withText("The log is not published at present, because the store does not continue the last checkpoint. Only the checkpoint is served.")
		p.add("Retry-After", "3600")
	default:
		return s.failure(r, err)
	}
	return uncached(p)
}

func (s *Server) aboutLog(r *request) *reply {
	is, base := s.publication.Status(), s.base(r)
	lines := []string{
		"This is the log of all changes of the names of this server. Anyone can verify it.", "",
		"Origin:      " + is.Origin,
		"Public key:  " + is.VKey,
		fmt.Sprintf("Entries:     %d", is.Size),
	}
	if !is.Time.IsZero() {
		lines = append(lines, "Published:   "+is.Time.UTC().Format(time.RFC3339))
	}
	if is.Waiting > 0 {
		lines = append(lines, fmt.Sprintf("Waiting:     %d", is.Waiting))
	}
	if is.Witnesses > 0 {
		lines = append(lines, fmt.Sprintf("Cosigned:    by %d of %d witnesses", is.Cosigned, is.Witnesses))
	}
	state := "published"
	if is.Problem != "" {
		state = "not published at present; the last checkpoint stays available"
	}
	return uncached(newReply(http.StatusOK)).withText(append(lines,
		"State:       "+state,
		"Checkpoint:  "+base+logPath+"checkpoint",
		"Hashes:      tile/LEVEL/NUMBER (https://c2sp.org/tlog-tiles)",
		"Bundles:     tile/entries/NUMBER, or shown/NUMBER if some are about names that are not public",
		"Receipts:    ../proof/NAME (https://c2sp.org/tlog-proof)",
	)...)
}

// receipt serves the receipt for a revision of a name. This is the current revision, or the
// revision at the time in the query.
func (s *Server) receipt(ctx context.Context, r *request, spelling, q string, set *store.AuthoritySet) *reply {
	n, err := name.Parse(spelling)
	if err != nil {
		return s.problem(ctx, r, parsedTarget{form: formPage}, question.Malformed(spelling, 0, err))
	}
	a := parsedTarget{form: formPage, name: n, authority: set.Of(n)}
	if !a.query.strictAt(q) {
		return s.problem(ctx, r, a, badTime(r.target, a.query.badAt))
	}
	qr, err := readReceiptFormat(r.target, q)
	if err != nil {
		return s.problem(ctx, r, a, err)
	}
	if err := a.checkAccess(); err != nil {
		return s.problem(ctx, r, a, err)
	}
	c, err := s.publicRevision(ctx, a)
	switch {
	case errors.Is(err, store.ErrNotFound), errors.Is(err, errors.ErrUnsupported):
		return s.problem(ctx, r, a, &nomen.Error{Kind: nomen.Unknown, Name: a.name.Key(), Message: a.noRevision()})
	case err != nil:
		return s.failure(r, err)
	}
	if qr {
		return s.receiptQR(ctx, r, c)
	}
	text, err := s.publication.Receipt(ctx, c)
	if err != nil {
		return s.logProblem(r, err)
	}
	p := newReply(http.StatusOK)
	p.add("Cache-Control", "no-cache")
	p.add("Content-Disposition", `attachment; filename="`+fileName(c.Subject().Key)+receipt.Extension+`"`)
	return s.represent(r, p, receipt.MediaType, text)
}

// noRevision returns the error message for a name without a public revision at the time in the
// query.
func (a parsedTarget) noRevision() string {
	if a.query.at.IsZero() {
		return "no public revision found"
	}
	return "no public revision found at " + a.query.at.UTC().Format(time.RFC3339Nano)
}

// publicRevision returns the revision of a name that was current at the time in the query, or the
// newest revision if the query has no time. If there is no such revision, or it is not public,
// publicRevision returns [store.ErrNotFound].
func (s *Server) publicRevision(ctx context.Context, a parsedTarget) (*store.Change, error) {
	for c, err := range store.History(ctx, s.store, a.kept()) {
		if err != nil {
			return nil, err
		}
		if at := a.query.at; !at.IsZero() && c.Time.After(at) {
			continue
		}
		if !isPublic(c) {
			break
		}
		return c, nil
	}
	return nil, store.ErrNotFound
}

// receiptQR serves a QR code for the receipt of a change. The code contains the origin of the log,
// the number of the change, and the hash of the leaf for this change. These values never change.
func (s *Server) receiptQR(ctx context.Context, r *request, c *store.Change) *reply {
	origin, seq, hash, err := s.publication.Leaf(ctx, c)
	if err != nil {
		return s.logProblem(r, err)
	}
	text := fmt.Sprintf("%s %d %x", origin, seq, hash)
	code, err := qrcode.SVG(text, text)
	if err != nil {
		return s.failure(r, err)
	}
	p := newReply(http.StatusOK)
	p.add("Cache-Control", "no-cache")
	return s.represent(r, p, "image/svg+xml", []byte(code))
}

// readReceiptFormat reports whether the query of a receipt asks for the QR code. Any other format
// is an error.
func readReceiptFormat(target, q string) (qr bool, err error) {
	for part := range strings.SplitSeq(q, "&") {
		keyword, value, _ := strings.Cut(part, "=")
		switch {
		case keyword != keywordFormat:
		case value != formatQR || qr:
			return false, &nomen.Error{
				Kind: nomen.Malformed, Name: target, Offset: strings.LastIndex(target, value), Rule: keywordFormat,
				Message: "must be qr, or absent for the receipt itself",
			}
		default:
			qr = true
		}
	}
	return qr, nil
}

// fileName returns the key of a name as part of a file name: other characters than letters, digits,
// hyphens and full stops become hyphens.
func fileName(key string) string {
	const limit = 80
	b := []byte(key[:min(len(key), limit)])
	for i, c := range b {
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '.') {
			b[i] = '-'
		}
	}
	return strings.Trim(string(b), ".-")
}

func (s *Server) receiptOf(r *request, a parsedTarget, ans *nomen.Answer) string {
	if s.publication == nil || a.elsewhere || ans.Name.IsZero() || ans.Modified.IsZero() || ans.Service != nomen.I2C && ans.Service != nomen.I2Cs {
		return ""
	}
	url := s.root(r) + strings.TrimSuffix(proofPath, "/") + format.NamePath(ans.Name.Key())
	if !a.query.at.IsZero() {
		url += "?at=" + ans.Modified.UTC().Format(time.RFC3339Nano)
	}
	return url
}
