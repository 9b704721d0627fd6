package registrar

import (
	"context"
	"errors"
	"testing"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

func is[E error](err error) bool {
	return errors.As(err, new(E))
}

func TestNeverForgotten(t *testing.T) {
	d := newDesk(t)
	n := name.MustParse(alb)
	d.good(d.put(&store.Record{Spelling: alb, Status: nomen.Reserved}))
	if _, err := d.Delete(d.ctx, Operator(), n, store.AnyRevision, ""); err != nil {
		t.Fatalf("Delete of a reserved name: %v", err)
	}
	if _, err := d.Delete(d.ctx, Operator(), n, store.AnyRevision, ""); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Delete of no name: %v", err)
	}
	d.good(d.put(&store.Record{Spelling: alb}))
	if _, err := d.Delete(d.ctx, Operator(), n, store.AnyRevision, ""); !is[*store.StateError](err) {
		t.Errorf("Y95-22: Delete of an active name: %v", err)
	}
	if out := d.put(&store.Record{Spelling: alb, Status: nomen.Reserved}); !is[*store.StateError](out.Err) {
		t.Errorf("Y95-22: active to reserved: %v", out.Err)
	}
	if _, err := d.Delete(d.ctx, editor("urn:dns:example.com"), n, store.AnyRevision, ""); !is[*DeniedError](err) {
		t.Errorf("Delete by a stranger: %v", err)
	}
}

func TestRetire(t *testing.T) {
	d := newDesk(t)
	n := name.MustParse(alb)
	retire := func(a Actor, r Retirement) (Outcome, error) { return d.Retire(d.ctx, a, n, r, "") }
	if _, err := retire(Operator(), Retirement{Reason: "lost", Expected: store.AnyRevision}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Retire of no name: %v", err)
	}
	d.good(d.put(&store.Record{Spelling: alb, Locations: places("https://example.org/1"), Successors: []string{"urn:dns:example.org:hint"}}))
	if _, err := retire(Operator(), Retirement{Expected: store.AnyRevision}); !is[*RefusalError](err) {
		t.Errorf("Retire without reason: %v", err)
	}
	if _, err := retire(Operator(), Retirement{Reason: "lost", Expected: 7}); !is[*store.ConflictError](err) {
		t.Errorf("Retire of another revision: %v", err)
	}
	out, err := retire(editor(), Retirement{Reason: "lost", Expected: 1})
	if err != nil {
		t.Fatalf("Retire: %v", err)
	}
	if r := out.Record; r.Status != nomen.Retired || r.Reason != "lost" || len(r.Locations) != 1 || len(r.Successors) != 1 || r.Revision != 2 {
		t.Errorf("Y95-25: tombstone %+v", r)
	}
	out, err = retire(editor(), Retirement{Reason: "lost", Successors: []string{"urn:dns:example.org:new"}, Expected: store.AnyRevision})
	if err != nil || out.Record.Successors[0] != "urn:dns:example.org:new" || len(out.Record.Successors) != 1 {
		t.Errorf("Retire with a successor: %+v, %v", out.Record, err)
	}
}

func TestBackFromRetirement(t *testing.T) {
	d := newDesk(t)
	d.good(d.put(&store.Record{Spelling: alb, Status: nomen.Retired, Reason: "lost"}))
	back := Request{Record: &store.Record{Spelling: alb, Status: nomen.Active}, Fields: FieldStatus, Expected: store.AnyRevision}
	if out := d.ask(Operator(), back); !is[*RefusalError](out.Err) {
		t.Errorf("back whatever the revision: %v", out.Err)
	}
	back.Expected = 1
	if out := d.ask(editor(), back); !is[*DeniedError](out.Err) {
		t.Errorf("back by an editor: %v", out.Err)
	}
	out := d.good(d.ask(actor(Owner), back))
	if out.Record.Status != nomen.Active || out.Record.Reason != "" {
		t.Errorf("back: %+v; want active without reason", out.Record)
	}
}

func TestNoReasonIsWarnedAbout(t *testing.T) {
	d := newDesk(t)
	out := d.good(d.put(&store.Record{Spelling: alb, Status: nomen.Retired}))
	if len(out.Warnings) != 1 || out.Warnings[0].Code != WarnNoReason {
		t.Errorf("warnings %v, want %s", out.Warnings, WarnNoReason)
	}
}

// A client that gives a reserved name a location, but no status, gets a warning that the name does not
// resolve.
func TestStaysReserved(t *testing.T) {
	one, two := []nomen.Location{{URL: "https://example.org/1"}}, []nomen.Location{{URL: "https://example.org/2"}}
	for _, tt := range []struct {
		name string
		was  *store.Record // nil if the name does not exist
		req  Request
		want bool
	}{
		{"location added", &store.Record{Status: nomen.Reserved}, Request{Record: &store.Record{Locations: one}, Fields: FieldLocations, Add: true}, true},
		{"location changed", &store.Record{Status: nomen.Reserved, Locations: two}, Request{Record: &store.Record{Locations: one}, Fields: FieldLocations}, true},
		{"replaced without status", &store.Record{Status: nomen.Reserved}, Request{Record: &store.Record{Locations: one}}, true},
		{"status given", &store.Record{Status: nomen.Reserved}, Request{Record: &store.Record{Status: nomen.Reserved, Locations: one}}, false},
		{"published", &store.Record{Status: nomen.Reserved}, Request{Record: &store.Record{Status: nomen.Active, Locations: one}}, false},
		{"same location", &store.Record{Status: nomen.Reserved, Locations: one}, Request{Record: &store.Record{Locations: one, Metadata: nomen.Metadata{"title": {"A"}}}, Fields: FieldLocations | FieldMetadata}, false},
		{"location removed", &store.Record{Status: nomen.Reserved, Locations: one}, Request{Record: &store.Record{}, Fields: FieldLocations}, false},
		{"active", &store.Record{Status: nomen.Active}, Request{Record: &store.Record{Locations: one}, Fields: FieldLocations}, false},
		{"new", nil, Request{Record: &store.Record{Status: nomen.Reserved, Locations: one}}, false},
	} {
		d := newDesk(t)
		if tt.was != nil {
			tt.was.Spelling = alb
			d.good(d.put(tt.was))
		}
		tt.req.Record.Spelling, tt.req.Expected, tt.req.OrCreate = alb, store.AnyRevision, true
		out := d.good(d.ask(Operator(), tt.req))
		if got := len(out.Warnings) == 1 && out.Warnings[0].Code == WarnReserved; got != tt.want || !got && len(out.Warnings) > 0 {
			t.Errorf("%s: warnings %v, want one about the status: %v", tt.name, out.Warnings, tt.want)
		}
	}
}

func TestExpected(t *testing.T) {
	old, fresh := &store.Record{Spelling: alb}, &store.Record{Spelling: alb, SameAs: []string{"ark:12345/x"}}
	for _, c := range []struct {
		what     string
		there    bool // old, at revision 1
		rec      *store.Record
		expected uint64
		orCreate bool
		conflict bool
		changed  bool
	}{
		{"create", false, fresh, 0, false, false, true},
		{"create what is there", true, fresh, 0, false, true, false},
		{"create what is there so", true, old, 0, false, true, false},
		{"the right one", true, fresh, 1, false, false, true},
		{"another", true, fresh, 2, false, true, false},
		{"another, and it is so", true, old, 2, false, false, false},
		{"one of nothing", false, fresh, 2, false, true, false},
		{"one of nothing, or create", false, fresh, 2, true, false, true},
		{"another, or create", true, fresh, 2, true, true, false},
		{"any", true, fresh, store.AnyRevision, false, false, true},
		{"any of nothing", false, fresh, store.AnyRevision, false, false, true},
	} {
		d := newDesk(t)
		if c.there {
			d.good(d.put(old))
		}
		out := d.ask(Operator(), Request{Record: c.rec, Expected: c.expected, OrCreate: c.orCreate})
		if got := is[*store.ConflictError](out.Err); got != c.conflict || out.Result.Changed != c.changed || out.Err != nil && !got {
			t.Errorf("%s: changed %t, %v; want changed %t, conflict %t", c.what, out.Result.Changed, out.Err, c.changed, c.conflict)
		}
	}
}

func TestApplyKeepsTheGoodOnes(t *testing.T) {
	d := newDesk(t)
	d.good(d.put(&store.Record{Spelling: "urn:dns:example.org:there"}))
	req := func(spelling string, expected uint64, same ...string) Request {
		return Request{Record: &store.Record{Spelling: spelling, SameAs: same}, Fields: FieldSameAs, Add: true, Expected: expected}
	}
	reqs := []Request{
		req("urn:dns:example.org:1", 0),
		req("no name", 0),
		req("urn:dns:example.org:there", 0),                    // exists
		req("urn:dns:example.org:there", 1, "ark:12345/x"),     // 2
		req("urn:dns:example.org:there", 1, "ark:12345/y"),     // builds on it: 3
		req("urn:dns:example.org:there", 2, "ark:12345/z"),     // contradicts it
		req("urn:dns:example.org:there", 3, "ark:12345/z"),     // 4
		req("urn:dns:example.org:1", 1, "ark:12345/x"),         // 2
		req("urn:dns:example.org:1", store.AnyRevision, "x:y"), // 3
		req("urn:dns:example.org:1", store.AnyRevision, "x:y"), // the same
	}
	want := []uint64{1, 0, 0, 2, 3, 0, 4, 2, 3, 3}
	preview, err := d.Preview(d.ctx, Operator(), reqs)
	if err != nil {
		t.Fatal(err)
	}
	outs, err := d.Apply(d.ctx, Operator(), reqs, "")
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range want {
		if got := outs[i].Result.Revision; got != w || (outs[i].Err == nil) != (w > 0) {
			t.Errorf("request %d: revision %d, %v; want %d", i, got, outs[i].Err, w)
		}
		if p := preview[i].Result; p != outs[i].Result {
			t.Errorf("request %d: preview %+v, outcome %+v", i, p, outs[i].Result)
		}
	}
	got, err := d.Get(d.ctx, name.MustParse("urn:dns:example.org:there"))
	if err != nil || len(got.SameAs) != 3 || got.Revision != 4 {
		t.Errorf("there: %+v, %v", got, err)
	}
}

// A meddler is a store in which a name is changed concurrently just before a batch is
// written.
type meddler struct {
	store.Store
	times int
}

func (m *meddler) Apply(ctx context.Context, changes []store.Change) ([]store.Result, error) {
	if m.times > 0 {
		m.times--
		rec, err := m.Get(ctx, changes[0].Record.Name, noon)
		if err != nil {
			return nil, err
		}
		rec.SameAs = append(rec.SameAs, "ark:12345/"+string(rune('a'+m.times)))
		if _, err := m.Store.Apply(ctx, []store.Change{{Record: rec, Expected: store.AnyRevision, Time: noon}}); err != nil {
			return nil, err
		}
	}
	return m.Store.Apply(ctx, changes)
}

func TestOthersChangeAtTheSameTime(t *testing.T) {
	d := newDesk(t)
	d.good(d.put(&store.Record{Spelling: alb}))
	m := &meddler{Store: d.store, times: 3}
	d.Registrar = New(m, Options{Now: d.now})
	outs, err := d.Apply(d.ctx, Operator(), []Request{
		{Record: &store.Record{Spelling: alb, Successors: []string{"urn:dns:example.org:s"}}, Fields: FieldSuccessors, Add: true, Expected: store.AnyRevision},
		{Record: &store.Record{Spelling: "urn:dns:example.org:other"}, Expected: 0},
	}, "")
	if err != nil || outs[0].Err != nil || outs[1].Err != nil {
		t.Fatalf("Apply: %v, %v, %v", err, outs[0].Err, outs[1].Err)
	}
	if r := outs[0].Record; len(r.SameAs) != 3 || len(r.Successors) != 1 || r.Revision != 5 {
		t.Errorf("got %+v; want the changes of all", r)
	}

	m.times = 1
	outs, err = d.Apply(d.ctx, Operator(), []Request{
		{Record: &store.Record{Spelling: alb}, Expected: 5},
		{Record: &store.Record{Spelling: "urn:dns:example.org:more"}, Expected: 0},
	}, "")
	if err != nil || !is[*store.ConflictError](outs[0].Err) || outs[1].Err != nil {
		t.Errorf("expecting revision 5: %v, %v, %v", err, outs[0].Err, outs[1].Err)
	}
}

func TestTooLarge(t *testing.T) {
	d := newDesk(t)
	outs, err := d.Apply(d.ctx, Operator(), []Request{
		{Record: &store.Record{Spelling: alb, Locations: make1001()}, Expected: 0},
		{Record: &store.Record{Spelling: "urn:dns:example.org:ok"}, Expected: 0},
	}, "")
	if err != nil || !is[*store.LimitError](outs[0].Err) || outs[1].Err != nil {
		t.Errorf("got %v, %v, %v; want a limit, and the other in", err, outs[0].Err, outs[1].Err)
	}
}

func make1001() []nomen.Location {
	all := make([]nomen.Location, store.MaxLocations+1)
	for i := range all {
		all[i].URL = "https://example.org/"
	}
	return all
}

func TestStoreFails(t *testing.T) {
	d := newDesk(t)
	d.good(d.put(&store.Record{Spelling: alb}))
	if err := d.store.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Apply(d.ctx, Operator(), []Request{{Record: &store.Record{Spelling: alb}}}, ""); !errors.Is(err, store.ErrClosed) {
		t.Errorf("Apply on a closed store: %v", err)
	}
}
