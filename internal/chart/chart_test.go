package chart_test

import (
	"encoding/xml"
	"flag"
	"fmt"
	"html/template"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/internal/chart"
	"github.com/nomen-project/nomen/internal/shown"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestGolden compares all samples with what people have looked at in a browser
// (TestClientCharts).
func TestGolden(t *testing.T) {
	for name, html := range samples(t) {
		if strings.HasPrefix(name, "x-") { // 8 kB texts: see TestHostile
			continue
		}
		file := filepath.Join("testdata", name+".html")
		if *update {
			if err := os.WriteFile(file, []byte(html), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if want, err := os.ReadFile(file); err != nil || string(html) != string(want) {
			t.Errorf("%s: %v: got\n%s", file, err, html)
		}
	}
}

// A figure is what the tests read of a chart.
type figure struct {
	Caption string `xml:"figcaption"`
	Empty   string `xml:"p"`
	SVG     struct {
		Role    string  `xml:"role,attr"`
		Names   string  `xml:"labelledby,attr"`
		ViewBox string  `xml:"viewBox,attr"`
		Title   element `xml:"title"`
		Desc    element `xml:"desc"`
		Areas   []struct {
			X      int    `xml:"x,attr"`
			Y      int    `xml:"y,attr"`
			Width  int    `xml:"width,attr"`
			Height int    `xml:"height,attr"`
			Fill   string `xml:"fill,attr"`
		} `xml:"rect"`
		Patterns []element `xml:"defs>pattern"`
		Paths    []struct {
			Class string `xml:"class,attr"`
			D     string `xml:"d,attr"`
		} `xml:"path"`
		Texts []string `xml:"text"`
	} `xml:"svg"`
	Summary  string   `xml:"details>summary"`
	Headings []string `xml:"details>table>thead>tr>th"`
	Rows     []struct {
		Label string   `xml:"th>bdi"`
		Cells []string `xml:"td>bdi"`
	} `xml:"details>table>tbody>tr"`
}

type element struct {
	ID   string `xml:"id,attr"`
	Text string `xml:",chardata"`
}

func read(t *testing.T, html template.HTML, err error) (f figure) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if err := xml.Unmarshal([]byte(strings.ReplaceAll(string(html), "aria-", "")), &f); err != nil {
		t.Fatalf("%v\n%s", err, html)
	}
	return f
}

// lines returns the points of the lines of a figure, without the legend.
func lines(t *testing.T, f figure) (all [][][2]int) {
	t.Helper()
	for _, p := range f.SVG.Paths {
		if !strings.HasPrefix(p.Class, "line ") || strings.Contains(p.D, "H") {
			continue
		}
		var points [][2]int
		for point := range strings.FieldsFuncSeq(p.D, func(r rune) bool { return r == 'M' || r == 'L' }) {
			var x, y int
			if _, err := fmt.Sscanf(point, "%d %d", &x, &y); err != nil {
				t.Fatalf("%q: %v", p.D, err)
			}
			points = append(points, [2]int{x, y})
		}
		all = append(all, points)
	}
	return all
}

// near reports whether two lengths are equal except for the rounding of their ends.
func near(got, want float64) bool { return math.Abs(got-want) <= 1 }

// The height of a point is proportional to its value, and points are evenly spaced.
func TestLinePositions(t *testing.T) {
	values := [][]uint64{{0, 100, 50, 25}, {400, 0, 1, 399}}
	html, err := data("a", values...).Line()
	f := read(t, html, err)
	all := lines(t, f)
	if len(all) != 2 || len(all[0]) != 4 || len(all[1]) != 4 {
		t.Fatalf("got the lines %v", all)
	}
	zero, top := float64(all[0][0][1]), float64(all[1][0][1])
	if zero-top < 300 {
		t.Errorf("400 is %v above 0", zero-top)
	}
	var rules []string
	for _, p := range f.SVG.Paths {
		if _, y, _ := strings.Cut(p.D, " "); p.Class == "rule" {
			rules = append(rules, strings.TrimSuffix(y, "H1600"))
		}
	}
	if got, want := fmt.Sprintln(len(rules), rules[0], rules[len(rules)-1]), fmt.Sprintln(5, zero, top); got != want { // 0, 100 to 400
		t.Errorf("number, first and last of the lines of the axis: %swant %s", got, want)
	}
	for i, points := range all {
		for j, p := range points {
			if want := zero - (zero-top)*float64(values[i][j])/400; !near(float64(p[1]), want) {
				t.Errorf("%d is at %d, want %v", values[i][j], p[1], want)
			}
			if want := float64(points[0][0]) + float64(points[3][0]-points[0][0])*float64(j)/3; !near(float64(p[0]), want) {
				t.Errorf("point %d is at %d, want %v", j, p[0], want)
			}
		}
	}
}

// The length of a segment is proportional to its value, less the space between segments, and
// segments have the patterns of their series.
func TestBarLengths(t *testing.T) {
	values := [][]uint64{{300, 0, 1}, {300, 600, 0}, {0, 400, 1_000}}
	html, err := data("a", values...).Bars()
	f := read(t, html, err)
	type segment struct{ y, length, series int }
	var got []segment
	for _, a := range f.SVG.Areas[3:] { // after the legend
		got = append(got, segment{a.Y, a.Width, slices.IndexFunc(f.SVG.Patterns, func(p element) bool { return "url(#"+p.ID+")" == a.Fill })})
	}
	if len(got) != 6 {
		t.Fatalf("got %d segments: %v", len(got), got)
	}
	full := float64(got[2].length+got[3].length) / 1000
	want := []struct {
		value  uint64
		series int
	}{{300, 0}, {300, 1}, {600, 1}, {400, 2}, {1, 0}, {1000, 2}}
	for i, w := range want {
		if length := full * float64(w.value); math.Abs(float64(got[i].length)-length) > 10 || got[i].series != w.series || got[i].length < 4 {
			t.Errorf("segment %d: got %v, want series %d and length %v", i, got[i], w.series, length)
		}
	}
	if got[0].y != got[1].y || got[1].y >= got[2].y || got[2].y != got[3].y || got[3].y >= got[4].y {
		t.Errorf("the segments are in other rows: %v", got)
	}
	for _, total := range []string{"600", "1000", "1001"} {
		if !slices.Contains(f.SVG.Texts, total) {
			t.Errorf("no text %s in %q", total, f.SVG.Texts)
		}
	}
}

// The band shows each state for as long as it lasted.
func TestTimelineLengths(t *testing.T) {
	l := history("a", 100, 0, 10, 40)
	slices.Reverse(l.Events) // any order will do
	html, err := l.Draw()
	f := read(t, html, err)
	areas := f.SVG.Areas[3:]
	if len(areas) != 3 {
		t.Fatalf("got %d areas", len(areas))
	}
	whole := float64(areas[2].X + areas[2].Width - areas[0].X)
	for i, want := range []struct {
		begin float64
		state string
	}{{0, "url(#a-p1)"}, {0.1, "url(#a-p0)"}, {0.4, "url(#a-p2)"}} {
		if a := areas[i]; math.Abs(float64(a.X)-want.begin*whole) > 4 || a.Fill != want.state {
			t.Errorf("state %d: got %+v, want %s at %v", i, a, want.state, want.begin*whole)
		}
	}
	if got, want := fmt.Sprint(f.SVG.Texts), "[active reserved retired 2026-02-27 2026-03-01 2026-03-03]"; got != want {
		t.Errorf("texts %s, want %s", got, want)
	}
}

// Every chart names and describes itself, and has its data as a table.
func TestAlternatives(t *testing.T) {
	html, err := data("a", []uint64{1, 2}, []uint64{30, 40}).Line()
	f := read(t, html, err)
	w := words("a")
	if f.SVG.Role != "img" || f.SVG.Names != f.SVG.Title.ID+" "+f.SVG.Desc.ID || f.SVG.Title.ID == f.SVG.Desc.ID ||
		f.SVG.Title.Text != w.Title || f.SVG.Desc.Text != w.Description || f.Caption != w.Title || f.Summary != w.Table {
		t.Errorf("got %+v", f)
	}
	if got, want := fmt.Sprint(f.Headings, f.Rows), "[Day active reserved] [{2026-01-01 [1 30]} {2026-01-02 [2 40]}]"; got != want {
		t.Errorf("table %s, want %s", got, want)
	}
	html, err = data("a", nil).Line()
	if f := read(t, html, err); f.Empty != w.Empty || f.SVG.Role != "" || f.Summary != "" {
		t.Errorf("no data: got %+v", f)
	}
}

// Labels are untrusted, and pictures and axes remain small.
func TestHostile(t *testing.T) {
	for name, html := range samples(t) {
		f := read(t, html, nil)
		if strings.ContainsFunc(string(html), shown.Odd) || strings.Contains(string(html), "<script") || strings.Contains(string(html), "style=") || strings.Contains(string(html), "ZgotmplZ") {
			t.Errorf("%s has odd characters, script, style or rejected values:\n%.2000s", name, html)
		}
		for _, text := range f.SVG.Texts {
			if n := shown.Columns(text); n > 47 {
				t.Errorf("%s: a text has %d columns", name, n)
			}
		}
		var w, h int
		if _, err := fmt.Sscanf(f.SVG.ViewBox, "0 0 %d %d", &w, &h); f.Empty == "" && (err != nil || w != 1600 || h > 5000) {
			t.Errorf("%s: viewBox %q", name, f.SVG.ViewBox)
		}
	}
	f := read(t, samples(t)["x-hostile-line"], nil)
	if want := shown.Inline(hostile()); f.SVG.Title.Text != want || f.Rows[0].Label != want || f.Headings[0] != want {
		t.Errorf("the text is not shown whole: %.200q", f.SVG.Title.Text)
	}
}

// A chart that is too large or contradicts itself is an error.
func TestErrors(t *testing.T) {
	line := func(d chart.Data) error { _, err := d.Line(); return err }
	bars := func(d chart.Data) error { _, err := d.Bars(); return err }
	draw := func(l chart.Timeline) error { _, err := l.Draw(); return err }
	if err := line(data("a", waves(6, chart.MaxPoints)...)); err != nil {
		t.Errorf("the largest chart: %v", err)
	}
	short := data("a", []uint64{1, 2})
	short.Series[0].Values = short.Series[0].Values[:1]
	none := data("a", []uint64{1})
	none.Series = nil
	many := data("a", waves(6, 1)...)
	many.Series = append(many.Series, many.Series[0])
	unknown := history("a", 1, 0)
	unknown.Events[0].State = 3
	for _, tt := range []struct {
		err  error
		want string
	}{
		{line(data("", []uint64{1})), `chart: invalid ID "": must have ASCII letters, digits and - only`},
		{bars(data("a b", []uint64{1})), `chart: invalid ID "a b": must have ASCII letters, digits and - only`},
		{draw(history("a\"", 1, 0)), `chart: invalid ID "a\"": must have ASCII letters, digits and - only`},
		{line(data("a", make([]uint64, 401))), "chart a: 401 points: must be at most 400"},
		{draw(history("a", 1, make([]int, 401)...)), "chart a: 401 points: must be at most 400"},
		{bars(many), "chart a: 7 series: must be at most 6"},
		{line(short), `chart a: 1 values of "active" for 2 categories`},
		{line(none), "chart a: 1 categories without a series"},
		{bars(data("a", []uint64{math.MaxUint64}, []uint64{1})), "chart a: the sum of a category is larger than 64 bits"},
		{draw(unknown), "chart a: an event has an unknown state"},
	} {
		if tt.err == nil || tt.err.Error() != tt.want {
			t.Errorf("got %v, want %s", tt.err, tt.want)
		}
	}
}
