package pages

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/bulk"
	"github.com/nomen-project/nomen/internal/chart"
	"github.com/nomen-project/nomen/misses"
	"github.com/nomen-project/nomen/registrar"
)

const statisticsPath = Root + "statistics"

func statisticsHandlers() handlers {
	return handlers{
		"GET statistics":                 (*request).statistics,
		"GET statistics/report":          (*request).report,
		"GET statistics/report.csv":      (*request).reportFile,
		"GET statistics/changes.csv":     (*request).changesFile,
		"GET statistics/resolutions.csv": (*request).resolutionsFile,
		"GET statistics/people.csv":      (*request).peopleFile,
		"GET statistics/names.csv":       (*request).namesFile,
		"GET links":                      (*request).links,
		"GET links/copy":                 (*request).copies,
		"POST links/copy":                (*request).acceptCopy,
	}
}

// Limits of the pages with statistics.
const (
	maxBars   = 30 // maximum number of authorities in a chart
	maxReport = 20 // maximum number of failed lookups in a report
	maxLinks  = 50 // maximum number of locations, and of hosts, in the list of links
)

type statisticsView struct {
	frame
	monthView
	Names      adminapi.Statistics
	NamesChart template.HTML
	CutBars    bool // the chart leaves out some authorities
	Answers    []Answers
	Started    time.Time // start of the count of Answers

	Resolutions *resolutionsView
}

type monthView struct {
	Month          string // such as 2026-11
	Earlier, Later string // previous and next month; Later is "" on the page of the current month
	From, To       time.Time
	Changes        adminapi.Activity
	Sum            adminapi.Changes
	NoLog          bool
	ChangesChart   template.HTML
}

func (c *request) statistics() error {
	v := &statisticsView{}
	v.Title, v.Section = c.texts.text("statistics.title"), "statistics"
	err := c.month(&v.monthView)
	if err == nil {
		v.Names, err = c.api.Statistics(c.ctx(), c.r.Form.Get("fresh") != "")
	}
	if err == nil {
		v.ChangesChart, err = c.changesChart(&v.Changes)
	}
	if err == nil {
		v.NamesChart, v.CutBars, err = c.namesChart(v.Names.Names)
	}
	if err != nil {
		return err
	}
	if v.Resolutions, err = c.resolutionsOf(v.Month); err != nil {
		return err
	}
	if c.condition != nil && c.session.Actor.MayAll(registrar.Reader) {
		is := c.condition()
		v.Answers, v.Started = is.Answers, is.Started
	}
	c.show(http.StatusOK, "statistics", v)
	return nil
}

// month requests the changes of the month in the request, or of the current month if there is no
// month in the request.
func (c *request) month(v *monthView) error {
	now := c.now().UTC()
	v.Month = cmp.Or(c.r.Form.Get("month"), now.Format(adminapi.MonthLayout))
	var err error
	v.Changes, err = c.api.Activity(c.ctx(), v.Month)
	if v.NoLog = isUnsupported(err); v.NoLog {
		err = nil
	}
	if err != nil {
		return err
	}
	if v.From, err = time.Parse(adminapi.MonthLayout, v.Month); err != nil {
		return err
	}
	v.To = v.From.AddDate(0, 1, -1)
	v.Earlier = v.From.AddDate(0, -1, 0).Format(adminapi.MonthLayout)
	if later := v.From.AddDate(0, 1, 0); !later.After(now) {
		v.Later = later.Format(adminapi.MonthLayout)
	}
	for _, d := range v.Changes.Days {
		v.Sum.Created += d.Created
		v.Sum.Changed += d.Changed
		v.Sum.Retired += d.Retired
		v.Sum.Other += d.Other
	}
	return nil
}

func (c *request) number(n uint64) string { return c.texts.Number(n) }

func (c *request) changesChart(a *adminapi.Activity) (template.HTML, error) {
	d := chart.Data{Words: c.words("changes"), Category: c.texts.text("statistics.day"), Number: c.number, Series: make([]chart.Series, 4)}
	d.Title, d.Description = c.texts.text("statistics.changes-chart"), c.texts.text("statistics.changes-about")
	d.Series[0].Label = c.texts.text("statistics.created")
	d.Series[1].Label = c.texts.text("statistics.changed")
	d.Series[2].Label = c.texts.text("statistics.retired")
	d.Series[3].Label = c.texts.text("statistics.other")
	for _, day := range a.Days {
		d.Categories = append(d.Categories, day.Day)
		for i, n := range []uint64{day.Created, day.Changed, day.Retired, day.Other} {
			d.Series[i].Values = append(d.Series[i].Values, n)
		}
	}
	return d.Line()
}

func (c *request) words(id string) chart.Words {
	return chart.Words{ID: "chart-" + id, Table: c.texts.text("statistics.table"), Empty: c.texts.text("statistics.empty")}
}

// namesChart draws the names of the largest authorities by status. It reports whether the chart
// leaves out authorities.
func (c *request) namesChart(all []adminapi.NameCount) (template.HTML, bool, error) {
	d := chart.Data{Words: c.words("names"), Category: c.texts.text("dashboard.prefix"), Number: c.number, Series: make([]chart.Series, 3)}
	d.Title, d.Description = c.texts.text("statistics.names-chart"), c.texts.text("statistics.names-about")
	d.Series[0].Label = c.texts.text("status.active")
	d.Series[1].Label = c.texts.text("status.reserved")
	d.Series[2].Label = c.texts.text("status.retired")
	largest := slices.SortedStableFunc(slices.Values(all), func(a, b adminapi.NameCount) int {
		return cmp.Compare(b.Active+b.Reserved+b.Retired, a.Active+a.Reserved+a.Retired)
	})
	for _, n := range largest[:min(len(largest), maxBars)] {
		d.Categories = append(d.Categories, cmp.Or(n.Prefix, c.texts.text("statistics.no-authority")))
		for i, value := range []uint64{n.Active, n.Reserved, n.Retired} {
			d.Series[i].Values = append(d.Series[i].Values, value)
		}
	}
	drawing, err := d.Bars()
	return drawing, len(largest) > maxBars, err
}

type reportView struct {
	frame
	monthView
	Names  adminapi.Statistics
	Total  adminapi.NameCount
	Misses []misses.Miss
	Cut    bool      // there are more failed lookups
	Since  time.Time // start of the count of failed lookups
	Asked  uint64
	Now    time.Time

	Resolutions *resolutionsView
	Dead        []adminapi.Link // at most maxReport
	DeadCount   int
	LookCount   int  // number of locations that are suspect or blocked, which a user should look at
	Checks      bool // the server checks links
}

func (c *request) report() error {
	v := &reportView{Now: c.now()}
	err := c.month(&v.monthView)
	if err == nil {
		v.Names, err = c.api.Statistics(c.ctx(), false)
	}
	if err == nil {
		v.Resolutions, err = c.resolutionsOf(v.Month)
	}
	if err != nil {
		return err
	}
	v.Title, v.Section = c.texts.text("report.title", v.Month), "statistics"
	for _, n := range v.Names.Names {
		v.Total.Active += n.Active
		v.Total.Reserved += n.Reserved
		v.Total.Retired += n.Retired
	}
	month, err := c.api.MonthReport(c.ctx(), "", v.Month)
	if err != nil && !isUnsupported(err) {
		return err
	}
	if l := month.Links; l != nil {
		v.Checks, v.DeadCount, v.LookCount, v.Dead = true, len(l.Dead), len(l.Look), l.Dead[:min(len(l.Dead), maxReport)]
	}
	failed, err := c.api.VisibleMisses(c.ctx(), "", 0)
	if err != nil {
		return err
	}
	list := slices.DeleteFunc(failed.Misses, misses.Miss.IsRare)
	v.Misses, v.Since, v.Asked = list[:min(len(list), maxReport)], failed.Since, failed.Asked
	v.Cut = len(list) > maxReport
	c.show(http.StatusOK, "report", v)
	return nil
}

// reportFile sends the report of a month as a table.
func (c *request) reportFile() error {
	v := &monthView{}
	if err := c.month(v); err != nil || v.Changes.Counted.IsZero() && !v.NoLog {
		return c.counting(err)
	}
	r, err := c.api.MonthReport(c.ctx(), strings.TrimSpace(c.r.Form.Get("prefix")), v.Month)
	if err != nil {
		return err
	}
	return c.table("report-"+v.Month+".csv", r.Rows())
}

// counting handles an error of a download. Before the first count has ended, it shows the page of
// statistics instead of an empty file. It returns all other errors.
func (c *request) counting(err error) error {
	if err == nil {
		c.see(statisticsPath + "?" + url.Values{"month": {c.r.Form.Get("month")}}.Encode())
	}
	return err
}

func (c *request) changesFile() error {
	v := &monthView{}
	if err := c.month(v); err != nil || v.Changes.Counted.IsZero() {
		return c.counting(err)
	}
	rows := [][]string{{"day", "created", "changed", "retired", "other"}}
	for _, d := range v.Changes.Days {
		rows = append(rows, append([]string{d.Day}, changeCells(d.Changes)...))
	}
	return c.table("changes-"+v.Changes.Month+".csv", rows)
}

func (c *request) peopleFile() error {
	v := &monthView{}
	if err := c.month(v); err != nil || v.Changes.Counted.IsZero() {
		return c.counting(err)
	}
	rows := [][]string{{"id", "name", "created", "changed", "retired", "other"}}
	for _, p := range v.Changes.People {
		rows = append(rows, append([]string{p.Who, p.WhoName}, changeCells(p.Changes)...))
	}
	return c.table("people-"+v.Changes.Month+".csv", rows)
}

func changeCells(n adminapi.Changes) []string {
	return []string{decimal(n.Created), decimal(n.Changed), decimal(n.Retired), decimal(n.Other)}
}

func decimal(n uint64) string { return strconv.FormatUint(n, 10) }

func (c *request) namesFile() error {
	all, err := c.api.Statistics(c.ctx(), false)
	if err != nil || all.Counted.IsZero() {
		return c.counting(err)
	}
	rows := [][]string{{"prefix", "active", "reserved", "retired"}}
	for _, n := range all.Names {
		rows = append(rows, []string{n.Prefix, decimal(n.Active), decimal(n.Reserved), decimal(n.Retired)})
	}
	return c.table("names.csv", rows)
}

func (c *request) table(file string, rows [][]string) error {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	for _, row := range rows {
		for i, cell := range row {
			row[i] = bulk.Mark(cell)
		}
		_ = w.Write(row) // writing to a buffer does not fail
	}
	w.Flush()
	c.download(file, "text/csv; charset=utf-8", b.Bytes())
	return nil
}

type linksView struct {
	frame
	Statistics adminapi.Statistics
	Hosts      []hostRow
	Past, Down int64

	Checks   bool // the server checks the locations
	Status   adminapi.LinkStatus
	Verdict  string // verdict of the locations in Checked
	Heading  string
	Verdicts []verdictRow
	Checked  adminapi.Links
	Rows     []linkRow
}

type verdictRow struct {
	Verdict string
	Text    string
	Counted bool // the user may see the number of locations
	Count   int64
}

// Next returns the URL of the next page of the list of locations.
func (v *linksView) Next() string {
	return Root + "links?" + url.Values{"verdict": {v.Verdict}, "after": {v.Checked.Next}}.Encode()
}

type hostRow struct{ adminapi.HostCount }

// Find returns the URL of a list of the names with https locations at the host. It returns "" if
// the host has no such locations.
func (h hostRow) Find() string {
	if h.HTTPS == 0 {
		return ""
	}
	return h.find("https")
}

// Plain is like Find for http locations.
func (h hostRow) Plain() string { return h.find("http") }

func (h hostRow) find(scheme string) string {
	return Root + "names?" + url.Values{"q": {scheme + "://" + h.Host}}.Encode()
}

func (v *linksView) list() {
	is := &v.Statistics
	is.Faults = is.Faults[:fitting(is.Faults, maxLinks, func(f adminapi.LocationFault) int { return len(namePath(f.Name)) })]
	for i, h := range is.Hosts {
		if i < maxLinks {
			v.Hosts = append(v.Hosts, hostRow{h})
			continue
		}
		is.OtherHosts += h.Locations
	}
}

func listedVerdicts() []string { return []string{"dead", "failing", "suspect", "blocked", "ignored"} }

func (c *request) checkedLinks(v *linksView) (err error) {
	if v.Verdict = c.r.Form.Get("verdict"); !slices.Contains(listedVerdicts(), v.Verdict) {
		v.Verdict = listedVerdicts()[0]
	}
	v.Status, err = c.api.LinkStatus(c.ctx())
	if isKind(err, adminapi.KindNoLinks) {
		return nil
	} else if err != nil {
		return err
	}
	v.Checks = true
	for _, name := range listedVerdicts() {
		n, ok := v.Status.Counts[name]
		v.Verdicts = append(v.Verdicts, verdictRow{name, c.verdictText(name), ok, n})
	}
	v.Heading = c.verdictText(v.Verdict)
	v.Checked, err = c.api.Links(c.ctx(), v.Verdict, c.r.Form.Get("after"), maxLinks)
	v.linkRows(c)
	return err
}

func (c *request) verdictText(verdict string) string {
	switch verdict {
	case "failing":
		return c.texts.text("verdict.failing")
	case "suspect":
		return c.texts.text("verdict.suspect")
	case "blocked":
		return c.texts.text("verdict.blocked")
	case "ignored":
		return c.texts.text("verdict.ignored")
	}
	return c.texts.text("verdict.dead")
}

func isKind(err error, kind string) bool {
	var status *adminapi.StatusError
	return errors.As(err, &status) && status.Kind == kind
}

func (c *request) links() error {
	v := &linksView{}
	v.Title, v.Section = c.texts.text("links.title"), "links"
	var err error
	if v.Statistics, err = c.api.Statistics(c.ctx(), c.r.Form.Get("fresh") != ""); err != nil {
		return err
	}
	if err = c.checkedLinks(v); err != nil {
		return err
	}
	v.list()
	v.Past, v.Down = v.Statistics.FaultCount[adminapi.FaultPast], v.Statistics.FaultCount[adminapi.FaultDown]
	c.show(http.StatusOK, "links", v)
	return nil
}
