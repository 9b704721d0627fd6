package pages

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/counts"
	"github.com/nomen-project/nomen/server/servertest"
)

// The pages of names and of statistics, the report and the file show resolutions. Readers do not see
// low counts of a name.
func TestResolutionPages(t *testing.T) {
	now := servertest.Now.AddDate(0, 0, -3)
	k, err := counts.Open(counts.Options{Store: &counts.Memory{}, Every: 1000 * time.Hour, Now: func() time.Time { return now }, Authority: func(string) string { return "urn:dns:example.org" }})
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	for i := range byte(5) {
		by := &counts.Client{}
		by.Set(netip.AddrFrom4([4]byte{192, 0, 2, i}), "Mozilla/5.0 Firefox/140.0")
		if i == 4 {
			now = now.AddDate(0, 0, 1)
		}
		k.Resolved(by, alb, counts.Of("I2L"), now)
		k.Failed(by, "urn:dns:example.org:never", now)
	}
	s := newSite(t)
	s.get("statistics").want(200, "This server does not count resolutions.")
	s.get("name/" + alb).without("How often it was resolved")
	s.stop()
	s.counts = k
	s.start()
	s.get("statistics").want(200, "Resolutions in 2026-11", "Resolutions on each day (UTC)", "Failed lookups", "(50 % of all lookups)", "Names that were resolved most often", "Resolutions as CSV")
	s.get("statistics/report").want(200, "Resolutions in 2026-11", "Requests for retired names")
	s.get("name/"+alb).want(200, "How often it was resolved", "2026-11-17", "2026-11-18")
	s.as("reader").get("name/"+alb).want(200, "Only owners see them", "2026-11-17")
	s.as("reader").get("name/" + alb).without("2026-11-18")
	s.who = "admin"
	if d := cmp.Diff(s.get("statistics/resolutions.csv").rows(), [][]string{
		{"resolutions", "regular", "machine", "bot", "unknown"},
		{"2026-11-17", "4", "0", "0", "0"},
		{"2026-11-18", "1", "0", "0", "0"},
		{"total", "5", "0", "0", "0"},
		{"service I2L", "5", "0", "0", "0"},
		{"retired names", "0", "0", "0", "0"},
		{"failed lookups", "5", "0", "0", "0"},
		{alb, "5", "0", "0", "0"},
	}); d != "" {
		t.Errorf("got -, want +:\n%s", d)
	}
	s.as("none").get("statistics/resolutions.csv").want(403)
}

func TestWithDays(t *testing.T) {
	var in []adminapi.PeriodResolutions
	for _, p := range strings.Fields("2026-07 2026-08 2026-10-30 2026-11-02") {
		in = append(in, adminapi.PeriodResolutions{Period: p})
	}
	var got []string
	for _, p := range withDays(in, servertest.Now) {
		got = append(got, p.Period)
	}
	if d := cmp.Diff(got, strings.Fields("2026-07 2026-08 2026-10-30 2026-10-31 2026-11-01 2026-11-02")); d != "" {
		t.Errorf("got -, want +:\n%s", d)
	}
}
