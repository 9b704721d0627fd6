package pages

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/server/servertest"
	"github.com/nomen-project/nomen/store"
)

// rows parses the CSV file of a response.
func (a *answer) rows() [][]string {
	a.t.Helper()
	a.wantFile()
	rows, err := csv.NewReader(a.Body).ReadAll()
	if err != nil {
		a.t.Fatal(err)
	}
	return rows
}

func TestStatisticsPage(t *testing.T) {
	s := newSite(t)
	s.addUser("u-01234567", "Ada Lovelace")
	s.addMany("urn:dns:example.org:m", 3, "u-01234567")
	a := s.get("statistics")
	a.want(200, "Counted at", "Changes on each day (UTC)", "Ada Lovelace", "urn:dns:example.org", "Data as a table", "They are in the metrics of the server")
	if got := len(a.elements("svg")); got != 2 {
		t.Errorf("%d charts", got)
	}
	day := servertest.Now.Format(time.DateOnly)
	rows := s.get("statistics/changes.csv").rows()
	if d := cmp.Diff([]string{"day", "created", "changed", "retired", "other"}, rows[0]); d != "" || len(rows) != servertest.Now.Day()+1 {
		t.Errorf("%d rows: %s", len(rows), d)
	}
	if last := rows[len(rows)-1]; last[0] != day || last[1] != "3" {
		t.Errorf("got %q", last)
	}
	people := fmt.Sprint(s.get("statistics/people.csv").rows())
	if !strings.Contains(people, "[u-01234567 Ada Lovelace 3 0 0 1]") {
		t.Errorf("got %s", people)
	}
	s.get("statistics?month=2001-02").want(200, "Changes in 2001-02", "Earlier: 2001-01", "Later: 2001-03", "There is nothing to count")
	s.get("statistics?month=never").want(400)
	s.get("statistics/people.csv?month=never").want(400)
}

// The numbers of names by authority and status are those of the store.
func TestNamesFile(t *testing.T) {
	s := newSite(t)
	want := map[string]int{}
	for rec, err := range s.store.List(t.Context(), store.Scan{}) {
		if err != nil {
			t.Fatal(err)
		}
		want[string(rec.Status)]++
	}
	got := map[string]int{}
	for _, row := range s.get("statistics/names.csv").rows()[1:] {
		for i, status := range []string{"active", "reserved", "retired"} {
			var n int
			if _, err := fmt.Sscan(row[i+1], &n); err != nil {
				t.Fatal(err)
			}
			got[status] += n
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// People get the numbers of what they may read only.
func TestStatisticsRights(t *testing.T) {
	s := newSite(t)
	s.addMany("urn:dns:other.example:m", 4, "tok")
	for _, row := range s.as("other").get("statistics/names.csv").rows()[1:] {
		if row[0] != "urn:dns:other.example" {
			t.Errorf("got %q", row)
		}
	}
	s.as("reader").get("statistics").without("other.example")
	people := fmt.Sprint(s.as("reader").get("statistics/people.csv").rows())
	if strings.Contains(people, "tok") {
		t.Errorf("got %s", people)
	}
	for _, page := range []string{"statistics", "statistics/report", "statistics/report.csv", "statistics/changes.csv", "statistics/people.csv", "statistics/names.csv", "links"} {
		s.as("none").get(page).want(403)
		s.as("").get(page).wantSee(signInPath + "?next=" + url.QueryEscape(Root+page))
	}
	s.pages.condition = func() Condition {
		return Condition{Answers: []Answers{{Class: 2, Count: 12345}, {Class: 4, Count: 7}}, Started: servertest.Now}
	}
	s.get("statistics").want(200, "12,345", "since its start at 2026-11-20")
	s.as("reader").get("statistics").without("12,345")
}

func TestReport(t *testing.T) {
	s := newSite(t)
	s.addUser("u-01234567", "Ada Lovelace")
	s.addMany("urn:dns:example.org:m", 3, "u-01234567")
	created := 0
	for e, err := range s.store.Changes(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Change.Record != nil && e.Change.Revision() == 1 {
			created++
		}
	}
	month := servertest.Now.Format("2006-01")
	s.get("statistics/report").want(200, "Report for "+month, "From 2026-11-01 to 2026-11-30 (UTC)", fmt.Sprint("Names created ", created, " "), "Ada Lovelace", "urn:dns:example.org:alb03", "not counted by month")
	if rows := s.get("statistics/report.csv").rows(); len(rows) < 8 || strings.Join(rows[0], ",") != "part,item,number,regular,machine,bot,unknown,note" {
		t.Errorf("got %q", rows)
	}
	s.get("statistics/report?month=2001-02").want(200, "From 2001-02-01 to 2001-02-28", "Names created 0")
}

// The report says when what it shows was counted, once, and that a list is cut.
func TestReportSaysWhatItLeavesOut(t *testing.T) {
	s := newSite(t)
	a := s.get("statistics/report")
	a.want(200, "The changes were counted at 2026-11-20 12:00 UTC , and the names at 2026-11-20 12:00 UTC")
	a.without("Counted at", "most changes are listed here", "most frequent ones")
	var failed []string
	for i := range maxReport + 1 {
		failed = append(failed, fmt.Sprint("urn:dns:example.org:missing", i))
	}
	missSite(t, failed[1:]...).get("statistics/report").without("most frequent ones")
	missSite(t, failed...).get("statistics/report").want(200, "Only the 20 most frequent ones are listed here.")
	v := &statisticsView{}
	v.Changes.People, v.Changes.OtherPeople = make([]adminapi.PersonCount, 200), 7
	s.shows("statistics", v).want(200, "Only the 200 people and tokens", "7 others are not")
}

// Cells that spreadsheets would run are protected.
func TestTableIsProtected(t *testing.T) {
	s := newSite(t)
	s.addUser("u-evil0000", "=HYPERLINK(\"https://evil.example\")")
	s.addMany("urn:dns:example.org:m", 1, "u-evil0000")
	for _, row := range s.get("statistics/people.csv").rows() {
		if strings.HasPrefix(row[1], "=") {
			t.Errorf("got %q", row)
		}
	}
}

func TestLinks(t *testing.T) {
	s := newSite(t)
	s.change(alb, "x", func(r *store.Record) {
		r.Locations = []nomen.Location{
			{URL: "http://plain.example/1"}, {URL: "https://plain.example/2", Down: true}, {URL: "https://late.example/", ValidUntil: "2001-01-01T00:00:00Z"},
		}
	})
	a := s.get("links")
	a.want(200, "does not open the locations", "whose validity has ended: 1", "marked as unavailable: 1", "https://late.example/", "Valid until 2001-01-01T00:00:00Z", "plain.example 2 1")
	for _, scheme := range []string{"http", "https"} {
		link := Root + "names?q=" + scheme + "%3A%2F%2Fplain.example"
		if !slices.ContainsFunc(a.elements("a"), func(e *html.Node) bool { return attribute(e, "href") == link }) {
			t.Errorf("no link to %s", link)
		}
		s.get(strings.TrimPrefix(link, Root)).want(200, alb)
	}
	s.as("other").get("links").without("plain.example", "late.example")
}

// A host leads to a list only if the list has names: those of locations with https, also with a
// port or without a path.
func TestLinksLeadToNames(t *testing.T) {
	s := newSite(t)
	s.change(alb, "x", func(r *store.Record) {
		r.Locations = []nomen.Location{
			{URL: "http://plain.example/1"},
			{URL: "ftp://files.example/1"},
			{URL: "ftp://mixed.example/1"},
			{URL: "http://mixed.example/2"},
			{URL: "https://port.example:8443/1"},
			{URL: "https://bare.example"},
			{URL: "http://bare.example:8080"},
		}
	})
	var got []string
	for _, e := range s.get("links").elements("a") {
		if to, ok := strings.CutPrefix(attribute(e, "href"), Root+"names?q="); ok {
			got = append(got, to)
			s.get("names?q="+to).want(200, "Names with a location that begins with this URL")
		}
	}
	for _, want := range []string{"http%3A%2F%2Fplain.example", "http%3A%2F%2Fmixed.example", "https%3A%2F%2Fport.example", "https%3A%2F%2Fbare.example", "http%3A%2F%2Fbare.example"} {
		if !slices.Contains(got, want) {
			t.Errorf("no link to %s", want)
		}
	}
	for _, wrong := range []string{"https%3A%2F%2Fplain.example", "https%3A%2F%2Fmixed.example", "https%3A%2F%2Ffiles.example"} {
		if slices.Contains(got, wrong) {
			t.Errorf("a link to %s, which has no names", wrong)
		}
	}
}

// shows returns a page with a view.
func (s *site) shows(page string, v view) *answer {
	w := httptest.NewRecorder()
	c := s.pages.newRequest(w, httptest.NewRequest(http.MethodGet, Root, nil))
	c.session = &Session{Name: "Ms " + s.who, Actor: people()[s.who]}
	c.show(http.StatusOK, page, v)
	return &answer{w, s.t}
}

// While the server counts for the first time, the pages say so.
func TestCounting(t *testing.T) {
	s := newSite(t)
	w := &statisticsView{Names: adminapi.Statistics{Count: adminapi.Count{Counting: true, Done: 4000}}}
	w.NoLog = true
	s.shows("statistics", w).want(200, "The server is counting. It has read 4,000 entries so far.", "keeps no log of changes")
	w.Names.Counted = servertest.Now
	s.shows("statistics", w).want(200, "Counted at 2026-11-20 12:00 UTC . The server is counting again")
}
