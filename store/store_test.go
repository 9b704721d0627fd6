package store_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/storetest"
)

var when = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{
			&store.ConflictError{Key: "urn:x-a:b", Expected: 0, Current: 3},
			"store: urn:x-a:b exists already (revision 3)",
		},
		{
			&store.ConflictError{Key: "urn:x-a:b", Expected: 2, Current: 3},
			"store: urn:x-a:b was modified concurrently (revision 3, expected 2)",
		},
		{
			&store.ConflictError{Key: "urn:x-a:b", Expected: 2},
			"store: urn:x-a:b does not exist, revision 2 was expected",
		},
		{
			&store.StateError{Key: "urn:x-a:b", Rule: "is active and can never be reserved again"},
			"store: urn:x-a:b: is active and can never be reserved again",
		},
		{
			&store.LimitError{Key: strings.Repeat("k", 300), What: "key", Size: 300, Limit: 200},
			"store: " + strings.Repeat("k", 200) + "...: key: 300 exceeds the limit of 200",
		},
		{
			&store.LimitError{Key: "a\xffb", What: "note", Size: 3, Limit: 2},
			"store: a?b: note: 3 exceeds the limit of 2",
		},
		{
			&store.ChangeError{Index: 7, Reason: "no time"},
			"store: change 7 of the batch: no time",
		},
		{
			&store.VersionError{What: "rules of names", Found: 2, Known: 1},
			"store: rules of names: version 2, expected 1: a newer version of the program is needed",
		},
		{
			&store.VersionError{What: "rules of names", Found: 1, Known: 2},
			"store: rules of names: version 1, expected 2: it must be converted",
		},
		{
			&store.VersionError{What: "rules of names", Found: 1, Known: 2, How: store.ConvertByCopy},
			"store: rules of names: version 1, expected 2: it must be copied to a directory, converted there, and copied to an empty database",
		},
		{
			&store.VersionError{What: "rules of names", Found: 2, Known: 1, How: store.ConvertByCopy},
			"store: rules of names: version 2, expected 1: a newer version of the program is needed",
		},
	} {
		if got := c.err.Error(); got != c.want {
			t.Errorf("%T: %q, want %q", c.err, got, c.want)
		}
	}
}

func TestStateErrorsSayWhatToDo(t *testing.T) {
	n := name.FromKey("urn:x-a:b")
	active := &store.Change{Record: &store.Record{Name: n, Status: nomen.Active}, Time: when}
	for _, c := range []struct {
		change store.Change
		want   string
	}{
		{store.Change{Delete: n, Expected: 1}, "is active: only a reserved name can be deleted; retire it instead"},
		{
			store.Change{Record: &store.Record{Name: n, Status: nomen.Reserved}, Expected: 1},
			"is active and can never be reserved again",
		},
		{
			store.Change{Record: &store.Record{Name: n, Status: "x\n" + nomen.Status(strings.Repeat("y", 300))}, Expected: 1},
			`unknown status "x\n` + strings.Repeat("y", 198) + `..."`,
		},
	} {
		_, _, err := store.Next(4, active, &c.change)
		var got *store.StateError
		if !errors.As(err, &got) || got.Rule != c.want || got.Index != 4 || got.Key != n.Key() {
			t.Errorf("error %v, want the rule %q of change 4", err, c.want)
		}
	}
}

func TestBatchBytes(t *testing.T) {
	r := &store.Record{Name: name.FromKey("urn:x-a:b")}
	for range 15 {
		r.SameAs = append(r.SameAs, strings.Repeat("x", store.MaxText))
	}
	changes := make([]store.Change, 300)
	for i := range changes {
		changes[i] = store.Change{Record: r, Time: when}
	}
	err := store.CheckBatch(changes)
	var got *store.LimitError
	if !errors.As(err, &got) || got.What != "bytes of the batch" || got.Limit != store.MaxBatchBytes || got.Index != 273 {
		t.Errorf("a batch of 300 large records: %v, want a LimitError of change 273", err)
	}
	if err := store.CheckBatch(changes[:273]); err != nil {
		t.Errorf("a batch of 273 large records: %v", err)
	}
}

func TestSubject(t *testing.T) {
	n := name.FromKey("urn:x-a:b")
	for _, c := range []struct {
		change store.Change
		want   store.Subject
	}{
		{store.Change{}, store.Subject{}},
		{store.Change{Record: &store.Record{Name: n}}, store.Subject{Kind: store.KindName, Key: "urn:x-a:b"}},
		{store.Change{Delete: n}, store.Subject{Kind: store.KindName, Key: "urn:x-a:b"}},
		{
			store.Change{Authority: &store.Authority{Prefix: name.PrefixFromKey("urn:x-a")}},
			store.Subject{Kind: store.KindAuthority, Key: "urn:x-a"},
		},
		{store.Change{Token: &store.Token{ID: "t"}}, store.Subject{Kind: store.KindToken, Key: "t"}},
	} {
		if got := c.change.Subject(); got != c.want {
			t.Errorf("Subject of %+v: %v, want %v", c.change, got, c.want)
		}
	}
}

func TestPlanStopsAtTheStoresError(t *testing.T) {
	broken := errors.New("broken")
	changes := []store.Change{{Delete: name.FromKey("urn:x-a:b"), Time: when}}
	steps, results, err := store.Plan(changes, func(store.Subject) (*store.Change, error) { return nil, broken })
	if steps != nil || results != nil || err != broken {
		t.Errorf("Plan: %v, %v, %v", steps, results, err)
	}
}

func TestRecordJSON(t *testing.T) {
	r := storetest.Rich()
	r.Locations = r.Locations[1:2]
	r.Metadata = nomen.Metadata{"title": {"A <b> & c"}}
	r.Modified, r.Revision = when, 3
	for _, c := range []struct {
		record *store.Record
		want   string
	}{
		{r, `{"name":"URN:IETF:rfc:2648","status":"retired",` +
			`"locations":[{"url":"https://example.org/","priority":-7,"weight":1073741824,"index":1,"attributes":"id=\"0\" http_role=\"conneg\""}],` +
			`"metadata":{"title":["A <b> & c"]},"same_as":["urn:doi:10.17487/rfc2648",""],` +
			`"successors":["urn:ietf:rfc:9999","urn:ietf:rfc:9998"],"reason":"superseded ☂","show_locations":true,` +
			`"values":[{"index":1,"type":"10320/loc","data":"<locations/>","ttl":86400,"permissions":"1110","timestamp":"2020-01-01T00:00:00Z"},` +
			`{"index":2,"type":"HS_PUBKEY","data":"AP8=","format":"base64","ttl":"2030-01-01T00:00:00Z","permissions":"1100","references":"[{\"handle\":\"1/2\",\"index\":3}]"},` +
			`{"index":2147483647,"type":"","data":"Zwölf\r\n\u0000"}],` +
			`"modified":"2026-11-20T12:00:00Z","revision":3}`},
		{
			&store.Record{Name: name.FromKey("urn:x-a:b"), Status: nomen.Active},
			`{"name":"urn:x-a:b","status":"active","locations":[],"metadata":{},` +
				`"same_as":[],"successors":[],"reason":"","revision":0}`,
		},
	} {
		got, err := c.record.MarshalJSON()
		if err != nil || string(got) != c.want {
			t.Errorf("MarshalJSON: %v\n got %s\nwant %s", err, got, c.want)
		}
		if !json.Valid(got) {
			t.Errorf("not JSON: %s", got)
		}
	}
}

// lister is a Reader that can only list.
type lister struct {
	store.Reader
	n   int
	err error
}

func (l lister) List(context.Context, store.Scan) iter.Seq2[*store.Record, error] {
	return func(yield func(*store.Record, error) bool) {
		for range l.n {
			if !yield(&store.Record{}, nil) {
				return
			}
		}
		if l.err != nil {
			yield(nil, l.err)
		}
	}
}

func TestCountByListing(t *testing.T) {
	if n, exact, err := store.Count(t.Context(), lister{n: 3}); n != 3 || !exact || err != nil {
		t.Errorf("Count: %d, %t, %v, want 3, exactly", n, exact, err)
	}
	broken := errors.New("broken")
	if n, exact, err := store.Count(t.Context(), lister{n: 3, err: broken}); n != 3 || exact || err != broken {
		t.Errorf("Count of a broken store: %d, %t, %v", n, exact, err)
	}
}

// TestCloneSharesNothing also checks that a clone of a clone is the same.
func TestCloneSharesNothing(t *testing.T) {
	r := storetest.Rich()
	c := r.Clone()
	c.Locations[0].URL, c.Metadata["title"][0], c.SameAs[0] = "x", "x", "x"
	c.Metadata["new"] = []string{"x"}
	names := cmp.Comparer(func(a, b name.Name) bool { return a == b })
	if diff := cmp.Diff(r, storetest.Rich(), names); diff != "" {
		t.Errorf("changing a clone changed the original: (-got +want)\n%s", diff)
	}
	if diff := cmp.Diff(c.Clone(), c, names); diff != "" {
		t.Errorf("a clone of a clone differs: (-got +want)\n%s", diff)
	}
	if !c.SameContent(c.Clone()) || c.SameContent(r) {
		t.Error("SameContent does not distinguish a changed clone from the original")
	}
}

// planned applies changes of one name in sequence, beginning without a record.
func planned(t *testing.T, changes ...store.Change) []*store.Change {
	t.Helper()
	steps, _, err := store.Plan(changes, func(store.Subject) (*store.Change, error) { return nil, nil })
	if err != nil {
		t.Fatal(err)
	}
	var all []*store.Change
	for _, s := range steps {
		all = append(all, s.Next)
	}
	return all
}

func TestRedacts(t *testing.T) {
	n := name.FromKey("urn:x-a:b")
	record := func(redacts ...uint64) store.Change {
		return store.Change{Record: &store.Record{Name: n}, Expected: store.AnyRevision, Time: when, Redacts: redacts}
	}
	all := planned(t, record(), record(1), record(), record(2, 1, 2))
	if len(all) != 3 {
		t.Fatalf("%d revisions, want 3: a redaction always makes one, unchanged content never does", len(all))
	}
	if diff := cmp.Diff(all[2].Redacts, []uint64{1, 2}); diff != "" {
		t.Errorf("normal form of 2, 1, 2: (-got +want)\n%s", diff)
	}
	for _, c := range []struct {
		last *store.Change
		bad  store.Change
		rule string
	}{
		{nil, record(1), "revision 1 cannot be redacted: it must be before revision 1, which this change makes"},
		{all[2], record(1, 4), "revision 4 cannot be redacted: it must be before revision 4, which this change makes"},
		{all[2], record(9, 3), "revision 9 cannot be redacted: it must be before revision 4, which this change makes"},
		{nil, store.Change{Delete: n, Time: when, Redacts: []uint64{1}}, "revision 1 cannot be redacted: it must be before revision 1, which this change makes"},
	} {
		_, _, err := store.Next(2, c.last, &c.bad)
		var got *store.StateError
		if !errors.As(err, &got) || got.Rule != c.rule || got.Index != 2 || got.Key != n.Key() {
			t.Errorf("redacting %v: %v, want the rule %q of change 2", c.bad.Redacts, err, c.rule)
		}
	}
	many := record()
	many.Redacts = make([]uint64, store.MaxValues+1)
	for i := range many.Redacts {
		many.Redacts[i] = 1
	}
	var limit *store.LimitError
	if err := store.Check(0, &many); !errors.As(err, &limit) || limit.What != "redacts" {
		t.Errorf("too many revisions to redact: %v", err)
	}
	redacted := all[0].Redact()
	for _, bad := range []store.Change{
		*redacted,
		{Record: redacted.Record, Time: when},
		{Authority: &store.Authority{Prefix: name.PrefixFromKey("urn:x-a"), Redacted: true}, Time: when},
		record(0),
		{Token: &store.Token{ID: "t"}, Time: when, Redacts: []uint64{1}},
	} {
		var got *store.ChangeError
		if err := store.Check(3, &bad); !errors.As(err, &got) || got.Index != 3 {
			t.Errorf("%+v: %v, want a ChangeError", bad, err)
		}
	}
}

// TestRedact checks that Redact removes the content and nothing else.
func TestRedact(t *testing.T) {
	rich := storetest.Rich()
	gone := store.Change{Delete: name.FromKey("urn:x-a:b"), Expected: 1, Time: when, Who: "archive", Why: "mistake"}
	for what, c := range map[string]store.Change{
		"record":    {Record: rich, Expected: store.AnyRevision, Time: when, Who: "archive", Why: "moved"},
		"authority": {Authority: storetest.RichAuthority(), Expected: store.AnyRevision, Time: when, Who: "archive", Why: "moved"},
	} {
		kept := planned(t, c, c)[0]
		kept.Redacts = []uint64{7}
		got := kept.Redact()
		if !got.Redacted || got.Who != "" || got.Why != "" || got.Subject() != kept.Subject() ||
			got.Revision() != 1 || !got.Time.Equal(when) || len(got.Redacts) != 1 {
			t.Errorf("%s: %+v", what, got)
		}
		got.Redacts[0] = 8
		if kept.Redacts[0] != 7 {
			t.Errorf("%s: the redacted change shares memory with the original", what)
		}
		if r := got.Record; r != nil {
			want := &store.Record{
				Name: rich.Name, Spelling: rich.Name.Key(), Status: nomen.Retired, Modified: when, Revision: 1, Redacted: true,
			}
			if !r.SameContent(want) || r.SameContent(kept.Record) || !r.Modified.Equal(when) || r.Revision != 1 {
				t.Errorf("%s: %+v", what, r)
			}
			text, err := json.Marshal(r)
			if err != nil || !strings.Contains(string(text), `"revision":1,"redacted":true}`) || strings.Contains(string(text), "example.org") {
				t.Errorf("%s: %s, %v", what, text, err)
			}
		}
		if a := got.Authority; a != nil {
			want := &store.Authority{Prefix: kept.Authority.Prefix, Redacted: true}
			if !a.SameContent(want) || a.SameContent(kept.Authority) || !a.Modified.Equal(when) || a.Revision != 1 {
				t.Errorf("%s: %+v", what, a)
			}
		}
	}
	if got := gone.Redact(); got.Delete != gone.Delete || got.Who != "" || got.Why != "" || got.Revision() != 2 || !got.Redacted {
		t.Errorf("deletion: %+v", got)
	}
}

func TestParseHead(t *testing.T) {
	h := store.Head{Size: 12, Hash: [32]byte{1, 2}}
	if got, err := store.ParseHead(h.String()); err != nil || got != h {
		t.Errorf("%v, %v", got, err)
	}
	for _, s := range []string{"", "12", ":", "12:", "12:00", "-1:" + strings.Repeat("0", 64), "x:" + strings.Repeat("0", 64), "1:" + strings.Repeat("g", 64), "1:" + strings.Repeat("0", 66)} {
		if h, err := store.ParseHead(s); err == nil {
			t.Errorf("ParseHead(%q): %v", s, h)
		}
	}
}
