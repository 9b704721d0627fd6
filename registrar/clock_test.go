package registrar_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
)

// shared is a store with a clock that its nodes share.
type shared struct {
	*memstore.Store
	now func() time.Time
}

func (s shared) Clock(context.Context) (time.Time, error) { return s.now(), nil }

// TestClock checks that no changes are made while the clock is far behind the last change, or
// far from the clock of the database, until it is right or accepted.
func TestClock(t *testing.T) {
	ctx, right := t.Context(), time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)
	now := right
	var database atomic.Value // of time.Time: it is asked in the background
	database.Store(right)
	s := shared{memstore.New(), func() time.Time { return database.Load().(time.Time) }}
	open := func(anyTime bool) *registrar.Registrar {
		return registrar.New(s, registrar.Options{Now: func() time.Time { return now }, AnyTime: anyTime})
	}
	parse := func(n string) name.Name {
		parsed, err := name.Parse(n)
		if err != nil {
			t.Fatal(err)
		}
		return parsed
	}
	n := 0
	put := func(r *registrar.Registrar, spelling string) error {
		n++
		_, err := r.Put(ctx, registrar.Operator(), registrar.Request{
			Record:   &store.Record{Spelling: spelling, Status: nomen.Active, Locations: []nomen.Location{{URL: "https://example.org/" + strings.Repeat("x", n)}}},
			Expected: store.AnyRevision, OrCreate: true,
		}, "")
		return err
	}
	modified := func(spelling string) time.Time {
		rec, err := s.Get(ctx, parse(spelling), time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		return rec.Modified
	}
	isAway := func(what string, err error, words string) {
		t.Helper()
		if away := (*store.AwayError)(nil); !errors.As(err, &away) || !strings.Contains(away.Cause, words) || !away.Clock {
			t.Errorf("%s: %v, want an AwayError that says %q and how to go on", what, err, words)
		}
	}
	r := open(false)
	if err := errors.Join(put(r, "urn:x-a:1"), r.CheckClock(ctx)); err != nil {
		t.Fatal(err)
	}

	// The clock is set back while the registrar runs, and before another one starts.
	now = right.Add(-25 * time.Hour)
	database.Store(now)
	isAway("a clock that was set back", put(r, "urn:x-a:2"), "before the last change (2026-11-22T10:00:00Z)")
	isAway("the same at the start", put(open(false), "urn:x-a:2"), "before the last change (2026-11-22T10:00:00Z)")
	if _, err := r.PutAuthority(ctx, registrar.Operator(), &store.Authority{Prefix: prefix(t, "urn:x-a")}, 0, ""); err == nil {
		t.Error("an authority was made")
	}
	if _, err := r.Delete(ctx, registrar.Operator(), parse("urn:x-a:1"), store.AnyRevision, ""); err == nil {
		t.Error("a name was deleted")
	}
	// ClockProblem returns the problem even if no change is made, and also after a start.
	fresh := open(false)
	wrong := func(r *registrar.Registrar, want string) {
		t.Helper()
		cause := ""
		for until := time.Now().Add(time.Minute); time.Now().Before(until); time.Sleep(time.Millisecond) {
			if cause = ""; r.ClockProblem() != nil {
				cause = r.ClockProblem().Cause
			}
			if cause == want {
				return
			}
		}
		t.Errorf("ClockProblem: %q, want %q", cause, want)
	}
	const before, apart = "the clock is more than a day before the last change", "the clock of this machine is more than a day from that of the database"
	wrong(fresh, before)
	wrong(r, before)
	if e := open(true).ClockProblem(); e != nil {
		t.Errorf("a clock that is accepted: %v", e)
	}

	if err := put(open(true), "urn:x-a:2"); err != nil || !modified("urn:x-a:2").Equal(now) {
		t.Errorf("accepted: %v, %v", err, modified("urn:x-a:2"))
	}

	// The clock is right again: no restart is needed.
	now = right.Add(time.Minute)
	database.Store(now)
	if err := put(r, "urn:x-a:3"); err != nil || !modified("urn:x-a:3").Equal(now) {
		t.Errorf("a clock that is right again: %v, %v", err, modified("urn:x-a:3"))
	}

	wrong(fresh, "")

	// The clock is far ahead of the clock of the database: no change gets that time.
	now = right.AddDate(64, 0, 0)
	wrong(fresh, apart)
	isAway("a clock that is far ahead", put(r, "urn:x-a:4"), "more than a day from that of the database (2026-11-22T10:01:00Z)")

	// Both clocks were far ahead, and are right again.
	database.Store(now)
	now = now.Add(2 * time.Second) // after this time, the registrar reads the store again
	wrong(fresh, "")
	if err := put(r, "urn:x-a:5"); err != nil {
		t.Fatal(err)
	}
	now = right.Add(2 * time.Minute)
	database.Store(now)
	isAway("after a clock that was far ahead", put(open(false), "urn:x-a:6"), "before the last change (2090-11-22")
	accepting := open(true)
	if err := errors.Join(put(accepting, "urn:x-a:6"), put(accepting, "urn:x-a:5")); err != nil {
		t.Fatal(err)
	}
	if got := modified("urn:x-a:6"); !got.Equal(now) {
		t.Errorf("another name is dated %v, want %v", got, now)
	}
	if got := modified("urn:x-a:5"); got.Year() != 2090 {
		t.Errorf("the name of 2090 is dated %v", got)
	}
}

func prefix(t *testing.T, s string) name.Prefix {
	t.Helper()
	p, err := name.ParsePrefix(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
