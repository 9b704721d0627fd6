package chart

import (
	"fmt"

	"github.com/nomen-project/nomen/internal/shown"
)

// Sizes and distances. They are integers, so that the output is the same on every machine. A
// picture has the width of 47 digits, but is not wider than the text of the page.
const (
	width      = 1600
	fontSize   = 52
	charWidth  = 34 // width of a digit in a wide font such as Verdana
	lineHeight = 72
	gap        = 24 // distance between a label and what it describes
)

// A drawing has the shapes of a picture.
type drawing struct {
	ID       string // prefix of the IDs of patterns
	Width    int
	Height   int
	FontSize int
	Tile     int
	Patterns []pattern
	Rules    []string // path data
	Areas    []area
	Lines    []stroke
	Marks    []stroke
	Texts    []label
}

type area struct{ X, Y, W, H, Series int }

// A stroke is path data in the colour of a series.
type stroke struct {
	D      string
	Series int
}

// A label is text that begins at a point, ends there, or is centred on it.
type label struct {
	X, Y   int
	Anchor string
	Text   string
}

// A pattern fills the areas of a series.
type pattern struct {
	Series int
	Ink    string // path data to draw over the colour
}

// tile is the width and the height of a pattern.
const tile = 32

// inks returns the patterns, which are plain, diagonal, dots, vertical, horizontal, and diagonal in
// the other direction.
func inks() []string {
	return []string{"", "M0 32L32 0M-4 4L4-4M28 36L36 28", "M10 16h12", "M16 0v32", "M0 16h32", "M0 0L32 32M28-4L36 4M-4 28L4 36"}
}

// shapes returns the marks for points of a line, which are a circle, a square, a diamond, triangles
// and a cross.
func shapes() []string {
	return []string{"m-16 0a16 16 0 1 0 32 0a16 16 0 1 0-32 0z", "m-14-14h28v28h-28z", "m0-20l20 20l-20 20l-20-20z", "m0-18l20 34h-40z", "m0 18l20-34h-40z", "m-16-16l32 32m0-32l-32 32"}
}

func newDrawing(id string) *drawing {
	return &drawing{ID: id, Width: width, FontSize: fontSize, Tile: tile}
}

// text adds a label, shortened to the given number of columns. The anchor says whether the label
// begins at x, ends there, or is centred on it.
func (d *drawing) text(x, y int, anchor, text string, columns int) {
	d.Texts = append(d.Texts, label{x, y, anchor, shown.Short(text, columns)})
}

func (d *drawing) mark(x, y, series int) {
	d.Marks = append(d.Marks, stroke{fmt.Sprintf("M%d %d%s", x, y, shapes()[series]), series})
}

func (d *drawing) usePatterns(n int) {
	for i, ink := range inks()[:n] {
		d.Patterns = append(d.Patterns, pattern{i, ink})
	}
}

// legend adds a row for each label of areas or lines. If there is only one label, legend adds
// nothing.
func (d *drawing) legend(labels []string, isLine bool) {
	if len(labels) < 2 {
		return
	}
	for i, l := range labels {
		middle := d.Height + lineHeight/2
		if isLine {
			d.Lines = append(d.Lines, stroke{fmt.Sprintf("M0 %dH120", middle), i})
			d.mark(60, middle, i)
		} else {
			d.Areas = append(d.Areas, area{0, middle - 24, 120, 48, i})
		}
		d.text(120+gap, middle+fontSize/3, "start", l, (width-120-gap)/charWidth)
		d.Height += lineHeight
	}
	d.Height += gap
}
