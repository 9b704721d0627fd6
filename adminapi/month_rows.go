package adminapi

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Rows returns the report as rows of a table, for a spreadsheet. The first row has the titles of
// the columns. The value in the column "part" is the kind of the row:
//
//	summary            a number for all names
//	day, service       resolutions on a day, or with a service
//	name               a name among the most resolved
//	failed lookup      a name that was not found, and the number of requests for it
//	dead link          a location that failed for at least two weeks
//	link to look at    a location whose server refuses programs, or that may show an error page
//	host               what changed at a host since the beginning of the month
func (m *MonthReport) Rows() [][]string {
	rows := [][]string{{"part", "item", "number", "regular", "machine", "bot", "unknown", "note"}}
	add := func(part, item, number, note string) {
		rows = append(rows, []string{part, item, number, "", "", "", "", note})
	}
	classes := func(part, item string, b ByClass, note string) {
		rows = append(rows, []string{part, item, decimal(b.Sum()), decimal(b.Regular), decimal(b.Machine), decimal(b.Bot), decimal(b.Unknown), note})
	}
	r := &m.Resolutions
	classes("summary", "resolutions", r.Total, "")
	classes("summary", "resolutions in the month before", m.Before, "")
	classes("summary", "requests for retired names", r.Gone, "")
	robots := "those of robots"
	if r.Failed.Bot > 0 {
		robots = fmt.Sprintf("the %d by robots", r.Failed.Bot)
	}
	classes("summary", "failed lookups", r.Failed, fmt.Sprintf("%.1f %% of all lookups, without %s", m.FailedShare, robots))
	if m.MissesRare > 0 {
		add("summary", "names requested once that resemble no other name", strconv.Itoa(m.MissesRare), "not listed")
	}
	add("summary", "names created", decimal(m.Changes.Created), "")
	add("summary", "names changed", decimal(m.Changes.Changed), "")
	add("summary", "names retired", decimal(m.Changes.Retired), "")
	if l := m.Links; l != nil {
		add("summary", "dead links", strconv.Itoa(len(l.Dead)), l.note())
		add("summary", "links to look at", strconv.Itoa(len(l.Look)), "")
		failing := ""
		if l.Failing > 0 {
			failing = "not dead yet"
		}
		add("summary", "links whose failures are being counted", strconv.Itoa(l.Failing), failing)
	}
	for _, p := range r.Periods {
		classes("day", p.Period, p.ByClass, "")
	}
	for _, s := range r.Services {
		note := ""
		if s.Service == "I2R" || s.Service == "I2Rs" {
			note = "the server delivered the resource: these are requests as COUNTER defines them"
		}
		classes("service", s.Service, s.ByClass, note)
	}
	for _, n := range r.Names {
		classes("name", n.Name, n.ByClass, "")
	}
	for i := range m.Misses {
		add("failed lookup", m.Misses[i].Name, decimal(m.Misses[i].Count), m.Misses[i].note())
	}
	if m.Links == nil {
		return rows
	}
	for i := range m.Links.Dead {
		rows = append(rows, m.Links.Dead[i].rows("dead link")...)
	}
	for i := range m.Links.Look {
		rows = append(rows, m.Links.Look[i].rows("link to look at")...)
	}
	for i := range m.Links.Hosts {
		add("host", m.Links.Hosts[i].Host, "", m.Links.Hosts[i].note())
	}
	return rows
}

func decimal(n uint64) string { return strconv.FormatUint(n, 10) }

// note returns a remark for the row of a miss.
func (m *MonthMiss) note() string {
	parts := []string{fmt.Sprintf("since %s, in %d of 12 months", m.First.Format(time.DateOnly), m.Seen)}
	if m.Bots > 0 {
		parts = append(parts, fmt.Sprintf("%d by robots", m.Bots))
	}
	if len(m.Suggestions) > 0 {
		parts = append(parts, "perhaps meant: "+strings.Join(m.Suggestions, " "))
	}
	return strings.Join(parts, "; ")
}

// note returns the reasons for which the numbers are incomplete.
func (l *MonthLinks) note() string {
	switch {
	case l.Other:
		return "another server with the same database checks the links"
	case l.Reading:
		return "the server is still reading the names"
	case l.More:
		return "only the first ones are listed"
	}
	return ""
}

// rows returns one row for each name with this location, or a single row if there are no names.
func (l *Link) rows(part string) (rows [][]string) {
	status := l.Outcome
	if l.Status != 0 {
		status = "status " + strconv.Itoa(l.Status)
	}
	note := l.URL + " " + status
	if !l.Since.IsZero() {
		note += " since " + l.Since.Format(time.DateOnly)
	}
	if part != "dead link" {
		note += " (" + l.Verdict + ")"
	}
	for _, n := range l.Names {
		rows = append(rows, []string{part, n, "", "", "", "", "", note})
	}
	return rows
}

func (h *LinkHostChange) note() string {
	var parts []string
	if h.Failing {
		parts = append(parts, "fails as a whole")
	}
	if h.Back {
		parts = append(parts, "answers again")
	}
	if h.Dead > 0 {
		parts = append(parts, fmt.Sprintf("newly dead: %d", h.Dead))
	}
	if h.Recovered > 0 {
		parts = append(parts, fmt.Sprintf("answering again: %d", h.Recovered))
	}
	return strings.Join(parts, "; ")
}

const maxTextRows = 20

// Text returns the report as text, for a mail. It is shorter than [MonthReport.Rows].
func (m *MonthReport) Text() string {
	var b strings.Builder
	part, listed, of := "", 0, ""
	if m.Prefix != "" {
		of = " for " + m.Prefix
	}
	fmt.Fprintf(&b, "Report%s, %s\n", of, m.Month)
	if m.Resolutions.Disabled {
		b.WriteString("\nThis server does not count resolutions.\n")
	}
	for _, row := range m.Rows()[1:] {
		if row[0] == "day" || row[0] == "service" {
			continue
		}
		if row[0] != part {
			part, listed = row[0], 0
			b.WriteString("\n" + map[string]string{
				"summary": "Summary", "name": "Most resolved names", "failed lookup": "Names that were not found", "dead link": "Dead links",
				"link to look at": "Links to look at", "host": "Hosts",
			}[part] + "\n")
		}
		if listed++; listed > maxTextRows {
			if listed == maxTextRows+1 {
				b.WriteString("  (more in the CSV file)\n")
			}
			continue
		}
		line := "  " + row[1]
		if row[2] != "" {
			line += ": " + row[2]
		}
		if row[7] != "" {
			line += " (" + row[7] + ")"
		}
		b.WriteString(line + "\n")
	}
	b.WriteString("\nA resolution is a request that the resolver answered. These are not the requests of COUNTER.\n")
	return b.String()
}
