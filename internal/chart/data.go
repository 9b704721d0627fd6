package chart

import (
	"fmt"
	"strconv"
)

// Data contains values for categories, such as days or prefixes.
type Data struct {
	Words
	Category   string // heading of the categories in the table, such as "Day"
	Categories []string
	Series     []Series
	Number     func(uint64) string // formats a value; nil means decimal digits
}

// A Series contains a value for each category.
type Series struct {
	Label  string
	Values []uint64
}

func (d *Data) check() error {
	if d.Number == nil {
		d.Number = func(v uint64) string { return strconv.FormatUint(v, 10) }
	}
	for _, s := range d.Series {
		if len(s.Values) != len(d.Categories) {
			return fmt.Errorf("chart %s: %d values of %q for %d categories", d.ID, len(s.Values), s.Label, len(d.Categories))
		}
	}
	if len(d.Categories) > 0 && len(d.Series) == 0 {
		return fmt.Errorf("chart %s: %d categories without a series", d.ID, len(d.Categories))
	}
	return d.Words.check(len(d.Categories), len(d.Series))
}

func (d *Data) labels() (labels []string) {
	for _, s := range d.Series {
		labels = append(labels, s.Label)
	}
	return labels
}

func (d *Data) max() (largest uint64) {
	for _, s := range d.Series {
		for _, v := range s.Values {
			largest = max(largest, v)
		}
	}
	return largest
}

func (d *Data) table() table {
	t := table{Headings: append([]string{d.Category}, d.labels()...)}
	for i, c := range d.Categories {
		r := row{Label: c}
		for _, s := range d.Series {
			r.Cells = append(r.Cells, d.Number(s.Values[i]))
		}
		t.Rows = append(t.Rows, r)
	}
	return t
}
