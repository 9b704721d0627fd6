package storetest

import (
	"strings"
	"time"

	"github.com/nomen-project/nomen/store"
)

// clocks checks the effect of a change that was made while the clock was far ahead: the store
// rejects later changes, instead of silently giving them the wrong time.
func clocks(s *suite) {
	const day = 24 * 60
	future := 64 * 365 * day
	k := "urn:x-a:b"
	s.apply(put(k, "u:1", 5))
	s.apply(put(k, "u:2", future))
	s.apply(put("urn:x-a:c", "u:1", 6)) // the times of other names do not matter
	s.modified("another name", "urn:x-a:c", minute(6))
	refused := func(what string, changes ...store.Change) {
		s.Helper()
		if got := refusal[*store.StateError](s, changes...); got.Index != len(changes)-1 || got.Key != k || !got.Clock {
			s.Errorf("%s: %v, want a StateError of change %d that says how to go on", what, got, len(changes)-1)
		}
	}
	refused("a change", put(k, "u:3", 6))
	refused("a change after another", put("urn:x-a:d", "u:1", 6), put(k, "u:3", 6))
	refused("a change more than a day before", put(k, "u:3", future-day-1))
	if r := s.apply(put(k, "u:2", 6)); r[0].Changed {
		s.Errorf("what is so already: %+v, want no change", r)
	}
	accepted := put(k, "u:3", 6)
	accepted.AnyTime = true
	s.apply(accepted)
	s.modified("accepted", k, minute(future))
	if got := s.get(k).Revision; got != 3 {
		s.Errorf("accepted: revision %d, want 3", got)
	}
	refused("a change after one that was accepted", put(k, "u:4", 6))
	s.apply(put(k, "u:4", future-day)) // the difference is exactly the maximum
	s.modified("within the bound", k, minute(future))
	s.sealed()
	for _, e := range s.entries(0) {
		if e.Change.AnyTime {
			s.Errorf("a store keeps AnyTime: %+v", e)
		}
	}
	k = "urn:x-a:e"
	s.apply(reserve(k, future), remove(k, future))
	refused("a name that was deleted in the future", reserve(k, 6))
}

func tokenClock(s *suite) {
	future := 64 * 365 * 24 * 60
	token := store.Change{Token: &store.Token{ID: "t1", Who: "a", Created: minute(future)}, Expected: store.AnyRevision, Time: minute(future)}
	s.apply(token)
	revoked := store.Change{Token: token.Token.Clone(), Expected: store.AnyRevision, Time: minute(7)}
	revoked.Token.Revoked = true
	s.apply(revoked)
}

// verifyingClock checks that Verify reports all changes with times in the future as one fault.
func verifyingClock(s *suite) {
	now := time.Now()
	at := func(k string, t time.Time) store.Change {
		c := put(k, "u:1", 0)
		c.Time = t
		return c
	}
	s.apply(at("urn:x-a:a", now.Add(-time.Hour)), at("urn:x-a:b", now.Add(store.ClockTolerance/2)))
	s.sealed()
	if got := faults(s.T, s.Store); len(got) > 0 {
		s.Errorf("clocks that are in order: %v", got)
	}
	far := now.Add(64 * 365 * 24 * time.Hour)
	s.apply(at("urn:x-a:c", now.Add(time.Hour)), at("urn:x-a:d", far), at("urn:x-a:e", now))
	s.sealed()
	got := faults(s.T, s.Store)
	if len(got) != 1 || got[0].Subject.Key != "urn:x-a:c" || got[0].Seq != 3 ||
		!strings.Contains(got[0].Problem, "2 changes from this one to change 4") || !strings.Contains(got[0].Problem, far.UTC().Format("2006-01-02")) {
		s.Errorf("got %+v, want one fault of change 3 that tells of two", got)
	}
}
