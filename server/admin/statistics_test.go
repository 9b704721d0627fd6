package admin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// addCounted stores names with locations under urn:dns:third.example.
func addCounted(t *testing.T, s store.Store) {
	t.Helper()
	for i, rec := range []store.Record{
		{Status: nomen.Active, Locations: []nomen.Location{{URL: "http://A.example/1"}, {URL: "https://a.example:8443/2", Down: true}}},
		{Status: nomen.Active, Locations: []nomen.Location{{URL: "https://b.example/", ValidUntil: testNow.Format(time.RFC3339)}, {URL: "https://b.example/x", ValidUntil: testNow.Add(time.Second).Format(time.RFC3339)}}},
		{Status: nomen.Reserved, Locations: []nomen.Location{{URL: "urn:isbn:1"}}},
		{Status: nomen.Active},
	} {
		rec.Spelling = fmt.Sprintf("urn:dns:third.example:%d", i)
		rec.Name = name.MustParse(rec.Spelling)
		if _, err := s.Apply(t.Context(), []store.Change{{Record: &rec, Time: testNow, Who: "tok"}}); err != nil {
			t.Fatal(err)
		}
	}
	gone := &store.Record{Name: name.MustParse("urn:dns:third.example:3"), Spelling: "urn:dns:third.example:3", Status: nomen.Retired}
	if _, err := s.Apply(t.Context(), []store.Change{{Record: gone, Expected: 1, Time: testNow, Who: "other"}}); err != nil {
		t.Fatal(err)
	}
}

func TestStatistics(t *testing.T) {
	api, s := newTestAPI(t, nil)
	addCounted(t, s)
	c := api.Client(person("u-r", registrar.Reader, "urn:dns:third.example"))
	got, err := c.Statistics(t.Context(), false)
	want := adminapi.Statistics{
		Count: adminapi.Count{Counted: testNow},
		Names: []adminapi.NameCount{{Active: 2, Reserved: 1, Retired: 1}},
		Hosts: []adminapi.HostCount{{Host: "a.example", Locations: 2, HTTP: 1, HTTPS: 1}, {Host: "b.example", Locations: 2, HTTPS: 2}},
		Faults: []adminapi.LocationFault{
			{Name: "urn:dns:third.example:0", URL: "https://a.example:8443/2", Kind: "down"},
			{Name: "urn:dns:third.example:1", URL: "https://b.example/", Kind: "past", Until: testNow.Format(time.RFC3339)},
		},
		FaultCount: map[string]int64{"down": 1, "past": 1},
	}
	if d := cmp.Diff(want, got); err != nil || d != "" {
		t.Errorf("%v (-want +got):\n%s", err, d)
	}
	all, err := api.Client(person("u-a", registrar.Reader)).Statistics(t.Context(), false)
	total := uint64(0)
	for _, n := range all.Names {
		total += n.Active + n.Reserved + n.Retired
	}
	if n, _, _ := store.Count(t.Context(), s); err != nil || total != uint64(n) || len(all.Names) < 3 {
		t.Errorf("%d names, want %d: %+v, %v", total, n, all.Names, err)
	}
	other, err := api.Client(person("u-o", registrar.Owner, "urn:dns:none.example")).Statistics(t.Context(), false)
	if err != nil || len(other.Names) > 0 || len(other.Hosts) > 0 || len(other.Faults) > 0 {
		t.Errorf("another prefix: %+v, %v", other, err)
	}
}

func TestActivity(t *testing.T) {
	api, s := newTestAPI(t, nil)
	addCounted(t, s)
	month := testNow.Format("2006-01")
	got, err := api.Client(person("u-r", registrar.Reader, "urn:dns:third.example")).Activity(t.Context(), month)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Days) != testNow.Day() || got.Month != month {
		t.Fatalf("got %d days of %s", len(got.Days), got.Month)
	}
	for _, d := range got.Days {
		want := adminapi.Changes{}
		if d.Day == testNow.Format(time.DateOnly) {
			want = adminapi.Changes{Created: 4, Retired: 1}
		}
		if d.Day == modified.Format(time.DateOnly) {
			want.Other = d.Other // authorities of the fixture, which everyone sees
		}
		if d.Changes != want {
			t.Errorf("%s: got %+v, want %+v", d.Day, d.Changes, want)
		}
	}
	people := map[string]uint64{}
	for _, p := range got.People {
		people[p.Who] = p.Total()
	}
	if people["tok"] != 4 || people["other"] != 1 {
		t.Errorf("got %+v", got.People)
	}
	all, _ := api.Client(registrar.Operator()).Activity(t.Context(), month)
	head, _ := store.HeadOf(t.Context(), s)
	sum := uint64(0)
	for _, p := range all.People {
		sum += p.Total()
	}
	if sum != head.Size {
		t.Errorf("%d changes by people, want %d", sum, head.Size)
	}
	empty, err := api.Client(registrar.Operator()).Activity(t.Context(), "2001-02")
	if err != nil || len(empty.Days) != 28 || len(empty.People) != 0 {
		t.Errorf("an empty month: %+v, %v", empty, err)
	}
	for _, bad := range []string{"", "2026", "2026-13", "<script>", url.QueryEscape("2026-11")[:6]} {
		if _, err := api.Client(registrar.Operator()).Activity(t.Context(), bad); !errors.As(err, new(*adminapi.RequestError)) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// A reader of all names does not learn who changes users, and shares no result with administrators.
func TestActivityRights(t *testing.T) {
	api, s := newTestAPI(t, nil)
	addLog(t, s)
	month := testNow.Format("2006-01")
	if _, err := api.Client(registrar.Operator()).Activity(t.Context(), month); err != nil {
		t.Fatal(err)
	}
	got, err := api.Client(person("u-all", registrar.Reader)).Activity(t.Context(), month)
	redacted := false
	for _, p := range got.People {
		redacted = redacted || p.Redacted && p.Who == "" && p.Other == 1
		if p.Who == "tok" && p.Total() != 1 {
			t.Errorf("got %+v", p)
		}
		if p.Who == "u-00000001" && p.WhoName != "Ada" {
			t.Errorf("got %+v", p)
		}
	}
	if err != nil || !redacted {
		t.Errorf("got %+v, %v", got.People, err)
	}
}

// A slow count does not keep a request waiting, and is not started twice.
func TestFigures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFigures(time.Now, slog.New(slog.DiscardHandler), nil)
		counts := 0
		slow := func(ctx context.Context, step func() error) (any, error) {
			counts++
			for range 2000 {
				if err := step(); err != nil {
					return nil, err
				}
			}
			time.Sleep(time.Minute)
			return counts, ctx.Err()
		}
		begun := time.Now()
		get := func(life time.Duration) (any, adminapi.Count) {
			t.Helper()
			v, c, err := f.get(t.Context(), "k", life, slow)
			if err != nil {
				t.Fatal(err)
			}
			return v, c
		}
		if v, c := get(time.Hour); v != nil || !c.Counting || c.Done != 2000 || !c.Counted.IsZero() || time.Since(begun) != firstFigures {
			t.Errorf("first: %v %+v after %v", v, c, time.Since(begun))
		}
		get(time.Hour)
		time.Sleep(time.Hour)
		if v, c := get(2 * time.Hour); v != 1 || c.Counting || !c.Counted.Equal(begun) {
			t.Errorf("counted: %v %+v", v, c)
		}
		if v, c := get(time.Minute); v != 1 || !c.Counting || !c.Counted.Equal(begun) { // the old result meanwhile
			t.Errorf("outdated: %v %+v", v, c)
		}
		time.Sleep(time.Hour)
		if v, _ := get(2 * time.Hour); v != 2 || counts != 2 {
			t.Errorf("again: %v, %d counts", v, counts)
		}
		for i := range 2 * maxFigures {
			f.get(t.Context(), fmt.Sprint(i), time.Hour, func(context.Context, func() error) (any, error) { return i, nil })
		}
		if len(f.known) > maxFigures {
			t.Errorf("%d results are kept", len(f.known))
		}
		f.ask("late", time.Hour, slow)
		synctest.Wait()
		f.close()
		if _, _, err := f.get(t.Context(), "after", time.Hour, slow); err != nil {
			t.Errorf("after the end: %v", err)
		}
	})
}

// An error of the first count is the error of the request, and the next request tries again.
func TestFiguresFail(t *testing.T) {
	f := newFigures(time.Now, slog.New(slog.DiscardHandler), nil)
	fail := errors.New("no disk")
	if _, _, err := f.get(t.Context(), "k", time.Hour, func(context.Context, func() error) (any, error) { return nil, fail }); !errors.Is(err, fail) {
		t.Errorf("got %v", err)
	}
	if v, _, err := f.get(t.Context(), "k", time.Hour, func(context.Context, func() error) (any, error) { return 7, nil }); v != 7 || err != nil {
		t.Errorf("got %v, %v", v, err)
	}
	if v, _, err := f.get(t.Context(), "k", -1, func(context.Context, func() error) (any, error) { return nil, fail }); v != 7 || err != nil {
		t.Errorf("a failed second count: got %v, %v", v, err)
	}
	if got := scopeOf(person("x", registrar.Editor, "urn:zeta", "urn:alfa")); got != "in urn:alfa urn:zeta" {
		t.Errorf("scope %q", got)
	}
}

// If more people have made changes than a response lists, it says how many it leaves out.
func TestActivityIsCut(t *testing.T) {
	for _, n := range []int{maxPeople, maxPeople + 3} {
		c := newActivityCounter(testNow, testNow)
		for i := range n {
			c.add(&store.Change{Who: fmt.Sprint("u", i), Time: testNow})
		}
		if got := c.result(); len(got.People) != maxPeople || got.OtherPeople != n-maxPeople {
			t.Errorf("%d people: got %d and %d others", n, len(got.People), got.OtherPeople)
		}
	}
}
