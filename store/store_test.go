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
			"store: urn:x-a:b has revision 3, not 2: somebody changed it in between",
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
			"store: " + strings.Repeat("k", 200) + "...: key: 300, more than 200",
		},
		{
			&store.LimitError{Key: "a\xffb", What: "note", Size: 3, Limit: 2},
			"store: a?b: note: 3, more than 2",
		},
		{
			&store.ChangeError{Index: 7, Reason: "no time"},
			"store: change 7 of the batch: no time",
		},
		{
			&store.VersionError{What: "rules of names", Found: 2, Known: 1},
			"store: rules of names: version 2, not 1: a newer program is needed",
		},
		{
			&store.VersionError{What: "rules of names", Found: 1, Known: 2},
			"store: rules of names: version 1, not 2: it has to be converted first",
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
			`"locations":[{"url":"https://example.org/","priority":-7,"weight":1073741824}],` +
			`"metadata":{"title":["A <b> & c"]},"same_as":["urn:doi:10.17487/rfc2648",""],` +
			`"successors":["urn:ietf:rfc:9999","urn:ietf:rfc:9998"],"reason":"superseded ☂",` +
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

// TestCloneSharesNothing also holds that a clone of a clone is the same.
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
		t.Error("SameContent does not tell clones and originals apart")
	}
}
