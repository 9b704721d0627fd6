package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/store"
)

// states checks every transition from one state to another. "" means that the name
// does not exist, and "deleted" that it was reserved and then deleted.
func states(s *suite) {
	const none, deleted = "", "deleted"
	allowed := map[string]string{
		none:       "reserved active retired deleted",
		deleted:    "reserved active retired deleted",
		"reserved": "reserved active retired deleted",
		"active":   "active retired",
		"retired":  "retired active",
	}
	i := 0
	for _, from := range []string{none, deleted, "reserved", "active", "retired"} {
		for _, to := range []string{"reserved", "active", "retired", deleted, "unheard", "Active"} {
			i++
			k := fmt.Sprintf("urn:x-a:%d", i)
			s.bring(k, from)
			before, keys := s.get(k), s.keys(store.Scan{})
			_, err := s.Apply(s.Context(), []store.Change{put("urn:x-a:other", "u:1", 0), step(k, to, 2)})
			if slices.Contains(strings.Fields(allowed[from]), to) {
				s.reached(k, from, to, err)
				continue
			}
			if got := (*store.StateError)(nil); !errors.As(err, &got) || got.Index != 1 || got.Key != k || got.Rule == "" {
				s.Errorf("from %q to %q: error %v, want a StateError of change 1", from, to, err)
			}
			s.equal("after a refused change", s.get(k), before)
			s.equal("keys", s.keys(store.Scan{}), keys)
		}
	}
}

func step(k, state string, n int) store.Change {
	if state == "deleted" {
		return remove(k, n)
	}
	return write(&store.Record{Name: key(k), Status: nomen.Status(state), Reason: fmt.Sprint(n)}, n)
}

// bring brings the name k into a state. The name must have no history.
func (s *suite) bring(k, state string) {
	s.Helper()
	switch state {
	case "":
	case "deleted":
		s.apply(step(k, "reserved", 0), step(k, state, 1))
	default:
		s.apply(step(k, state, 0))
	}
}

func (s *suite) reached(k, from, to string, err error) {
	s.Helper()
	r := s.get(k)
	switch {
	case err != nil:
		s.Errorf("from %q to %q: %v", from, to, err)
	case to == "deleted" && r != nil, to != "deleted" && (r == nil || string(r.Status) != to):
		s.Errorf("from %q to %q: then it is %+v", from, to, r)
	}
}

func deletion(s *suite) {
	k := "urn:x-a:b"
	s.equal("of nothing", s.apply(remove(k, 0), expecting(0, remove(k, 0))), []store.Result{already(0), already(0)})
	s.conflict(expecting(1, remove(k, 0)), 1, 0)
	s.apply(reserve(k, 0))
	s.conflict(expecting(0, remove(k, 1)), 0, 1)
	s.equal("of a reserved name", s.apply(expecting(1, remove(k, 1))), []store.Result{changed(2)})
	s.equal("a deleted name", s.get(k), (*store.Record)(nil))
	s.equal("List after the deletion", s.keys(store.Scan{}), []string(nil))
	s.equal("again", s.apply(remove(k, 2)), []store.Result{already(2)})
	s.conflict(expecting(2, put(k, "u:1", 3)), 2, 0)
	s.equal("made again", s.apply(expecting(0, put(k, "u:1", 3))), []store.Result{changed(3)})
	for n, want := range []uint64{1, 0, 0, 3} {
		got := uint64(0)
		if r := s.getAt(k, minute(n)); r != nil {
			got = r.Revision
		}
		if got != want {
			s.Errorf("revision at minute %d: %d, want %d", n, got, want)
		}
	}
}

// reactivation checks that a retired name can become active again, and that its
// tombstone stays in the history.
func reactivation(s *suite) {
	k := "urn:x-a:b"
	tomb := write(&store.Record{Name: key(k), Status: nomen.Retired, Reason: "withdrawn", Successors: []string{"urn:x-a:c"}}, 1)
	s.apply(put(k, "u:1", 0), tomb)
	tomb.Record.Reason, tomb.Time = "withdrawn by mistake", minute(2)
	s.apply(tomb)
	s.apply(put(k, "u:1", 3))
	for n, want := range []nomen.Status{nomen.Active, nomen.Retired, nomen.Retired, nomen.Active} {
		if got := s.getAt(k, minute(n)); got == nil || got.Status != want {
			s.Errorf("at minute %d: %+v, want %s", n, got, want)
		}
	}
	if got := s.getAt(k, time.Time{}); got.Revision != 4 || got.Reason != "" {
		s.Errorf("active again: %+v", got)
	}
}
