package storetest_test

import (
	"context"
	"iter"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
	"github.com/nomen-project/nomen/store/storetest"
)

// bare is a store without optional capabilities.
type bare struct{ store.Store }

func openBare(*testing.T) store.Store { return bare{memstore.New()} }

// TestBare checks that the suite makes no calls that need a capability that the store does not
// have.
func TestBare(t *testing.T) {
	storetest.Run(t, openBare)
	storetest.Same(t, openBare)
}

// A wrong is a store in memory with one wrong method. Another process calls the function of and
// runs the suite. There, the test with the given name must fail.
type wrong struct {
	name, test string
	of         func(*memstore.Store) store.Store
}

// only yields the elements for which the function keep returns true.
func only[T any](seq iter.Seq2[T, error], keep func(i int, v T) bool) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		i := 0
		for v, err := range seq {
			if err != nil || keep(i, v) {
				if !yield(v, err) {
					return
				}
			}
			i++
		}
	}
}

// backward yields the elements in reverse order.
func backward[T any](seq iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var all []T
		for v, err := range seq {
			if err != nil {
				yield(v, err)
				return
			}
			all = append(all, v)
		}
		for _, v := range slices.Backward(all) {
			if !yield(v, nil) {
				return
			}
		}
	}
}

// applying modifies each change before it applies the change.
type applying struct {
	*memstore.Store
	change func(c *store.Change)
}

func (s applying) Apply(ctx context.Context, changes []store.Change) ([]store.Result, error) {
	changes = slices.Clone(changes)
	for i := range changes {
		s.change(&changes[i])
	}
	return s.Store.Apply(ctx, changes)
}

type oneByOne struct{ *memstore.Store }

func (s oneByOne) Apply(ctx context.Context, changes []store.Change) (all []store.Result, _ error) {
	for _, c := range changes {
		results, err := s.Store.Apply(ctx, []store.Change{c})
		if err != nil {
			return nil, err
		}
		all = append(all, results...)
	}
	return all, nil
}

type presentRecord struct{ *memstore.Store }

func (s presentRecord) Get(ctx context.Context, n name.Name, _ time.Time) (*store.Record, error) {
	return s.Store.Get(ctx, n, time.Time{})
}

type presentList struct{ *memstore.Store }

func (s presentList) List(ctx context.Context, scan store.Scan) iter.Seq2[*store.Record, error] {
	scan.At = time.Time{}
	return s.Store.List(ctx, scan)
}

type backwardList struct{ *memstore.Store }

func (s backwardList) List(ctx context.Context, scan store.Scan) iter.Seq2[*store.Record, error] {
	return backward(s.Store.List(ctx, scan))
}

type wholeList struct{ *memstore.Store }

func (s wholeList) List(ctx context.Context, scan store.Scan) iter.Seq2[*store.Record, error] {
	scan.After = ""
	return s.Store.List(ctx, scan)
}

type lastChange struct{ *memstore.Store }

func (s lastChange) History(ctx context.Context, n name.Name) iter.Seq2[*store.Change, error] {
	return only(s.Store.History(ctx, n), func(i int, _ *store.Change) bool { return i == 0 })
}

type forwardHistory struct{ *memstore.Store }

func (s forwardHistory) History(ctx context.Context, n name.Name) iter.Seq2[*store.Change, error] {
	return backward(s.Store.History(ctx, n))
}

type lastAuthority struct{ *memstore.Store }

func (s lastAuthority) AuthorityHistory(ctx context.Context, p name.Prefix) iter.Seq2[*store.Change, error] {
	return only(s.Store.AuthorityHistory(ctx, p), func(i int, _ *store.Change) bool { return i == 0 })
}

type presentAuthority struct{ *memstore.Store }

func (s presentAuthority) Authority(ctx context.Context, p name.Prefix, _ time.Time) (*store.Authority, error) {
	return s.Store.Authority(ctx, p, time.Time{})
}

type presentAuthorities struct{ *memstore.Store }

func (s presentAuthorities) Authorities(ctx context.Context, _ time.Time) iter.Seq2[*store.Authority, error] {
	return s.Store.Authorities(ctx, time.Time{})
}

type backwardAuthorities struct{ *memstore.Store }

func (s backwardAuthorities) Authorities(ctx context.Context, at time.Time) iter.Seq2[*store.Authority, error] {
	return backward(s.Store.Authorities(ctx, at))
}

type noTokens struct{ *memstore.Store }

func (noTokens) Token(context.Context, string) (*store.Token, error) {
	return nil, store.ErrNotFound
}

type unrevoked struct{ *memstore.Store }

func (s unrevoked) Token(ctx context.Context, id string) (*store.Token, error) {
	t, err := s.Store.Token(ctx, id)
	if t != nil {
		t.Revoked = false
	}
	return t, err
}

type validTokens struct{ *memstore.Store }

func (s validTokens) AllTokens(ctx context.Context) iter.Seq2[*store.Token, error] {
	return only(s.Store.AllTokens(ctx), func(_ int, t *store.Token) bool { return !t.Revoked })
}

type backwardTokens struct{ *memstore.Store }

func (s backwardTokens) AllTokens(ctx context.Context) iter.Seq2[*store.Token, error] {
	return backward(s.Store.AllTokens(ctx))
}

type oneMore struct{ *memstore.Store }

func (s oneMore) Count(ctx context.Context) (int64, bool, error) {
	n, exact, err := s.Store.Count(ctx)
	return n + 1, exact, err
}

type wholeSearch struct{ *memstore.Store }

func (s wholeSearch) Find(ctx context.Context, prefix string, _ store.Place) iter.Seq2[store.Place, error] {
	return s.Store.Find(ctx, prefix, store.Place{})
}

type withGap struct{ *memstore.Store }

func (s withGap) Changes(ctx context.Context, after uint64) iter.Seq2[*store.Entry, error] {
	return only(s.Store.Changes(ctx, after), func(_ int, e *store.Entry) bool { return e.Seq != 3 })
}

type allChanges struct{ *memstore.Store }

func (s allChanges) Changes(ctx context.Context, _ uint64) iter.Seq2[*store.Entry, error] {
	return s.Store.Changes(ctx, 0)
}

type backwardChanges struct{ *memstore.Store }

func (s backwardChanges) Changes(ctx context.Context, after uint64) iter.Seq2[*store.Entry, error] {
	return backward(s.Store.Changes(ctx, after))
}

type otherHead struct{ *memstore.Store }

func (s otherHead) Head(ctx context.Context) (store.Head, error) {
	h, err := s.Store.Head(ctx)
	if h.Size > 0 {
		h.Hash[0]++
	}
	return h, err
}

type loadsNothing struct{ *memstore.Store }

func (loadsNothing) Load(context.Context, iter.Seq2[*store.Entry, error]) error {
	return nil
}

type loadsAnything struct{ *memstore.Store }

func (s loadsAnything) Load(ctx context.Context, entries iter.Seq2[*store.Entry, error]) error {
	_ = s.Store.Load(ctx, entries)
	return nil
}

type staysOpen struct{ *memstore.Store }

func (staysOpen) Close() error {
	return nil
}

func wrongStores() []wrong {
	keepAll := func(c *store.Change) { c.Redacts = nil }
	keepAuthorities := func(c *store.Change) {
		if c.Authority != nil {
			c.Redacts = nil
		}
	}
	changing := func(change func(c *store.Change)) func(*memstore.Store) store.Store {
		return func(s *memstore.Store) store.Store { return applying{s, change} }
	}
	return []wrong{
		{"ignores redactions", "Run/Redaction", changing(keepAll)},
		{"ignores redactions, compared", "Same", changing(keepAll)},
		{"ignores redactions, without a log", "Run/Redaction", func(s *memstore.Store) store.Store { return bare{applying{s, keepAll}} }},
		{"ignores redactions, without a log, compared", "Same", func(s *memstore.Store) store.Store { return bare{applying{s, keepAll}} }},
		{"ignores redactions of authorities", "Run/Redaction", changing(keepAuthorities)},
		{"ignores revisions", "Run/Expected", changing(func(c *store.Change) { c.Expected = store.AnyRevision })},
		{"ignores who", "Run/History", changing(func(c *store.Change) { c.Who = "" })},
		{"ignores why", "Run/History", changing(func(c *store.Change) { c.Why = "" })},
		{"writes half a batch", "Run/AllOrNothing", func(s *memstore.Store) store.Store { return oneByOne{s} }},
		{"knows only the present", "Run/At", func(s *memstore.Store) store.Store { return presentRecord{s} }},
		{"lists only the present", "Run/ListAt", func(s *memstore.Store) store.Store { return presentList{s} }},
		{"lists backward", "Run/List", func(s *memstore.Store) store.Store { return backwardList{s} }},
		{"ignores where a list goes on", "Run/List", func(s *memstore.Store) store.Store { return wholeList{s} }},
		{"has no history", "Run/History", func(s *memstore.Store) store.Store { return lastChange{s} }},
		{"tells history forward", "Run/History", func(s *memstore.Store) store.Store { return forwardHistory{s} }},
		{"has no history of authorities", "Run/AuthorityHistory", func(s *memstore.Store) store.Store { return lastAuthority{s} }},
		{"knows only the present authority", "Run/Authorities", func(s *memstore.Store) store.Store { return presentAuthority{s} }},
		{"lists only the present authorities", "Run/Authorities", func(s *memstore.Store) store.Store { return presentAuthorities{s} }},
		{"lists authorities backward", "Run/Authorities", func(s *memstore.Store) store.Store { return backwardAuthorities{s} }},
		{"forgets tokens", "Run/Tokens", func(s *memstore.Store) store.Store { return noTokens{s} }},
		{"ignores revocations", "Run/Tokens", func(s *memstore.Store) store.Store { return unrevoked{s} }},
		{"lists no revoked tokens", "Run/AllTokens", func(s *memstore.Store) store.Store { return validTokens{s} }},
		{"lists tokens backward", "Run/AllTokens", func(s *memstore.Store) store.Store { return backwardTokens{s} }},
		{"counts one too many", "Run/Count", func(s *memstore.Store) store.Store { return oneMore{s} }},
		{"ignores where a search goes on", "Run/Find", func(s *memstore.Store) store.Store { return wholeSearch{s} }},
		{"leaves a change out", "Run/Feed", func(s *memstore.Store) store.Store { return withGap{s} }},
		{"tells all changes again", "Run/Feed", func(s *memstore.Store) store.Store { return allChanges{s} }},
		{"tells changes backward", "Run/Feed", func(s *memstore.Store) store.Store { return backwardChanges{s} }},
		{"has another head", "Run/Feed", func(s *memstore.Store) store.Store { return otherHead{s} }},
		{"loads nothing", "Run/Load", func(s *memstore.Store) store.Store { return loadsNothing{s} }},
		{"loads what does not follow", "Run/LoadResumed", func(s *memstore.Store) store.Store { return loadsAnything{s} }},
		{"stays open", "Run/Close", func(s *memstore.Store) store.Store { return staysOpen{s} }},
	}
}

const wrongVariable = "NOMEN_TEST_WRONG_STORE"

// TestSuite runs in the other process.
func TestSuite(t *testing.T) {
	for _, w := range wrongStores() {
		if w.name == os.Getenv(wrongVariable) {
			open := func(*testing.T) store.Store { return w.of(memstore.New()) }
			t.Run("Run", func(t *testing.T) { storetest.Run(t, open) })
			t.Run("Same", func(t *testing.T) { storetest.Same(t, open) })
			return
		}
	}
}

// TestWrongStoresFail checks that the suite finds what each wrong store does wrong.
func TestWrongStoresFail(t *testing.T) {
	for _, w := range wrongStores() {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel() // some of these tests wait for something that does not happen
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestSuite$/"+strings.ReplaceAll("^"+w.test, "/", "$/^")+"$", "-rapid.nofailfile")
			cmd.Env = append(os.Environ(), wrongVariable+"="+w.name)
			out, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(out), "--- FAIL: TestSuite/"+w.test) || strings.Contains(string(out), "panic:") {
				t.Errorf("%s passes a store that %s: %v\n%s", w.test, w.name, err, out)
			}
		})
	}
}
