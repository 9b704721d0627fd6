package chart_test

import (
	"fmt"
	"html/template"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen/internal/chart"
)

// words returns the words of a test.
func words(id string) chart.Words {
	return chart.Words{ID: id, Title: "A chart of names", Description: "What it shows.", Table: "Data as a table", Empty: "No data yet."}
}

// days returns the labels of n days.
func days(n int) (all []string) {
	first := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range n {
		all = append(all, first.AddDate(0, 0, i).Format(time.DateOnly))
	}
	return all
}

// series returns a series for each list of values, with at most the labels of the states.
func series(values ...[]uint64) (all []chart.Series) {
	for i, v := range values {
		all = append(all, chart.Series{Label: []string{"active", "reserved", "retired", "moved", "unchecked", "broken"}[i], Values: v})
	}
	return all
}

// data returns a chart of values by day.
func data(id string, values ...[]uint64) chart.Data {
	return chart.Data{Words: words(id), Category: "Day", Categories: days(len(values[0])), Series: series(values...)}
}

// waves returns n series of m values.
func waves(n, m int) (all [][]uint64) {
	for i := range n {
		values := make([]uint64, m)
		for j := range values {
			values[j] = uint64(100*(i+1) + (7*j+j*j*(i+1))%90)
		}
		all = append(all, values)
	}
	return all
}

// hostile is text that leaves its element, its line or its direction, if that is possible.
func hostile() string {
	return "</text></svg><script>alert(1)</script>\"'&\x00\u202e\ufffe\xff\n" + strings.Repeat("漢字 ", 2000)
}

func grouped(v uint64) string {
	s := fmt.Sprint(v)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// history returns a time line with an event at each number of hours.
func history(id string, until int, hours ...int) chart.Timeline {
	at := func(h int) time.Time { return time.Date(2026, 2, 27, h, 0, 0, 0, time.UTC) }
	l := chart.Timeline{
		Words: words(id), When: "Date", State: "State", What: "Change",
		States: []string{"active", "reserved", "retired"}, Until: at(until),
	}
	for i, h := range hours {
		l.Events = append(l.Events, chart.Event{Time: at(h), State: []int{1, 0, 2}[i%3], What: fmt.Sprintf("change %d", i+1)})
	}
	return l
}

// samples returns charts of ordinary and extreme data, by name.
func samples(t *testing.T) map[string]template.HTML {
	t.Helper()
	const huge = math.MaxUint64
	all := map[string]template.HTML{}
	add := func(name string, html template.HTML, err error) {
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all[name] = html
	}
	both := func(name string, d chart.Data) {
		d.ID = name + "-line"
		html, err := d.Line()
		add(d.ID, html, err)
		d.ID = name + "-bars"
		html, err = d.Bars()
		add(d.ID, html, err)
	}
	both("empty", data("", nil))
	both("zero", data("", []uint64{0, 0, 0}))
	both("one", data("", []uint64{1}))
	both("equal", data("", []uint64{7, 7, 7}))
	both("states", data("", []uint64{900, 20, 400}, []uint64{10, 0, 390}, []uint64{90, 5, 1}))
	d := data("", []uint64{0, 1, huge / 2, huge})
	d.Number = grouped
	both("huge", d)
	six := data("", waves(6, 12)...)
	both("six", six)
	html, err := data("year-line", waves(2, 366)...).Line()
	add("year-line", html, err)
	d = data("", []uint64{3, 1}, []uint64{1, 2})
	d.Title, d.Description, d.Table, d.Category, d.Series[0].Label = hostile(), hostile(), hostile(), hostile(), hostile()
	d.Categories[0], d.Number = hostile(), func(uint64) string { return hostile() }
	both("x-hostile", d)
	draw := func(name string, l chart.Timeline) {
		l.ID = name
		html, err := l.Draw()
		add(name, html, err)
	}
	draw("history-empty", history("", 1))
	draw("history-moment", history("", 0, 0))
	draw("history-states", history("", 24*40, 0, 30, 24*35))
	draw("history-busy", history("", 50, 0, 0, 0, 1, 2, 3, 4, 30, 31, 49))
	l := history("", 24*400, 0, 24*100)
	l.States[0], l.Events[0].What, l.Time = hostile(), hostile(), func(time.Time) string { return hostile() }
	draw("x-hostile-history", l)
	return all
}
