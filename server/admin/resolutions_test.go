package admin

import (
	"errors"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/counts"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// newCounts returns a counter with resolutions of two days: 5 of a, 2 of b, 1 of c by a robot, one failed
// lookup and one retired name.
func newCounts(t *testing.T) *counts.Counter {
	t.Helper()
	prefix := func(key string) string {
		if len(key) > 20 && key[:20] == "urn:dns:example.org:" {
			return key[:19]
		}
		return "urn:dns:other.example"
	}
	now := time.Date(2026, 11, 19, 12, 0, 0, 0, time.UTC)
	k, err := counts.Open(counts.Options{Store: &counts.Memory{}, Every: 1000 * time.Hour, Authority: prefix, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := k.Close(); err != nil {
			t.Error(err)
		}
	})
	n := byte(0)
	resolve := func(name string, what counts.What, agent string, times int) {
		for range times {
			n++
			by := &counts.Client{}
			by.Set(netip.AddrFrom4([4]byte{192, 0, 2, n}), agent)
			k.Resolved(by, name, what, now)
		}
	}
	const firefox = "Mozilla/5.0 Firefox/140.0"
	resolve("urn:dns:example.org:a", counts.Of("I2L"), firefox, 4)
	now = now.AddDate(0, 0, 1)
	resolve("urn:dns:example.org:a", counts.Of("I2C"), "curl/8", 1)
	resolve("urn:dns:example.org:b", counts.Of("I2L"), firefox, 2)
	resolve("urn:dns:example.org:c", counts.Of("I2L"), "Googlebot", 1)
	resolve("urn:dns:example.org:old", counts.Gone, firefox, 1)
	resolve("urn:dns:example.org:x", counts.Failed, firefox, 1)
	resolve("urn:dns:other.example:a", counts.Of("I2L"), firefox, 7)
	return k
}

// Owners see the counts of names exactly. Readers do not see counts below 3 a day. Others see nothing.
func TestResolutions(t *testing.T) {
	k := newCounts(t)
	api, _ := newTestAPI(t, func(o *Options) {
		o.Counts, o.Now = k, func() time.Time { return time.Date(2026, 11, 20, 13, 0, 0, 0, time.UTC) }
	})
	owner := api.Client(person("u-o", registrar.Owner, "urn:dns:example.org"))
	reader := api.Client(person("u-r", registrar.Reader, "urn:dns:example.org"))
	other := api.Client(person("u-x", registrar.Administrator, "urn:dns:other.example"))
	all := api.Client(person("u-a", registrar.Administrator))
	get := func(c *adminapi.Client, q adminapi.ResolutionQuery) adminapi.Resolutions {
		t.Helper()
		r, err := c.Resolutions(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := get(owner, adminapi.ResolutionQuery{Name: "URN:dns:example.org:a"})
	if d := cmp.Diff(r, adminapi.Resolutions{
		Name: "urn:dns:example.org:a", From: "2026-09", To: "2026-11", Total: adminapi.ByClass{Regular: 4, Machine: 1},
		Periods: []adminapi.PeriodResolutions{
			{Period: "2026-11-19", ByClass: adminapi.ByClass{Regular: 4}}, {Period: "2026-11-20", ByClass: adminapi.ByClass{Machine: 1}},
		},
		Services: []adminapi.ServiceCount{{Service: "I2L", ByClass: adminapi.ByClass{Regular: 4}}, {Service: "I2C", ByClass: adminapi.ByClass{Machine: 1}}},
	}); d != "" {
		t.Errorf("owner: got -, want +:\n%s", d)
	}
	if r := get(reader, adminapi.ResolutionQuery{Name: "urn:dns:example.org:a"}); r.Total.Sum() != 4 || !r.Few || len(r.Periods) != 1 {
		t.Errorf("reader: %+v, want only the day with 4", r)
	}
	if r := get(reader, adminapi.ResolutionQuery{Name: "urn:dns:example.org:b"}); r.Total.Sum() != 0 || !r.Few {
		t.Errorf("reader: %+v, want nothing of a name with 2", r)
	}
	if _, err := other.Resolutions(t.Context(), adminapi.ResolutionQuery{Name: "urn:dns:example.org:a"}); !errors.As(err, new(*registrar.DeniedError)) {
		t.Errorf("other: %v, want a DeniedError", err)
	}
	r = get(owner, adminapi.ResolutionQuery{Prefix: "URN:DNS:example.org", Top: 2})
	if r.Total != (adminapi.ByClass{Regular: 6, Machine: 1, Bot: 1}) || r.Gone.Regular != 1 || r.Failed.Regular != 1 {
		t.Errorf("authority: %+v", r)
	}
	if d := cmp.Diff(r.Names, []adminapi.NameResolutions{
		{Name: "urn:dns:example.org:a", ByClass: adminapi.ByClass{Regular: 4, Machine: 1}}, {Name: "urn:dns:example.org:b", ByClass: adminapi.ByClass{Regular: 2}},
	}); d != "" {
		t.Errorf("top: got -, want +:\n%s", d)
	}
	if r := get(reader, adminapi.ResolutionQuery{Prefix: "urn:dns:example.org", Top: 5}); r.Total.Sum() != 8 || len(r.Names) != 1 {
		t.Errorf("reader: %+v, want the sums and one name", r)
	}
	if r := get(owner, adminapi.ResolutionQuery{Top: 5}); r.Total.Sum() != 8 || len(r.Names) != 3 {
		t.Errorf("owner of one authority: %+v, want only its counts", r)
	}
	if r := get(all, adminapi.ResolutionQuery{}); r.Total.Sum() != 15 {
		t.Errorf("administrator: %+v, want 15", r.Total)
	}
	if r := get(all, adminapi.ResolutionQuery{To: "2026-10"}); r.Total.Sum() != 0 || r.From != "2026-08" {
		t.Errorf("before: %+v", r)
	}
	for _, q := range []adminapi.ResolutionQuery{{From: "x"}, {To: "2026-13"}, {From: "2026-12"}, {From: "1990-01"}} {
		if _, err := all.Resolutions(t.Context(), q); err == nil {
			t.Errorf("%+v: no error", q)
		}
	}
}

// A server that does not count says so.
func TestResolutionsDisabled(t *testing.T) {
	api, _ := newTestAPI(t, nil)
	r, err := api.Client(person("u-a", registrar.Administrator)).Resolutions(t.Context(), adminapi.ResolutionQuery{Top: 3})
	if err != nil || !r.Disabled || r.Total.Sum() != 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestIsBelow(t *testing.T) {
	for _, tt := range []struct {
		text, begin string
		want        bool
	}{
		{"urn:dns:example.org", "", true},
		{"urn:dns:example.org", "urn:dns:example.org", true},
		{"urn:dns:example.org:sub", "urn:dns:example.org", true},
		{"urn:dns:example.organic", "urn:dns:example.org", false},
		{"urn:dns:example.org", "urn:dns:", true},
		{"ark:12345/x", "ark:12345", true},
		{"ark:123456", "ark:12345", false},
		{"", "urn", false},
	} {
		if got := isBelow(tt.text, tt.begin); got != tt.want {
			t.Errorf("isBelow(%q, %q) = %t", tt.text, tt.begin, got)
		}
	}
}

// The counts of a name have the resolutions by its aliases, and say how many these are. An alias that
// has a record, that several records have, or that belongs to an authority of others does not count.
func TestResolutionsByAlias(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	k, err := counts.Open(counts.Options{Store: &counts.Memory{}, Every: 1000 * time.Hour, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = k.Close() })
	for i, n := range []string{"urn:dns:example.org:a", "urn:dns:example.org:misprint", "urn:dns:example.org:b", "urn:dns:example.org:both", "urn:dns:other.example:x", "doi:10.1000/1"} {
		for j := range byte(10 + i) {
			by := &counts.Client{}
			by.Set(netip.AddrFrom4([4]byte{192, 0, 2, j}), "Mozilla/5.0 Firefox/140.0")
			k.Resolved(by, n, counts.Of("I2L"), now)
		}
	}
	api, s := newTestAPI(t, func(o *Options) { o.Counts, o.Now = k, func() time.Time { return now } })
	put := func(n string, same ...string) {
		t.Helper()
		_, err := s.Apply(t.Context(), []store.Change{{Time: now, Record: &store.Record{Name: name.MustParse(n), Spelling: n, Status: nomen.Active, SameAs: same, Locations: []nomen.Location{{URL: "https://example.org/"}}}}})
		if err != nil {
			t.Fatal(err)
		}
	}
	put("urn:dns:example.org:a", "urn:dns:example.org:misprint", "URN:dns:example.org:misprint", "urn:dns:example.org:b", "urn:dns:example.org:both", "urn:dns:other.example:x", "doi:10.1000/1", "https://example.org/")
	put("urn:dns:example.org:b")
	put("urn:dns:example.org:c", "urn:dns:example.org:both")
	aliases := []adminapi.NameResolutions{{Name: "urn:dns:example.org:misprint", ByClass: adminapi.ByClass{Regular: 11}}, {Name: "doi:10.1000/1", ByClass: adminapi.ByClass{Regular: 15}}}
	all := append([]adminapi.NameResolutions{}, aliases[0], adminapi.NameResolutions{Name: "urn:dns:other.example:x", ByClass: adminapi.ByClass{Regular: 14}}, aliases[1])
	for _, tt := range []struct {
		who  registrar.Actor
		want []adminapi.NameResolutions
		sum  uint64
	}{
		{person("u-o", registrar.Owner, "urn:dns:example.org"), aliases, 36},
		{person("u-a", registrar.Administrator), all, 50},
	} {
		r, err := api.Client(tt.who).Resolutions(t.Context(), adminapi.ResolutionQuery{Name: "urn:dns:example.org:a"})
		if d := cmp.Diff(r.Aliases, tt.want); err != nil || d != "" || r.Total.Regular != tt.sum {
			t.Errorf("%s: total %d, want %d, %v; aliases: got -, want +:\n%s", tt.who.Who, r.Total.Regular, tt.sum, err, d)
		}
	}
	r, err := api.Client(person("u-o", registrar.Owner, "urn:dns:example.org")).Resolutions(t.Context(), adminapi.ResolutionQuery{Name: "urn:dns:example.org:misprint"})
	if err != nil || r.Total.Regular != 11 || len(r.Aliases) > 0 {
		t.Errorf("the alias: got %+v, %v, want 11", r, err)
	}
}

// Low counts of a name are for its owners only, at each request that shows counts of names.
func TestFewAtEachRequest(t *testing.T) {
	k := newCounts(t)
	api, _ := newTestAPI(t, func(o *Options) {
		o.Counts, o.Now = k, func() time.Time { return time.Date(2026, 11, 20, 13, 0, 0, 0, time.UTC) }
	})
	const few = "urn:dns:example.org:b" // two resolutions
	for _, role := range []registrar.Role{registrar.Reader, registrar.Editor, registrar.Owner} {
		who := person("u-1", role, "urn:dns:example.org")
		shown := 0
		one, err := api.Client(who).Resolutions(t.Context(), adminapi.ResolutionQuery{Name: few})
		if err != nil {
			t.Fatal(err)
		}
		if one.Total.Sum() > 0 {
			shown++
		}
		top, err := api.Client(who).Resolutions(t.Context(), adminapi.ResolutionQuery{Prefix: "urn:dns:example.org", Top: 100})
		if err != nil {
			t.Fatal(err)
		}
		var month *adminapi.MonthReport
		for tick := time.Tick(20 * time.Millisecond); ; <-tick {
			if month, err = api.MonthReport(t.Context(), who, "urn:dns:example.org", "2026-11"); err != nil || !month.Counting {
				break
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, names := range [][]adminapi.NameResolutions{top.Names, month.Resolutions.Names} {
			for _, n := range names {
				if n.Name == few {
					shown++
				}
			}
		}
		if want := map[bool]int{true: 3, false: 0}[role == registrar.Owner]; shown != want {
			t.Errorf("%v: the low count is shown by %d requests, want %d", role, shown, want)
		}
	}
}
