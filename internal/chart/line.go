package chart

import (
	"fmt"
	"html/template"
	"strings"

	"github.com/nomen-project/nomen/internal/shown"
)

const plotHeight = 640

const maxMarks = 20

// Line draws a line for each series, over categories in order, such as days.
func (d Data) Line() (template.HTML, error) {
	if err := d.check(); err != nil {
		return "", err
	}
	p := newDrawing(d.ID)
	if len(d.Categories) > 0 {
		p.legend(d.labels(), true)
		p.Height += lineHeight / 2 // half of the top label
		top := ticks(d.max())
		left := d.valueAxis(p, top)
		largest := max(top[len(top)-1], d.max())
		xs := positions(len(d.Categories), left+gap, width-gap)
		for i, s := range d.Series {
			p.line(i, xs, s.Values, largest)
		}
		p.Height += plotHeight + lineHeight
		p.categoryAxis(xs, d.Categories)
		p.Height += gap
	}
	return render(d.Words, p, d.table())
}

func (d *Data) valueAxis(p *drawing, ticks []uint64) (left int) {
	const most = 28 // columns of a value; the largest number has 26
	top := max(ticks[len(ticks)-1], d.max())
	widest := 0
	for _, v := range ticks {
		widest = max(widest, shown.Columns(shown.Short(d.Number(v), most)))
	}
	left = widest*charWidth + gap
	for _, v := range ticks {
		y := p.Height + plotHeight - scale(v, top, plotHeight)
		p.Rules = append(p.Rules, fmt.Sprintf("M%d %dH%d", left, y, width))
		p.text(left-gap, y+fontSize/3, "end", d.Number(v), most)
	}
	return left
}

// positions returns n evenly spaced positions, or the middle if n is 1.
func positions(n, from, to int) []int {
	if n == 1 {
		return []int{(from + to) / 2}
	}
	all := make([]int, n)
	for i := range all {
		all[i] = from + (to-from)*i/(n-1)
	}
	return all
}

func (p *drawing) line(series int, xs []int, values []uint64, top uint64) {
	var b strings.Builder
	every := (len(xs) + maxMarks - 1) / maxMarks
	for i, x := range xs {
		y := p.Height + plotHeight - scale(values[i], top, plotHeight)
		fmt.Fprintf(&b, "%c%d %d", "ML"[min(i, 1)], x, y)
		if i%every == 0 {
			p.mark(x, y, series)
		}
	}
	p.Lines = append(p.Lines, stroke{b.String(), series})
}

// categoryAxis writes as many labels of categories below the plot as fit.
func (p *drawing) categoryAxis(xs []int, labels []string) {
	const most = 16 // columns of a label
	widest := 0
	for _, l := range labels {
		widest = max(widest, shown.Columns(shown.Short(l, most))*charWidth)
	}
	fit := max(1, (xs[len(xs)-1]-xs[0])/(widest*3/2+gap)) // 1.5 times the width of a label, because the first label is on one side of its point
	every := (len(labels) + fit - 1) / fit
	for i := 0; i < len(labels); i += every {
		p.text(xs[i], p.Height, anchor(i, len(labels)), labels[i], most)
	}
}

// anchor returns how to align the label at position i of n, so that the label stays in the picture.
func anchor(i, n int) string {
	switch {
	case n == 1 || i > 0 && i < n-1:
		return "middle"
	case i == 0:
		return "start"
	}
	return "end"
}
