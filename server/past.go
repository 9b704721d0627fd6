package server

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/format"
	"github.com/nomen-project/nomen/store"
)

const shownRevisions = 20

// onPage returns the formats with the links of the page that shows the answer. HTML also gets the
// history of the name.
func (s *Server) onPage(ctx context.Context, r *request, a parsedTarget, ans *nomen.Answer, offers []format.Format) []format.Format {
	page := s.pageOf(r, a, ans)
	for i, f := range offers {
		if offers[i] = f.On(page); f.MediaType == format.TypeHTML {
			offers[i].Write = func(w io.Writer, ans *nomen.Answer) error { return s.writePage(ctx, w, r, a, ans, f, page) }
		}
	}
	return offers
}

// writePage writes an answer as a page for people, with the history and the QR code of the name.
func (s *Server) writePage(ctx context.Context, w io.Writer, r *request, a parsedTarget, ans *nomen.Answer, html format.Format, page format.Page) (err error) {
	page.Site = s.sitePage(r)
	if a.negotiable() {
		if page.Past, err = s.past(ctx, s.root(r), a, ans); err != nil {
			return err
		}
		page.QR = qrOf(page, ans)
		page.Receipt = s.receiptOf(r, a, ans)
	}
	return html.On(page).Write(w, ans)
}

func (s *Server) past(ctx context.Context, root string, a parsedTarget, ans *nomen.Answer) (format.Past, error) {
	past := format.Past{}
	key := ans.Name.Key()
	if !a.query.at.IsZero() {
		past.At, past.Present = ans.Modified, root+a.originalOf(key)
	}
	retired := ans.Status == nomen.Retired
	for r, err := range s.revisions(ctx, a) {
		switch {
		case errors.Is(err, errors.ErrUnsupported):
			return past, nil
		case err != nil:
			return past, err
		}
		past.Form = root + format.NamePath(key)
		if of := r.change; !of.Time.After(ans.Modified) && retired {
			if retired = of.Record.Status == nomen.Retired; retired {
				past.Retired = of.Time
			}
		}
		past.Revisions = append(past.Revisions, format.Revision{
			Number: r.change.Revision(), Time: r.change.Time, Status: r.change.Record.Status,
			Fields: changedFields(r.before, r.change),
			Target: withDirectives(root+format.NamePath(key), a.directives(r.change.Time)),
		})
		if r.before != nil && len(past.Revisions) == shownRevisions {
			past.All = root + timeMapOf(key)
			if retired {
				past.Retired = time.Time{}
			}
			return past, nil
		}
	}
	return past, nil
}

func changedFields(before, after *store.Change) []string {
	if before == nil {
		return nil
	}
	var all []string
	for _, d := range adminapi.Differences(before.Record, after.Record) {
		field := strings.ReplaceAll(strings.TrimPrefix(d.Field, "metadata."), "_", " ")
		if !slices.Contains(all, field) {
			all = append(all, field)
		}
	}
	return all
}
