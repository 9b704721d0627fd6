package chart_test

import (
	"fmt"
	"html/template"
	"strings"
	"time"

	"github.com/nomen-project/nomen/internal/chart"
)

// show runs the template of a page and prints how many of some elements the page has.
func show(html template.HTML, err error, elements ...string) {
	if err != nil {
		panic(err)
	}
	var page strings.Builder
	if err := template.Must(template.New("").Parse(`<h2>Numbers</h2>{{.}}`)).Execute(&page, html); err != nil {
		panic(err)
	}
	for _, e := range elements {
		fmt.Println(e, strings.Count(page.String(), "<"+e))
	}
}

// A page shows the lookups of the last days.
func ExampleData_Line() {
	html, err := chart.Data{
		Words: chart.Words{
			ID: "lookups", Title: "Lookups by day",
			Description: "Two lines over three days. The table below has the numbers.",
			Table:       "Data as a table", Empty: "No lookups yet.",
		},
		Category:   "Day",
		Categories: []string{"2026-11-21", "2026-11-22", "2026-11-23"},
		Series:     []chart.Series{{Label: "found", Values: []uint64{120, 80, 200}}, {Label: "failed", Values: []uint64{3, 0, 12}}},
	}.Line()
	show(html, err, "path class=\"line", "td")
	// Output:
	// path class="line 4
	// td 6
}

// A page shows the names of each prefix by state.
func ExampleData_Bars() {
	html, err := chart.Data{
		Words: chart.Words{
			ID: "names", Title: "Names by prefix and state",
			Description: "A bar for each of two prefixes. The table below has the numbers.",
			Table:       "Data as a table", Empty: "No names yet.",
		},
		Category:   "Prefix",
		Categories: []string{"urn:dns:example.org", "ark:12345/"},
		Series:     []chart.Series{{Label: "active", Values: []uint64{900, 20}}, {Label: "reserved", Values: []uint64{10, 0}}, {Label: "retired", Values: []uint64{90, 5}}},
	}.Bars()
	show(html, err, "pattern", "tr")
	// Output:
	// pattern 3
	// tr 3
}

// The page of a name shows when it was active.
func ExampleTimeline_Draw() {
	day := func(n int) time.Time { return time.Date(2026, 11, n, 12, 0, 0, 0, time.UTC) }
	html, err := chart.Timeline{
		Words: chart.Words{
			ID: "history", Title: "History of urn:dns:example.org:one",
			Description: "Reserved on 1 November, active since 2 November, retired since 20 November 2026.",
			Table:       "History as a table", Empty: "No changes.",
		},
		When: "Date", State: "State", What: "Change",
		States: []string{"active", "reserved", "retired"},
		Events: []chart.Event{{Time: day(1), State: 1, What: "reserved"}, {Time: day(2), State: 0, What: "location added"}, {Time: day(20), State: 2, What: "withdrawn"}},
		Until:  day(23),
	}.Draw()
	show(html, err, "time datetime=\"2026-11-20T12:00:00Z\">2026-11-20</time", "path class=\"rule")
	// Output:
	// time datetime="2026-11-20T12:00:00Z">2026-11-20</time 1
	// path class="rule 3
}
