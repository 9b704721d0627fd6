// Package chart draws charts for web pages. A chart shows lines, bars, or the states of a record
// over time. It consists of an SVG image, and a table with the same data below it.
//
// A strict content security policy permits the charts, because they have no scripts and no style
// attributes, and load nothing. Series differ in shape or pattern, and not only in colour. The
// colours are in [CSS], for light and dark pages. The caller provides all words, numbers and times
// in the language of the page. Labels need not be trusted.
package chart

import (
	_ "embed" // for chart.css and the template
	"fmt"
	"html/template"
	"strings"
	"sync"

	"github.com/nomen-project/nomen/internal/shown"
)

// CSS is the style sheet of the charts, to be added to the style sheet of the page.
//
//go:embed chart.css
var CSS string

//go:embed chart.html
var page string

var templates = sync.OnceValues(func() (*template.Template, error) {
	return template.New("chart").Funcs(template.FuncMap{"line": shown.Inline}).Parse(page)
})

// The limits on a chart.
const (
	MaxSeries = 6   // series or states, limited by the number of patterns
	MaxPoints = 400 // categories or events; a year has up to 366 days
)

// Words are the texts around a chart.
type Words struct {
	ID          string // ID of the chart, unique in the page; ASCII letters, digits and "-"
	Title       string
	Description string // description of the chart, for readers who cannot see it
	Table       string // label of the control that opens the table, such as "Data as a table"
	Empty       string // text to show if there is no data
}

// check returns an error if the ID is invalid, or if there are too many points or series.
func (w *Words) check(points, series int) error {
	isID := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '-'
	}
	switch {
	case w.ID == "" || strings.ContainsFunc(w.ID, func(r rune) bool { return !isID(r) }):
		return fmt.Errorf("chart: invalid ID %q: must have ASCII letters, digits and - only", w.ID)
	case points > MaxPoints:
		return fmt.Errorf("chart %s: %d points: must be at most %d", w.ID, points, MaxPoints)
	case series > MaxSeries:
		return fmt.Errorf("chart %s: %d series: must be at most %d", w.ID, series, MaxSeries)
	}
	return nil
}

// A table has the data of a chart as text.
type table struct {
	Headings []string
	Rows     []row
}

type row struct {
	Label   string
	Machine string // time of an event, for programs
	Cells   []string
}

// render returns a chart as HTML. A drawing with the height 0 means that there is no data.
func render(w Words, d *drawing, t table) (template.HTML, error) {
	templates, err := templates()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = templates.Execute(&b, struct {
		Words
		Picture *drawing
		Data    table
	}{w, d, t})
	return template.HTML(b.String()), err
}
