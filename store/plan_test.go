package store_test

import (
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// drawChange draws a change of one of a few names, not in normal form.
func drawChange(t *rapid.T) store.Change {
	key := rapid.SampledFrom([]string{"urn:a:1", "urn:a:2", "urn:b:1", "urn:c:1"}).Draw(t, "key")
	at := time.Unix(int64(rapid.IntRange(0, 3).Draw(t, "time")), 1500)
	c := store.Change{Expected: store.AnyRevision, Time: at, Who: "w"}
	switch rapid.IntRange(0, 9).Draw(t, "kind") {
	case 0:
		c.Authority = &store.Authority{Prefix: name.PrefixFromKey(key), Owners: []string{}, Hosts: []string{"h"}}
	case 1:
		c.Token = &store.Token{ID: key, Role: "editor"}
	case 2:
		c.Delete = name.FromKey(key)
	default:
		c.Record = &store.Record{
			Name:      name.FromKey(key),
			Status:    rapid.SampledFrom([]nomen.Status{"", nomen.Active, nomen.Reserved, nomen.Retired}).Draw(t, "status"),
			Locations: rapid.SampledFrom([][]nomen.Location{nil, {}, {{URL: "u:1"}}, {{URL: "u:2"}, {URL: "u:1"}}}).Draw(t, "locations"),
			Metadata:  rapid.SampledFrom([]nomen.Metadata{nil, {}, {"title": {"x"}}, {"title": {"y"}, "none": {}}, {"none": nil}}).Draw(t, "metadata"),
			SameAs:    rapid.SampledFrom([][]string{nil, {}, {"urn:d:1"}}).Draw(t, "same_as"),
			Modified:  at,
		}
		c.Redacts = rapid.SampledFrom([][]uint64{nil, nil, nil, {}, {1}, {2, 1, 2}}).Draw(t, "redacts")
	}
	if rapid.IntRange(0, 4).Draw(t, "whether expected") == 0 {
		c.Expected = uint64(rapid.IntRange(0, 2).Draw(t, "expected"))
	}
	return c
}

// TestPlanner checks that a Planner returns what Plan does for successive batches without
// modifying the changes, and that Prior is the step that made Last.
func TestPlanner(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kept := map[store.Subject]*store.Change{}
		last := func(s store.Subject) (*store.Change, error) { return kept[s], nil }
		var p store.Planner
		for range 3 {
			changes := rapid.SliceOfN(rapid.Custom(drawChange), 0, 6).Draw(t, "changes")
			before := make([]*store.Change, len(changes))
			for i := range changes {
				before[i] = changes[i].Clone()
			}
			want, wantResults, wantErr := store.Plan(changes, last)
			got, results, err := p.Plan(changes, last)
			if !reflect.DeepEqual(results, wantResults) || !reflect.DeepEqual(err, wantErr) || len(got) != len(want) {
				t.Fatalf("Planner.Plan: %d steps, %v, %v, want %d steps, %v, %v", len(got), results, err, len(want), wantResults, wantErr)
			}
			for i, step := range got {
				if !reflect.DeepEqual(step, want[i]) {
					t.Errorf("step %d: %+v, want %+v", i, step, want[i])
				}
				if prior := step.Prior; prior > 0 && step.Last != got[prior-1].Next || prior == 0 && step.Last != kept[step.Subject] {
					t.Errorf("step %d: Prior is %d, and Last is not its change", i, prior)
				}
			}
			for i := range changes {
				if !reflect.DeepEqual(changes[i].Clone(), before[i]) {
					t.Errorf("change %d is %+v afterwards, was %+v", i, changes[i], before[i])
				}
			}
			for _, step := range want {
				kept[step.Subject] = step.Next
			}
			p.Reset()
		}
	})
}

// TestPlannerAllocs checks that a Planner allocates only the list of results.
func TestPlannerAllocs(t *testing.T) {
	changes := []store.Change{}
	for _, key := range []string{"urn:a:1", "urn:a:3", "urn:a:2"} {
		changes = append(changes, store.Change{
			Record: &store.Record{
				Name:      name.FromKey(key),
				Locations: []nomen.Location{{URL: "u:1"}},
				Metadata:  nomen.Metadata{"title": {"x"}},
			},
			Expected: store.AnyRevision, Time: time.Unix(0, 0),
		})
	}
	var p store.Planner
	none := func(store.Subject) (*store.Change, error) { return nil, nil }
	n := testing.AllocsPerRun(100, func() {
		if steps, _, err := p.Plan(changes, none); len(steps) != 3 || err != nil {
			t.Fatal(steps, err)
		}
		p.Reset()
	})
	if n > 1 {
		t.Errorf("%v allocations, want 1", n)
	}
}
