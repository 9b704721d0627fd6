package pages

import (
	"cmp"
	"html/template"
	"net/http"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/format"
	"github.com/nomen-project/nomen/internal/chart"
	"github.com/nomen-project/nomen/internal/location"
	"github.com/nomen-project/nomen/internal/qrcode"
	"github.com/nomen-project/nomen/store"
)

// giveHandlers returns the handlers of pages and files for readers of a name, such as QR codes.
func giveHandlers() handlers {
	return handlers{
		"GET name/{name}/qr.svg": (*request).qrDrawing,
		"GET name/{name}/qr.png": (*request).qrImage,
	}
}

// A gift is what users pass on to readers so that these find a name.
type gift struct {
	URL  string // URL at which readers find the name; "" if there is no such URL or if it is unknown
	Cite string // citation of the resource; "" if its record has no title
	QR   template.HTML
}

func (c *request) gift(rec *store.Record) (gift, error) {
	g := gift{URL: c.publicName(rec)}
	if g.URL == "" {
		return g, nil
	}
	g.Cite = format.Reference(rec.Metadata, g.URL)
	if !hasCode(g.URL) {
		return g, nil
	}
	var err error
	g.QR, err = qrcode.SVG(g.URL, c.texts.text("name.qr", rec.Spelling))
	return g, err
}

// hasCode reports whether pages show a QR code for a URL. The URL must be known and short enough.
func hasCode(url string) bool { return url != "" && len(url) <= qrcode.MaxReadable }

// publicName returns the URL at which readers find a name. It returns "" for a reserved name, which
// has no readers, or if the server does not know its own URL.
func (c *request) publicName(rec *store.Record) string {
	if rec.Status == nomen.Reserved {
		return ""
	}
	if location.IsLink(rec.Spelling) {
		return rec.Spelling
	}
	if c.publicURL == nil || c.publicURL() == "" {
		return ""
	}
	return strings.TrimSuffix(c.publicURL(), "/") + format.NamePath(rec.Spelling)
}

func (c *request) qrTarget() (*store.Record, string, error) {
	n, err := c.subject()
	if err != nil {
		return nil, "", err
	}
	rec, err := c.api.Get(c.ctx(), n)
	if err != nil {
		return nil, "", err
	}
	url := c.publicName(rec)
	if !hasCode(url) {
		return nil, "", &adminapi.StatusError{Status: http.StatusNotFound, Detail: "this name has no code: it is reserved or too long, or the server does not know its public URL"}
	}
	return rec, url, nil
}

func (c *request) qrDrawing() error {
	rec, url, err := c.qrTarget()
	if err != nil {
		return err
	}
	drawing, err := qrcode.SVG(url, rec.Spelling)
	if err != nil {
		return err
	}
	c.download("qr.svg", "image/svg+xml", []byte(drawing))
	return nil
}

func (c *request) qrImage() error {
	_, url, err := c.qrTarget()
	if err != nil {
		return err
	}
	image, err := qrcode.PNG(url)
	if err != nil {
		return err
	}
	c.download("qr.png", "image/png", image)
	return nil
}

// timeline draws the status of a name over time. The revisions in rows are sorted from newest to
// oldest. The parameter newest reports whether the first of them is the current revision.
func (c *request) timeline(rows []revisionRow, newest bool) (template.HTML, error) {
	l := chart.Timeline{
		Words: c.words("history"), When: c.texts.text("history.time"), State: c.texts.text("names.status"), What: c.texts.text("history.changed"),
		States: []string{
			c.texts.text("status.active"), c.texts.text("status.reserved"), c.texts.text("status.retired"),
			c.texts.text("history.gone"), c.texts.text("history.unknown"),
		},
	}
	l.Title, l.Description = c.texts.text("history.timeline"), c.texts.text("history.timeline-about")
	if newest {
		l.Until = c.now()
	}
	for _, r := range rows {
		state, what := c.stateOf(r)
		l.Events = append(l.Events, chart.Event{Time: r.Time, State: state, What: what})
	}
	return l.Draw()
}

// stateOf returns the state after a revision, as an index, and a description of the change.
func (c *request) stateOf(r revisionRow) (state int, what string) {
	switch {
	case r.Redacted:
		return 4, c.texts.text("history.redacted")
	case r.Record == nil:
		return 3, c.texts.text("history.deleted")
	case r.Record.Status == nomen.Reserved:
		state = 1
	case r.Record.Status == nomen.Retired:
		state = 2
	}
	return state, cmp.Or(strings.Join(r.Changed, ", "), r.Why)
}
