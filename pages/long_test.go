package pages

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/rule"
	"github.com/nomen-project/nomen/server/servertest"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
)

// longest is one of the names with the maximum length. Its URLs are three times as long, and its
// text five times.
func longest(i int) string {
	begin := fmt.Sprintf("urn:dns:example.org:%03d", i)
	return begin + strings.Repeat("&", name.MaxLength-len(begin))
}

// newLongSite returns a site with 150 names of the maximum length. The first has 1,000 revisions,
// and 100 failed lookups are of such names too.
func newLongSite(t *testing.T) *site {
	t.Helper()
	s := newSite(t)
	s.store = memstore.New()
	servertest.Fill(t, s.store)
	for i := range 150 {
		s.apply(store.Record{Spelling: longest(i), Status: nomen.Active, Locations: []nomen.Location{{URL: "https://example.org/" + longest(i), Down: true}}})
	}
	for i := range 999 {
		s.change(longest(0), strings.Repeat("<\"&", 300), func(r *store.Record) { r.Metadata = nomen.Metadata{"title": {strconv.Itoa(i)}} })
	}
	var failed []string
	for i := range 100 {
		failed = append(failed, longest(300+i))
	}
	return siteOf(t, s.store, failed...)
}

// Pages with the longest names keep to the limit of their size.
func TestLongNames(t *testing.T) {
	s, first := newLongSite(t), nameAt(longest(0))
	head, err := s.store.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{
		"", "names", "names?prefix=urn:dns:example.org:", "names?q=https://example.org/", "names?q=" + url.QueryEscape(longest(999)),
		"log", "log?prefix=urn:dns:example.org:0", first, first + "/history", first + "/history?before=500", first + "/redact", first + "/edit", first + "/retire", first + "/restore?to=1", first + "/diff?a=1&b=2",
		"misses", "misses/alias?name=" + url.QueryEscape(longest(300)), "links", "statistics", "statistics/report", "jobs", "retire?names=" + url.QueryEscape(longest(0)), "merge", "new?name=" + url.QueryEscape(longest(999)),
		fmt.Sprintf("mint/made?after=0&until=%d&who=u-admin", head.Size),
	} {
		a := s.get(path)
		if a.Code >= 500 || a.Body.Len() > maxPage {
			t.Errorf("%.60s %s: got %d and %d bytes, want at most %d", path, path[max(0, len(path)-20):], a.Code, a.Body.Len(), maxPage)
		}
	}
}

// The pages of the largest records keep to the limit of their size, and the whole record is a file.
func TestLargeRecords(t *testing.T) {
	many := func(n, size int, format string) (all []string) {
		for i := range n {
			all = append(all, fmt.Sprintf(format, i)+strings.Repeat("&", size))
		}
		return all
	}
	located := func(n, size int) (all []nomen.Location) {
		for _, url := range many(n, size, "https://example.org/%d?") {
			all = append(all, nomen.Location{URL: url, Type: "text/html", Note: strings.Repeat("<", min(size, 900))})
		}
		return all
	}
	typed := func(n, size int) (all []nomen.Value) {
		for i, data := range many(n, size, "%d") {
			all = append(all, nomen.Value{Index: i + 1, Type: strings.Repeat("<", min(size, 900)), Data: data, Permissions: "1100", Timestamp: "2026-11-22T13:00:00Z"})
		}
		return all
	}
	large := store.MaxText - 1000
	for what, rec := range map[string]store.Record{
		"locations":      {Locations: located(store.MaxLocations, 40)},
		"long locations": {Locations: located(15, large)},
		"values":         {Metadata: nomen.Metadata{"title": many(5000, 2, "%d"), "description": many(4000, 2, "%d")}},
		"long values":    {Metadata: nomen.Metadata{"title": many(15, large, "%d")}},
		"elements":       {Metadata: nomen.Metadata{strings.Repeat("&", large): {"x"}, "title": {"A title"}}},
		"identifiers":    {SameAs: many(9000, 50, "urn:x:%d")},
		"typed":          {Values: typed(store.MaxRecordValues, 20)},
		"long typed":     {Values: typed(15, large)},
		"all":            {Locations: located(20, 900), Metadata: nomen.Metadata{"title": many(20, 900, "%d")}, SameAs: many(20, 900, "urn:x:%d"), Values: typed(20, 900)},
	} {
		s := newSite(t)
		s.store = memstore.New()
		servertest.Fill(t, s.store)
		for _, spelling := range []string{"urn:dns:example.org:large", longest(1)} {
			now := rec
			now.Spelling, now.Status = spelling, nomen.Active
			s.apply(now)
			s.change(spelling, strings.Repeat("<", large), func(r *store.Record) { *r = store.Record{Name: r.Name, Spelling: r.Spelling, Status: nomen.Active} })
			s.change(spelling, "back", func(r *store.Record) { *r = now; r.Name = name.MustParse(spelling) })
		}
		s = siteOf(t, s.store)
		for _, n := range []string{nameAt("urn:dns:example.org:large"), nameAt(longest(1))} {
			for _, path := range []string{"", "?at=2026-11-30", "/history", "/diff?a=1&b=2", "/diff?a=2&b=3", "/restore?to=1", "/restore?undo=3"} {
				if strings.HasPrefix(path, "/restore") && (what == "values" || what == "locations") {
					continue // they have too many rows for a form
				}
				a := s.get(n + path)
				if a.Code != 200 || a.Body.Len() > maxPage {
					t.Errorf("%s: %.60s %s: got %d and %d bytes, want at most %d", what, n, path, a.Code, a.Body.Len(), maxPage)
				}
			}
			s.get(n).want(200, "for this page. The record as JSON has all. Record as JSON")
			var whole store.Record
			file := s.get(n + "/record.json")
			if err := json.Unmarshal(file.Body.Bytes(), &whole); err != nil || len(whole.Locations) != len(rec.Locations) || len(whole.Metadata["title"]) != len(rec.Metadata["title"]) || len(whole.SameAs) != len(rec.SameAs) || len(whole.Values) != len(rec.Values) {
				t.Errorf("%s: %v, %d bytes", what, err, file.Body.Len())
			}
		}
	}
}

// The page and the history of an authority with many rules keep to the limit of their size.
func TestLargeAuthority(t *testing.T) {
	s := newSite(t)
	var rules rule.Set
	for i := range 400 {
		to := fmt.Sprintf("https://example.org/%d?", i) + strings.Repeat("&", 100)
		rules = append(rules, rule.Rule{Match: fmt.Sprint("r", i), Locations: []nomen.Location{{URL: to}}, Tests: []rule.Test{{From: fmt.Sprint("urn:x-large:r", i), To: []string{to}}}})
	}
	a := &store.Authority{Prefix: name.MustParsePrefix("urn:x-large"), Description: strings.Repeat("<", 60_000), Policy: store.Policy{Rules: rules}}
	for range 3 {
		if _, err := s.store.Apply(t.Context(), []store.Change{{Authority: a, Expected: store.AnyRevision, Time: servertest.Now, Why: strings.Repeat("&", 60_000)}}); err != nil {
			t.Fatal(err)
		}
		a.Rules = a.Rules[1:]
	}
	s = siteOf(t, s.store)
	for _, path := range []string{"", "/history", "/restore?to=1"} {
		page := s.get(authorityPath("urn:x-large")[len(Root):] + path)
		if page.Code != 200 || page.Body.Len() > maxPage {
			t.Errorf("%s: got %d and %d bytes", path, page.Code, page.Body.Len())
		}
		if path == "" {
			page.want(200, "more rules and tests are not shown", "r2")
		}
	}
}

// A list of tokens has the first of many prefixes.
func TestManyPrefixes(t *testing.T) {
	var all []string
	for i := range 2000 {
		all = append(all, fmt.Sprintf("urn:dns:example.org:%d", i))
	}
	few := newFewPrefixes(all)
	if len(few.Shown) == 0 || len(few.Shown)+few.More != len(all) || htmlSize(few.Shown...) > maxShownScope {
		t.Errorf("%d shown, %d more", len(few.Shown), few.More)
	}
	if few := newFewPrefixes(all[:9]); few.More != 0 || !slices.Equal(few.Shown, all[:9]) {
		t.Errorf("got %+v", few)
	}
	if few := newFewPrefixes([]string{longest(1)}); len(few.Shown) != 1 || htmlSize(few.Shown...) > maxShownScope {
		t.Errorf("got %+v", few)
	}
}

// Although a page has few of the longest names, its successors have all the others.
func TestLongPages(t *testing.T) {
	s := newLongSite(t)
	for path, want := range map[string]int{
		"names?prefix=urn:dns:example.org:0": 100, "names?prefix=urn:dns:example.org:1": 50,
		"misses?rare=1": 100, "log?kind=name&prefix=urn:dns:example.org:1": 50, nameAt(longest(0)) + "/history?before=101": 100,
	} {
		rows := map[string]bool{}
		for next := path; next != ""; {
			a := s.get(next)
			next = ""
			for _, cell := range a.elements("th") {
				if link := cell.FirstChild; attribute(cell, "scope") == "row" && link.Data == "a" {
					rows[attribute(link, "href")+link.FirstChild.Data] = true
				}
			}
			for _, link := range a.elements("a") {
				if attribute(link, "rel") == "next" {
					next = strings.TrimPrefix(attribute(link, "href"), Root)
				}
			}
		}
		if len(rows) != want {
			t.Errorf("%.60s: got %d rows on all pages, want %d", path, len(rows), want)
		}
	}
}

// A redaction can reach all revisions, although the page lists the latest.
func TestRedactEarlier(t *testing.T) {
	s := newSite(t)
	for i := range 119 {
		s.change(alb, "loaded", func(r *store.Record) { r.Metadata = nomen.Metadata{"title": {strconv.Itoa(i)}} })
	}
	a := s.get(nameAt(alb) + "/redact")
	a.want(200, "Revisions before 70 (optional)", "119:", "70:")
	a.without("69:", "120:")
	form := fill(s.open(alb, "redact"), "revisions", "119", "earlier", "1-20, 22 69", "reason", "personal data", "typed", alb)
	for _, bad := range []string{"0", "1-70", "x", "5-3", "1-", "-3", "1-2-3", "18446744073709551615-18446744073709551615"} {
		wrong := url.Values{}
		for key, values := range form {
			wrong[key] = slices.Clone(values)
		}
		wrong.Set("earlier", bad)
		s.send(nameAt(alb)+"/redact", wrong).want(422, "Enter numbers and ranges below 70", "["+bad+"]")
	}
	s.send(nameAt(alb)+"/redact", form).wantSee(namePath(alb) + "?done=redacted")
	s.get(nameAt(alb)+"/history").want(200, "Content removed from revisions: 1-20, 22, 69, 119.")
	s.get("log").want(200, "Content removed from revisions: 1-20, 22, 69, 119.")
	var redacted []uint64
	for c, err := range store.History(t.Context(), s.store, name.MustParse(alb)) {
		if err != nil {
			t.Fatal(err)
		}
		if c.Redacted {
			redacted = append([]uint64{c.Revision()}, redacted...)
		}
	}
	want := []uint64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 22, 69, 119}
	if d := cmp.Diff(redacted, want); d != "" {
		t.Error(d)
	}
}

// A range may include revisions whose content was removed before. These are left out.
func TestRedactRest(t *testing.T) {
	s := newSite(t)
	for i := range 119 {
		s.change(alb, "loaded", func(r *store.Record) { r.Metadata = nomen.Metadata{"title": {strconv.Itoa(i)}} })
	}
	redact := func(earlier string, chosen ...string) *answer {
		form := fill(s.open(alb, "redact"), "earlier", earlier, "reason", "personal data", "typed", alb)
		form["revisions"] = chosen
		return s.send(nameAt(alb)+"/redact", form)
	}
	redact("5-7, 9", "119").wantSee(namePath(alb) + "?done=redacted")
	redact("6-7").want(422, "The content of these revisions was removed before", "[6-7]", "personal data")
	redact("4-10", "118", "119").wantSee(namePath(alb) + "?done=redacted-rest")
	s.get(nameAt(alb)+"?done=redacted-rest").want(200, "Revisions whose content was removed before were left out")
	s.get(nameAt(alb)+"/history").want(200, "Content removed from revisions: 4, 8, 10, 118.")
	redact("1-2", "7777").want(422, "there is no revision 7777")
}

func TestSpans(t *testing.T) {
	for want, numbers := range map[string][]uint64{
		"": nil, "7": {7}, "1-3": {1, 2, 3}, "1, 3": {1, 3}, "1-2, 4, 6-7": {1, 2, 4, 6, 7},
	} {
		if got := spans(numbers); got != want {
			t.Errorf("%v: got %q, want %q", numbers, got, want)
		}
		if got, ok := ranges(want, 8); !ok || !slices.Equal(got, numbers) {
			t.Errorf("%q: got %v, %v, want %v", want, got, ok, numbers)
		}
	}
	odd := make([]uint64, 1000)
	for i := range odd {
		odd[i] = uint64(2*i + 1)
	}
	if got := spans(odd); !strings.HasPrefix(got, "1, 3, 5, ") || len(got) > maxBrief+10 {
		t.Errorf("got %d bytes: %s", len(got), got)
	}
}

// Many names that were made at once are on the page in part, and in the file all.
func TestManyMade(t *testing.T) {
	s := newSite(t)
	s.addMany("urn:dns:example.org:m", 1000, "u-admin")
	head, err := s.store.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	query := fmt.Sprintf("?after=0&until=%d&who=u-admin", head.Size)
	a := s.get("mint/made" + query)
	a.want(200, "1,000 names were made", "The first 200 are listed")
	if rows := len(a.elements("tr")) - 1; rows != 200 || a.Body.Len() > maxPage {
		t.Errorf("got %d rows and %d bytes", rows, a.Body.Len())
	}
	if rows := s.get("mint/made.csv" + query).rows(); len(rows) != 1001 {
		t.Errorf("got %d rows in the file", len(rows))
	}
}

// If a page of the log takes long, it shows what it has found, and the next page goes on.
func TestLogTakesLong(t *testing.T) {
	s := newSite(t)
	s.addMany("urn:dns:example.org:m", 300, "tok")
	var clock atomic.Int64
	s.now = func() time.Time { return servertest.Now.Add(time.Duration(clock.Add(1)) * maxLogTime) }
	s.restart()
	a := s.get("log?who=u-stranger")
	a.want(200, "There are no such changes")
	if !slices.ContainsFunc(a.elements("a"), func(n *html.Node) bool { return attribute(n, "rel") == "next" }) {
		t.Errorf("no next page:\n%s", a.text())
	}
}

// The overview shows a change that is followed by many that the user may not see.
func TestRecentBehindOthers(t *testing.T) {
	s := newSite(t)
	s.change("urn:dns:other.example:alb002", "seldom", at("https://other.example/new"))
	s.addMany("urn:dns:example.org:m", 400, "tok")
	s.as("other").get("").want(200, "seldom")
	a := s.get("")
	a.want(200, "number 399", "number 395")
	a.without("number 394")
}
