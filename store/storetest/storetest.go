// Package storetest checks that a store keeps the contract of package store:
// [Run] is the suite, [Reopen] what must be true after the store was closed or
// crashed, [Damages] that Verify finds what was done to it, [Backup] that its
// copies are copies, [Same] compares stores with a plain model under random
// operations, and [Bench] and its like measure. What a store is not able to do,
// by the interfaces that it has, is not asked of it.
//
// A failure says what the store did, and then what it promised. The suites name
// the requirements of the specification that they check, such as Y95-22.
package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// Open returns a new, empty store. Whoever gets it closes it; closing it a second
// time at the end of the test must do no harm.
type Open func(t *testing.T) store.Store

// Run checks everything that can be seen while a store is open.
func Run(t *testing.T, open Open) {
	for _, c := range []struct {
		name string
		test func(s *suite)
	}{
		{"Missing", missing},
		{"RoundTrip", roundTrip},
		{"NormalForm", normalForm},
		{"Bytes", anyBytes},
		{"Ownership", ownership},
		{"Unchanged", unchanged},
		{"Expected", expected},
		{"AllOrNothing", allOrNothing},
		{"OneNameTwice", oneNameTwice},
		{"NotAChange", notAChange},
		{"Limits", limits},
		{"LargeBatch", largeBatch},
		{"States/Y95-22,Y95-25", states},
		{"Deletion/Y95-22", deletion},
		{"Reactivation/Y95-25", reactivation},
		{"List", list},
		{"KeyOrder", keyOrder},
		{"LongKeys", longKeys},
		{"ListOneMoment", listOneMoment},
		{"ListWhileWriting", listWhileWriting},
		{"Times", times},
		{"At", at},
		{"ListAt", listAt},
		{"History", history},
		{"Authorities", authorities},
		{"AuthorityHistory", authorityHistory},
		{"Clock", clocks},
		{"VerifyClock", verifyingClock},
		{"Tokens", tokens},
		{"AllTokens", allTokens},
		{"Records", records},
		{"Count", counting},
		{"Find", finding},
		{"Aliased", aliased},
		{"Feed", feed},
		{"FeedWhileWriting", feedWhileWriting},
		{"FeedSettled", feedSettled},
		{"Proofs", proofs},
		{"Redaction", redaction},
		{"Verify", verifying},
		{"Load", loading},
		{"LoadResumed", loadResumed},
		{"LostUpdate", lostUpdate},
		{"ManyWriters", manyWriters},
		{"Cancelled", cancelled},
		{"Stopped", stopped},
		{"Close", closing},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := open(t)
			t.Cleanup(func() { _ = s.Close() })
			c.test(&suite{T: t, Store: s, open: open})
		})
	}
}

// A suite is one test with its store.
type suite struct {
	*testing.T
	store.Store
	open Open // opens another
	kept int  // how many changes apply has added to the log
}

// minute returns the time n minutes after the epoch of the suite.
func minute(n int) time.Time {
	return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC).Add(time.Duration(n) * time.Minute)
}

func key(s string) name.Name { return name.FromKey(s) }

// put is a change of whatever is there, to an active record with one location.
func put(k, url string, n int) store.Change {
	return write(&store.Record{
		Name:      key(k),
		Status:    nomen.Active,
		Locations: []nomen.Location{{URL: url}},
	}, n)
}

func reserve(k string, n int) store.Change {
	return write(&store.Record{Name: key(k), Status: nomen.Reserved}, n)
}

func write(r *store.Record, n int) store.Change {
	return store.Change{Record: r, Expected: store.AnyRevision, Time: minute(n), Who: "archive", Why: "test"}
}

func remove(k string, n int) store.Change {
	return store.Change{Delete: key(k), Expected: store.AnyRevision, Time: minute(n)}
}

func expecting(revision uint64, c store.Change) store.Change {
	c.Expected = revision
	return c
}

// changed is the result of a change that led to a revision.
func changed(revision uint64) store.Result { return store.Result{Revision: revision, Changed: true} }

// already is the result of a change to what was so.
func already(revision uint64) store.Result { return store.Result{Revision: revision} }

// apply is Apply that must succeed.
func (s *suite) apply(changes ...store.Change) []store.Result {
	s.Helper()
	results, err := s.Apply(s.Context(), changes)
	if err != nil {
		s.Fatalf("Apply: %v", err)
	}
	if len(results) != len(changes) {
		s.Fatalf("Apply of %d changes gave %d results", len(changes), len(results))
	}
	for i, r := range results {
		if r.Changed && changes[i].Token == nil {
			s.kept++
		}
	}
	return results
}

// refused is Apply that must fail; it returns the error.
func (s *suite) refused(changes ...store.Change) error {
	s.Helper()
	results, err := s.Apply(s.Context(), changes)
	if err == nil {
		s.Fatalf("Apply was not refused: %+v", results)
	}
	if results != nil {
		s.Errorf("Apply was refused, with results: %+v", results)
	}
	return err
}

// get returns the record as of now, nil if there is none.
func (s *suite) get(k string) *store.Record {
	s.Helper()
	return s.getAt(k, time.Time{})
}

func (s *suite) getAt(k string, at time.Time) *store.Record {
	s.Helper()
	r, err := s.Get(s.Context(), key(k), at)
	if err == store.ErrNotFound && r == nil {
		return nil
	}
	if err != nil || r == nil {
		s.Fatalf("Get(%q): %v, %v", k, r, err)
	}
	return r
}

// keys lists the keys of a scan.
func (s *suite) keys(scan store.Scan) []string {
	s.Helper()
	var keys []string
	for _, r := range s.list(s.Context(), scan) {
		keys = append(keys, r.Name.Key())
	}
	return keys
}

func (s *suite) list(ctx context.Context, scan store.Scan) []*store.Record {
	s.Helper()
	var all []*store.Record
	for r, err := range s.List(ctx, scan) {
		if err != nil {
			s.Fatalf("List(%+v): %v", scan, err)
		}
		all = append(all, r)
	}
	return all
}

// equal reports a difference between what a store gave and what was promised.
func (s *suite) equal(what string, got, want any) {
	s.Helper()
	if diff := cmp.Diff(got, want, comparers()); diff != "" {
		s.Errorf("%s: (-got +want)\n%s", what, diff)
	}
}

func comparers() cmp.Option {
	return cmp.Options{
		cmp.Comparer(func(a, b name.Name) bool { return a == b }),
		cmp.Comparer(func(a, b name.Prefix) bool { return a == b }),
	}
}
