package resolve_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/testrun"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/resolve"
	"github.com/nomen-project/nomen/rule"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/cachestore"
	"github.com/nomen-project/nomen/store/memstore"
	"github.com/nomen-project/nomen/store/pebblestore"
	"github.com/nomen-project/nomen/store/pgstore"
	"github.com/nomen-project/nomen/store/pgstore/pgtest"
)

// onStores runs a test on each kind of store.
func onStores(t *testing.T, test func(t *testing.T, s store.Store)) {
	t.Run("memstore", func(t *testing.T) { test(t, memstore.New()) })
	t.Run("pebblestore", func(t *testing.T) {
		s, err := pebblestore.Open(pebblestore.Options{Dir: "store", FS: vfs.NewMem(), CacheSize: 8 << 20})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		test(t, s)
	})
	if testing.Short() {
		return
	}
	t.Run("pgstore", func(t *testing.T) {
		server, err := pgtest.Start(pgtest.Options{})
		if err != nil {
			testrun.Missing(t, fmt.Sprintf("PostgreSQL (%v)", err))
		}
		t.Cleanup(func() { _ = server.Stop() })
		p, err := pgstore.Open(t.Context(), pgstore.Options{URL: server.URL()})
		if err != nil {
			t.Fatal(err)
		}
		s, err := cachestore.New(t.Context(), p, cachestore.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		test(t, s)
	})
}

// nearBegin is when the names of nearWorld were registered.
var nearBegin = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)

// nearWorld registers names of all kinds whose misspellings the tests request.
func nearWorld(t *testing.T, s store.Store) {
	t.Helper()
	status := func(spelling string, st nomen.Status, aliases ...string) store.Change {
		return store.Change{Record: &store.Record{Name: name.MustParse(spelling), Spelling: spelling, Status: st, SameAs: aliases}, Expected: store.AnyRevision, Time: nearBegin}
	}
	authority := func(prefix, owner string, p store.Policy, fold bool) store.Change {
		return store.Change{Authority: &store.Authority{Prefix: name.MustParsePrefix(prefix), Owners: []string{owner}, Policy: p, FoldCase: fold}, Expected: store.AnyRevision, Time: nearBegin}
	}
	elsewhere := &store.Delegation{To: "there.example", Mode: store.ModeRedirect}
	rules := rule.Set{{Match: "fe-x{n}", Locations: []nomen.Location{{URL: "https://example.org/{n}"}}, Tests: []rule.Test{{From: "urn:x-ruled:fe-x1", To: []string{"https://example.org/1"}}}}}
	_, err := s.Apply(t.Context(), []store.Change{
		authority("urn:x-open", "anna", store.Policy{}, false),
		authority("urn:x-fold", "anna", store.Policy{}, true),
		authority("urn:x-closed", "anna", store.Policy{Access: store.AccessDenied}, false),
		authority("urn:x-closed:open", "anna", store.Policy{}, false),
		authority("urn:isbn", "anna", store.Policy{}, false),
		authority("urn:issn", "anna", store.Policy{Delegation: elsewhere}, false),
		authority("urn:x-ruled", "anna", store.Policy{Rules: rules}, false),
		status("urn:x-open:report-7", nomen.Active),
		status("urn:x-open:old-1", nomen.Retired),
		status("urn:x-open:hidden-1", nomen.Reserved),
		status("urn:x-open:book", nomen.Active),
		status("urn:x-open:book/1/2", nomen.Active),
		status("urn:x-open:book/1/2/3", nomen.Reserved),
		status("urn:x-closed:open", nomen.Active),
		status("urn:x-closed:secret", nomen.Active, "urn:isbn:9780306406157", "urn:x-open:twice"),
		status("urn:x-closed:other", nomen.Active, "urn:x-open:twice"),
		status("urn:x-open:listed", nomen.Active, "urn:isbn:9783161484100", "urn:x-open:twice"),
		status("urn:x-fold:alb-2", nomen.Active),
	})
	if err != nil {
		t.Fatal(err)
	}
}

// The suggestions for an unknown name are public names. They reveal nothing about names that are
// reserved or restricted.
func TestSuggestions(t *testing.T) {
	onStores(t, func(t *testing.T, s store.Store) {
		nearWorld(t, s)
		e := resolve.New(s, resolve.Options{})
		for _, tt := range []struct {
			ask  string
			want []string
		}{
			{"urn:x-open:Report-7", []string{"urn:x-open:report-7"}},
			{"urn:x-open:REPORT_7", nil}, // two mistakes
			{"urn:x-open:report_7", []string{"urn:x-open:report-7"}},
			{"urn:x-open:report-7.)", []string{"urn:x-open:report-7"}},
			{"urn:x-open:report-7%22", []string{"urn:x-open:report-7"}},
			{"urn:x-open:report-7-", []string{"urn:x-open:report-7"}},
			{"urn:x-open:Old-1", []string{"urn:x-open:old-1"}},
			{"urn:x-open:Hidden-1", nil},
			{"urn:x-open:hidden-1", nil},
			{"urn:x-open:book/1/2/3", []string{"urn:x-open:book/1/2"}}, // reserved itself
			{"urn:x-open:book/1/2/9", []string{"urn:x-open:book/1/2"}},
			{"urn:x-open:book/1/2/3/4", []string{"urn:x-open:book/1/2"}}, // a part of it is reserved
			{"urn:x-open:book/a/b/c/d/e", nil},                           // too many parts
			{"urn:x-open:none", nil},
			{"urn:x-closed:open:none", nil},                     // the shorter name is restricted
			{"urn:x-open:twice", []string{"urn:x-open:listed"}}, // restricted records list it, too
			{"urn:x-fold:ALB_2", []string{"urn:x-fold:alb-2"}},
			{"urn:x-fold:ALB_3", nil},
			{"urn:isbn:9783161484101", []string{"urn:isbn:9783161484100"}}, // an alias
			{"urn:isbn:9780306406158", nil},                                // only a restricted record has the alias
			{"urn:isbn:9780306406159", nil},
			{"urn:x-ruled:Fe-2", nil},
			{"doi:10.5072/none", []string{"urn:doi:10.5072/none"}},
		} {
			_, err := e.Resolve(t.Context(), nomen.Question{Name: name.MustParse(tt.ask), Service: nomen.I2C})
			none := &nomen.Error{}
			if !errors.As(err, &none) || none.Kind != nomen.Unknown || !slices.Equal(none.Suggestions, tt.want) {
				t.Errorf("%s: %v with suggestions %q, want %q", tt.ask, err, none.Suggestions, tt.want)
			}
		}
		_, err := e.Resolve(t.Context(), nomen.Question{Name: name.MustParse("urn:x-open:Report-7"), At: nearBegin.Add(-time.Hour), Service: nomen.I2C})
		if none := (*nomen.Error)(nil); !errors.As(err, &none) || none.Kind != nomen.Unknown || none.Suggestions != nil {
			t.Errorf("before the name was registered: %+v", err)
		}
	})
}

// A name that this service cannot know about is suggested if the rules of its scheme say so.
func TestUndecidedSuggestions(t *testing.T) {
	of := func(p *store.Policy, status nomen.Status) *resolve.Engine {
		var all []*store.Authority
		if p != nil {
			all = append(all, &store.Authority{Prefix: name.MustParsePrefix("urn:doi"), Policy: *p})
		}
		var records []*store.Record
		if status != "" {
			records = append(records, &store.Record{Name: name.MustParse("urn:doi:10.5072/none"), Status: status})
		}
		return resolve.New(fill(t, records, all), resolve.Options{})
	}
	rules := rule.Set{{Match: "x{n}", Locations: []nomen.Location{{URL: "https://example.org/{n}"}}, Tests: []rule.Test{{From: "urn:doi:x1", To: []string{"https://example.org/1"}}}}}
	for title, tt := range map[string]struct {
		policy  *store.Policy
		suggest bool // even if there is no record
	}{
		"no authority": {nil, true},
		"own":          {&store.Policy{}, false},
		"delegated":    {&store.Policy{Delegation: &store.Delegation{To: "there.example", Mode: store.ModeRedirect}}, true},
		"rules":        {&store.Policy{Rules: rules}, true},
		"restricted":   {&store.Policy{Access: store.AccessDenied}, false},
	} {
		for _, status := range []nomen.Status{"", nomen.Reserved, nomen.Active} {
			_, err := of(tt.policy, status).Resolve(t.Context(), nomen.Question{Name: name.MustParse("doi:10.5072/none")})
			var none *nomen.Error
			want := tt.suggest || status == nomen.Active && title != "restricted"
			if !errors.As(err, &none) || slices.Contains(none.Suggestions, "urn:doi:10.5072/none") != want {
				t.Errorf("%s, status %q: %+v, want suggested %v", title, status, err, want)
			}
		}
	}
}

// A watched store counts reads, and waits before each one.
type watched struct {
	store.Store
	reads int
	wait  time.Duration
	err   error
}

func (w *watched) Get(ctx context.Context, n name.Name, at time.Time) (*store.Record, error) {
	w.reads++
	time.Sleep(w.wait)
	if w.err != nil {
		return nil, w.err
	}
	return w.Store.Get(ctx, n, at)
}

func (w *watched) Aliased(context.Context, name.Name) ([]name.Name, error) {
	w.reads++
	return nil, nil
}

// The search for suggestions reads few records, however hostile the name is.
func TestSuggestionsAreCheap(t *testing.T) {
	w := &watched{Store: fill(t, nil, []*store.Authority{{Prefix: name.MustParsePrefix("urn:x-open")}, {Prefix: name.MustParsePrefix("urn:isbn")}, {Prefix: name.MustParsePrefix("doi:10.5072")}, {Prefix: name.MustParsePrefix("urn:x-fold"), FoldCase: true}})}
	e := resolve.New(w, resolve.Options{})
	for _, ask := range []string{
		"urn:x-open:" + strings.Repeat("a-b_C/", 300) + "lO-_%22.)",
		"urn:x-open:a" + strings.Repeat("/", 2000), "urn:x-open:" + strings.Repeat("%22", 600), "urn:isbn:978316148410l", "https://doi.org/10.5072/a/b/c/a-b_ClO-", "urn:isbn:" + strings.Repeat("9", 1000),
	} {
		w.reads = 0
		_, err := e.Resolve(t.Context(), nomen.Question{Name: name.MustParse(ask)})
		if none := (*nomen.Error)(nil); !errors.As(err, &none) || none.Kind != nomen.Unknown || len(none.Suggestions) > 5 {
			t.Errorf("%.40s: %v", ask, err)
		}
		const itself = 2 // the record and the aliases of the name
		if w.reads > itself+12 {
			t.Errorf("%.40s: %d reads", ask, w.reads)
		}
	}
	w.reads = 0
	if _, err := e.Resolve(t.Context(), nomen.Question{Name: name.MustParse("urn:x-fold:abc")}); err == nil || w.reads != 2 {
		t.Errorf("other spellings of the same name: %d reads", w.reads)
	}
	w.reads = 0
	_, _ = resolve.New(w, resolve.Options{NoSuggestions: true}).Resolve(t.Context(), nomen.Question{Name: name.MustParse("urn:x-open:Report_7")})
	if w.reads != 2 {
		t.Errorf("%d reads without suggestions", w.reads)
	}
}

// The number of suggestions is bounded, and the shorter name is always among them.
func TestManySuggestions(t *testing.T) {
	var records []*store.Record
	for _, element := range []string{"lo-1_a", "LO-1_A", "Lo-1-a", "Lo_1_a", "Lo1_a", "L0-1_a", "Lo"} {
		records = append(records, record("urn:x-open:"+element))
	}
	e := resolve.New(fill(t, records, nil), resolve.Options{})
	_, err := e.Resolve(t.Context(), nomen.Question{Name: name.MustParse("urn:x-open:Lo-1_a")})
	var none *nomen.Error
	want := []string{"urn:x-open:lo-1_a", "urn:x-open:LO-1_A", "urn:x-open:Lo-1-a", "urn:x-open:Lo_1_a", "urn:x-open:Lo"}
	if !errors.As(err, &none) || !slices.Equal(none.Suggestions, want) {
		t.Errorf("%+v", none)
	}
	e = resolve.New(fill(t, records[:6], nil), resolve.Options{})
	_, err = e.Resolve(t.Context(), nomen.Question{Name: name.MustParse("urn:x-open:Lo-1_a")})
	if want[4] = "urn:x-open:Lo1_a"; !errors.As(err, &none) || !slices.Equal(none.Suggestions, want) {
		t.Errorf("without a shorter name: %+v", none)
	}
}

// A slow store delays the answer by a bounded time, and the answer has the suggestions that were
// found.
func TestSuggestionsInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &watched{Store: memstore.New(), wait: 150 * time.Millisecond}
		nearWorld(t, w.Store)
		e := resolve.New(w, resolve.Options{})
		begin := time.Now()
		_, err := e.Resolve(t.Context(), nomen.Question{Name: name.MustParse("urn:x-open:Report-7")})
		var none *nomen.Error
		if !errors.As(err, &none) || !slices.Equal(none.Suggestions, []string{"urn:x-open:report-7"}) {
			t.Errorf("%+v", err)
		}
		// One read of the name itself; the second further one begins within the 200 ms and ends after.
		if took := time.Since(begin); took != 3*w.wait {
			t.Errorf("it took %v", took)
		}
	})
}

// If the store fails during the search, the name is unknown nevertheless.
func TestSuggestionsOfABrokenStore(t *testing.T) {
	w := &failsLater{Store: memstore.New()}
	nearWorld(t, w.Store)
	_, err := resolve.New(w, resolve.Options{}).Resolve(t.Context(), nomen.Question{Name: name.MustParse("urn:x-open:Report-7")})
	if none := (*nomen.Error)(nil); !errors.As(err, &none) || none.Kind != nomen.Unknown || none.Suggestions != nil {
		t.Errorf("%+v", err)
	}
}

// A failsLater store fails from the second read on.
type failsLater struct {
	store.Store
	read bool
}

func (f *failsLater) Get(ctx context.Context, n name.Name, at time.Time) (*store.Record, error) {
	if f.read {
		return nil, errors.New("broken")
	}
	f.read = true
	return f.Store.Get(ctx, n, at)
}
