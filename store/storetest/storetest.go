package storetest

import (
	"context"
	"errors"
	"iter"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// Open returns a new, empty store. The tests close the store, some of them more than once.
type Open func(t *testing.T) store.Store

// Run checks the guarantees of package store that can be observed while a store is open.
func Run(t *testing.T, open Open) {
	for _, c := range []struct {
		name  string
		test  func(s *suite)
		needs func(s store.Store) bool // reports whether the store has what is tested; nil if every store has it
	}{
		{"Missing", missing, nil},
		{"RoundTrip", roundTrip, nil},
		{"NormalForm", normalForm, nil},
		{"Bytes", anyBytes, nil},
		{"Ownership", ownership, nil},
		{"Unchanged", unchanged, nil},
		{"Expected", expected, nil},
		{"AllOrNothing", allOrNothing, nil},
		{"OneNameTwice", oneNameTwice, nil},
		{"NotAChange", notAChange, nil},
		{"Limits", limits, nil},
		{"LargeBatch", largeBatch, nil},
		{"States/Y95-22,Y95-25", states, nil},
		{"Deletion/Y95-22", deletion, nil},
		{"Reactivation/Y95-25", reactivation, nil},
		{"List", list, nil},
		{"KeyOrder", keyOrder, nil},
		{"LongKeys", longKeys, nil},
		{"ListOneMoment", listOneMoment, nil},
		{"ListWhileWriting", listWhileWriting, nil},
		{"Times", times, nil},
		{"At", at, nil},
		{"ListAt", listAt, nil},
		{"History", history, has[store.Historian]},
		{"Authorities", authorities, nil},
		{"AuthorityContent", authorityContent, nil},
		{"AuthorityHistory", authorityHistory, has[store.AuthorityHistorian]},
		{"Clock", clocks, nil},
		{"TokenClock", tokenClock, nil},
		{"VerifyClock", verifyingClock, has[store.Verifier]},
		{"Tokens", tokens, has[store.Tokens]},
		{"TokenUse", tokenUse, has[store.Tokens]},
		{"AllTokens", allTokens, has[store.TokenLister]},
		{"Users", users, has[store.Users]},
		{"UserLimits", userLimits, has[store.Users]},
		{"UserContent", userContent, has[store.Users]},
		{"UserHistory", userHistory, has[store.Users]},
		{"UserSubjects", userSubjects, has[store.Users]},
		{"UserRace", userRace, has[store.Users]},
		{"UserRedaction", userRedaction, has[store.Users]},
		{"TokenRights", tokenRights, has[store.RightsHistorian]},
		{"TokenRightsRefused", tokenRightsRefused, has[store.RightsHistorian]},
		{"TokenRightsRedaction", tokenRightsRedaction, has[store.RightsHistorian]},
		{"TokenRightsVerified", tokenRightsVerified, func(s store.Store) bool { return has[store.RightsHistorian](s) && has[store.Verifier](s) }},
		{"Records", records, nil},
		{"Count", counting, nil},
		{"Find", finding, nil},
		{"Aliased", aliased, has[store.Finder]},
		{"ManyAliased", manyAliased, has[store.Finder]},
		{"Feed", feed, has[store.Feed]},
		{"FeedWhileWriting", feedWhileWriting, has[store.Feed]},
		{"FeedSettled", feedSettled, has[store.Feed]},
		{"Proofs", proofs, has[store.Prover]},
		{"TreeReader", treeReader, has[store.TreeReader]},
		{"SplitDigests", splitDigests, func(s store.Store) bool { return has[store.Splitter](s) && has[store.Feed](s) }},
		{"Redaction", redaction, nil},
		{"Invalidations", invalidations, has[store.Invalidator]},
		{"InvalidationsByLoad", invalidatedByLoad, has[store.Invalidator]},
		{"InvalidationsInRace", invalidatedInRace, has[store.Invalidator]},
		{"Verify", verifying, has[store.Verifier]},
		{"Load", loading, has[store.Loader]},
		{"LoadResumed", loadResumed, has[store.Loader]},
		{"Vault", vault, has[store.Vault]},
		{"SwapSecret", swaps, has[store.Vault]},
		{"Leases", leases, has[store.Vault]},
		{"VaultClosed", vaultClosed, has[store.Vault]},
		{"Jobs", jobRows, has[store.JobStore]},
		{"JobRace", jobRace, has[store.JobStore]},
		{"JobFiles", jobFiles, has[store.JobStore]},
		{"JobsClosed", jobsClosed, has[store.JobStore]},
		{"LostUpdate", lostUpdate, nil},
		{"ManyWriters", manyWriters, nil},
		{"Cancelled", cancelled, nil},
		{"Stopped", stopped, nil},
		{"Close", closing, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if s := newSuite(t, open); c.needs == nil || c.needs(s.Store) {
				c.test(s)
			}
		})
	}
}

// has reports whether a store implements an interface of package store.
func has[T any](s store.Store) bool {
	_, ok := s.(T)
	return ok
}

// A suite is the state of one test, with its store.
type suite struct {
	*testing.T
	store.Store
	open Open // opens another store
	kept int  // how many changes the method apply has added to the log
}

func newSuite(t *testing.T, open Open) *suite {
	s := &suite{T: t, Store: open(t), open: open}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func minute(n int) time.Time {
	return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC).Add(time.Duration(n) * time.Minute)
}

func key(s string) name.Name { return name.FromKey(s) }

// put returns a change that writes an active record with one location. The change may apply to any
// revision.
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

func changed(revision uint64) store.Result { return store.Result{Revision: revision, Changed: true} }

func already(revision uint64) store.Result { return store.Result{Revision: revision} }

// apply calls Apply, which must succeed.
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

// refused calls Apply, which must fail, and returns the error.
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

func refusal[E error](s *suite, changes ...store.Change) (got E) {
	s.Helper()
	if err := s.refused(changes...); !errors.As(err, &got) {
		s.Fatalf("error %v, want a %T", err, got)
	}
	return got
}

func (s *suite) get(k string) *store.Record {
	s.Helper()
	return s.getAt(k, time.Time{})
}

func (s *suite) getAt(k string, at time.Time) *store.Record {
	s.Helper()
	r, err := s.Get(s.Context(), key(k), at)
	return found(s, r, err)
}

func (s *suite) authority(p name.Prefix, at time.Time) *store.Authority {
	s.Helper()
	a, err := s.Authority(s.Context(), p, at)
	return found(s, a, err)
}

func (s *suite) token(id string) *store.Token {
	s.Helper()
	tokens, ok := s.Store.(store.Tokens)
	if !ok {
		return nil
	}
	t, err := tokens.Token(s.Context(), id)
	return found(s, t, err)
}

// found returns the result v of a read. It checks that v is nil if and only if err is ErrNotFound.
func found[T any](s *suite, v *T, err error) *T {
	s.Helper()
	if (v == nil) != (err == store.ErrNotFound) || v != nil && err != nil {
		s.Fatalf("found %+v with error %v", v, err)
	}
	return v
}

// read returns everything that a loop over seq yields.
func read[T any](s *suite, seq iter.Seq2[T, error]) []T {
	s.Helper()
	all, err := collect(seq)
	if err != nil {
		s.Fatal(err)
	}
	return all
}

// texts returns the text of each element, or nil if there are no elements.
func texts[T any](all []T, text func(T) string) (list []string) {
	for _, v := range all {
		list = append(list, text(v))
	}
	return list
}

func (s *suite) list(scan store.Scan) []*store.Record {
	s.Helper()
	return read(s, s.List(s.Context(), scan))
}

func (s *suite) keys(scan store.Scan) []string {
	s.Helper()
	return texts(s.list(scan), func(r *store.Record) string { return r.Name.Key() })
}

// leave checks that a loop over seq can stop after any of its n elements, and that seq can then be
// used again.
func leave[T any](s *suite, seq iter.Seq2[T, error], n int) {
	s.Helper()
	for stop := 1; stop <= n; stop++ {
		got := 0
		if err := until(seq, func() bool { got++; return got < stop }); err != nil || got != stop {
			s.Errorf("a loop that is left after %d elements: %d, %v", stop, got, err)
		}
	}
	if got := len(read(s, seq)); got != n {
		s.Errorf("the whole loop yields %d elements, want %d", got, n)
	}
}

func until[T any](seq iter.Seq2[T, error], yield func() bool) error {
	for _, err := range seq {
		if err != nil || !yield() {
			return err
		}
	}
	return nil
}

func (s *suite) ended() context.Context {
	ctx, cancel := context.WithCancel(s.Context())
	cancel()
	return ctx
}

// together calls f concurrently with each number below n, and waits for all calls.
func together(n int, f func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { f(i) })
	}
	wg.Wait()
}

// during calls the function look repeatedly while work runs, and once after it has ended.
func during(work, look func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		work()
	}()
	for more := true; more; look() {
		select {
		case <-done:
			more = false
		default:
		}
	}
}

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
