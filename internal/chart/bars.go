package chart

import (
	"fmt"
	"html/template"
	"math/bits"

	"github.com/nomen-project/nomen/internal/shown"
)

const (
	barHeight = 56
	space     = 6 // space between segments
	least     = 4 // least width of a segment that is not 0
)

// Bars draws a horizontal bar for each category, with a label above it and a value after it. The
// bar has a segment for each series, and the value is the sum of the segments.
func (d Data) Bars() (template.HTML, error) {
	if err := d.check(); err != nil {
		return "", err
	}
	totals, err := d.totals()
	if err != nil {
		return "", err
	}
	p := newDrawing(d.ID)
	if len(d.Categories) > 0 {
		p.usePatterns(len(d.Series))
		p.legend(d.labels(), false)
		const most = 28 // columns of a value
		top, widest := uint64(1), 0
		for _, v := range totals {
			top, widest = max(top, v), max(widest, shown.Columns(shown.Short(d.Number(v), most)))
		}
		longest := width - widest*charWidth - gap - len(d.Series)*(least+space)
		for i, c := range d.Categories {
			p.text(0, p.Height+fontSize, "start", c, width/charWidth)
			p.Height += lineHeight
			end := d.bar(p, i, top, longest)
			p.text(end+gap, p.Height+barHeight/2+fontSize/3, "start", d.Number(totals[i]), most)
			p.Height += barHeight + gap
		}
	}
	return render(d.Words, p, d.table())
}

// totals returns the sum of all series for each category.
func (d *Data) totals() ([]uint64, error) {
	totals := make([]uint64, len(d.Categories))
	for _, s := range d.Series {
		for i, v := range s.Values {
			var carry uint64
			if totals[i], carry = bits.Add64(totals[i], v, 0); carry > 0 {
				return nil, fmt.Errorf("chart %s: the sum of a category is larger than 64 bits", d.ID)
			}
		}
	}
	return totals, nil
}

// bar draws the segments of a category, and returns the position at which the last segment ends.
// Every segment with a value greater than 0 is visible.
func (d *Data) bar(p *drawing, category int, top uint64, longest int) (end int) {
	sum := uint64(0)
	for i, s := range d.Series {
		v := s.Values[category]
		if v == 0 {
			continue
		}
		from := end
		if end > 0 {
			from += space
		}
		sum += v
		end = max(scale(sum, top, longest), from+least)
		p.Areas = append(p.Areas, area{from, p.Height, end - from, barHeight, i})
	}
	return end
}
