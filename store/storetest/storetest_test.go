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

// bare is a store that can do nothing but what every store can.
type bare struct{ store.Store }

func openBare(*testing.T) store.Store { return bare{memstore.New()} }

// TestBare: a store is asked nothing that it does not say it can do.
func TestBare(t *testing.T) {
	storetest.Run(t, openBare)
	storetest.Same(t, openBare)
}

// A wrong store is wrong in one point. Its function open is called by another
// process, in which the test of the suite that is named must fail.
type wrong struct {
	name, test string
	open       storetest.Open
}

// broken changes some calls of a store; nil leaves one as it is.
type broken struct {
	*memstore.Store
	apply       func(s store.Store, changes []store.Change) ([]store.Result, error)
	get         func(s store.Store, n name.Name, at time.Time) (*store.Record, error)
	list        func(s store.Store, scan store.Scan) iter.Seq2[*store.Record, error]
	history     func(s store.Historian, n name.Name) iter.Seq2[*store.Change, error]
	past        func(s store.AuthorityHistorian, p name.Prefix) iter.Seq2[*store.Change, error]
	authority   func(s store.Store, p name.Prefix, at time.Time) (*store.Authority, error)
	authorities func(s store.Store, at time.Time) iter.Seq2[*store.Authority, error]
	token       func(s store.Tokens, id string) (*store.Token, error)
	allTokens   func(s store.TokenLister) iter.Seq2[*store.Token, error]
	count       func(s store.Counter) (int64, bool, error)
	find        func(s store.Finder, prefix string, after store.Place) iter.Seq2[store.Place, error]
	changes     func(s store.Feed, after uint64) iter.Seq2[*store.Entry, error]
	head        func(s store.Feed) (store.Head, error)
	load        func(s store.Loader, entries iter.Seq2[*store.Entry, error]) error
	close       func(s store.Store) error
}

func (b broken) Apply(ctx context.Context, changes []store.Change) ([]store.Result, error) {
	if b.apply != nil {
		return b.apply(b.Store, changes)
	}
	return b.Store.Apply(ctx, changes)
}

func (b broken) Get(ctx context.Context, n name.Name, at time.Time) (*store.Record, error) {
	if b.get != nil {
		return b.get(b.Store, n, at)
	}
	return b.Store.Get(ctx, n, at)
}

func (b broken) List(ctx context.Context, scan store.Scan) iter.Seq2[*store.Record, error] {
	if b.list != nil {
		return b.list(b.Store, scan)
	}
	return b.Store.List(ctx, scan)
}

func (b broken) History(ctx context.Context, n name.Name) iter.Seq2[*store.Change, error] {
	if b.history != nil {
		return b.history(b.Store, n)
	}
	return b.Store.History(ctx, n)
}

func (b broken) AuthorityHistory(ctx context.Context, p name.Prefix) iter.Seq2[*store.Change, error] {
	if b.past != nil {
		return b.past(b.Store, p)
	}
	return b.Store.AuthorityHistory(ctx, p)
}

func (b broken) Authority(ctx context.Context, p name.Prefix, at time.Time) (*store.Authority, error) {
	if b.authority != nil {
		return b.authority(b.Store, p, at)
	}
	return b.Store.Authority(ctx, p, at)
}

func (b broken) Authorities(ctx context.Context, at time.Time) iter.Seq2[*store.Authority, error] {
	if b.authorities != nil {
		return b.authorities(b.Store, at)
	}
	return b.Store.Authorities(ctx, at)
}

func (b broken) Token(ctx context.Context, id string) (*store.Token, error) {
	if b.token != nil {
		return b.token(b.Store, id)
	}
	return b.Store.Token(ctx, id)
}

func (b broken) AllTokens(ctx context.Context) iter.Seq2[*store.Token, error] {
	if b.allTokens != nil {
		return b.allTokens(b.Store)
	}
	return b.Store.AllTokens(ctx)
}

func (b broken) Count(ctx context.Context) (int64, bool, error) {
	if b.count != nil {
		return b.count(b.Store)
	}
	return b.Store.Count(ctx)
}

func (b broken) Find(ctx context.Context, prefix string, after store.Place) iter.Seq2[store.Place, error] {
	if b.find != nil {
		return b.find(b.Store, prefix, after)
	}
	return b.Store.Find(ctx, prefix, after)
}

func (b broken) Changes(ctx context.Context, after uint64) iter.Seq2[*store.Entry, error] {
	if b.changes != nil {
		return b.changes(b.Store, after)
	}
	return b.Store.Changes(ctx, after)
}

func (b broken) Head(ctx context.Context) (store.Head, error) {
	if b.head != nil {
		return b.head(b.Store)
	}
	return b.Store.Head(ctx)
}

func (b broken) Load(ctx context.Context, entries iter.Seq2[*store.Entry, error]) error {
	if b.load != nil {
		return b.load(b.Store, entries)
	}
	return b.Store.Load(ctx, entries)
}

func (b broken) Close() error {
	if b.close != nil {
		return b.close(b.Store)
	}
	return b.Store.Close()
}

// never is a context that does not end.
var never = context.Background()

func newBroken(b broken) storetest.Open {
	return func(*testing.T) store.Store {
		b.Store = memstore.New()
		return b
	}
}

// each applies changes after something was done to each of them.
func each(change func(c *store.Change)) func(store.Store, []store.Change) ([]store.Result, error) {
	return func(s store.Store, changes []store.Change) ([]store.Result, error) {
		changes = slices.Clone(changes)
		for i := range changes {
			change(&changes[i])
		}
		return s.Apply(never, changes)
	}
}

// only yields what is kept.
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

// backward yields the last first.
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

func wrongStores() []wrong {
	withoutRedacts := each(func(c *store.Change) { c.Redacts = nil })
	return []wrong{
		{"ignores redactions", "Run/Redaction", newBroken(broken{apply: withoutRedacts})},
		{"ignores redactions, compared", "Same", newBroken(broken{apply: withoutRedacts})},
		{"ignores redactions, without a log", "Run/Redaction", func(*testing.T) store.Store {
			return bare{broken{Store: memstore.New(), apply: withoutRedacts}}
		}},
		{"ignores redactions, without a log, compared", "Same", func(*testing.T) store.Store {
			return bare{broken{Store: memstore.New(), apply: withoutRedacts}}
		}},
		{"ignores redactions of authorities", "Run/Redaction", newBroken(broken{apply: each(func(c *store.Change) {
			if c.Authority != nil {
				c.Redacts = nil
			}
		})})},
		{"ignores revisions", "Run/Expected", newBroken(broken{apply: each(func(c *store.Change) { c.Expected = store.AnyRevision })})},
		{"ignores who", "Run/History", newBroken(broken{apply: each(func(c *store.Change) { c.Who = "" })})},
		{"ignores why", "Run/History", newBroken(broken{apply: each(func(c *store.Change) { c.Why = "" })})},
		{"writes half a batch", "Run/AllOrNothing", newBroken(broken{apply: func(s store.Store, changes []store.Change) (all []store.Result, _ error) {
			for _, c := range changes {
				results, err := s.Apply(never, []store.Change{c})
				if err != nil {
					return nil, err
				}
				all = append(all, results...)
			}
			return all, nil
		}})},
		{"knows only the present", "Run/At", newBroken(broken{get: func(s store.Store, n name.Name, _ time.Time) (*store.Record, error) {
			return s.Get(never, n, time.Time{})
		}})},
		{"lists only the present", "Run/ListAt", newBroken(broken{list: func(s store.Store, scan store.Scan) iter.Seq2[*store.Record, error] {
			scan.At = time.Time{}
			return s.List(never, scan)
		}})},
		{"lists backward", "Run/List", newBroken(broken{list: func(s store.Store, scan store.Scan) iter.Seq2[*store.Record, error] {
			return backward(s.List(never, scan))
		}})},
		{"ignores where a list goes on", "Run/List", newBroken(broken{list: func(s store.Store, scan store.Scan) iter.Seq2[*store.Record, error] {
			scan.After = ""
			return s.List(never, scan)
		}})},
		{"has no history", "Run/History", newBroken(broken{history: func(s store.Historian, n name.Name) iter.Seq2[*store.Change, error] {
			return only(s.History(never, n), func(i int, _ *store.Change) bool { return i == 0 })
		}})},
		{"tells history forward", "Run/History", newBroken(broken{history: func(s store.Historian, n name.Name) iter.Seq2[*store.Change, error] {
			return backward(s.History(never, n))
		}})},
		{"has no history of authorities", "Run/AuthorityHistory", newBroken(broken{past: func(s store.AuthorityHistorian, p name.Prefix) iter.Seq2[*store.Change, error] {
			return only(s.AuthorityHistory(never, p), func(i int, _ *store.Change) bool { return i == 0 })
		}})},
		{"knows only the present authority", "Run/Authorities", newBroken(broken{authority: func(s store.Store, p name.Prefix, _ time.Time) (*store.Authority, error) {
			return s.Authority(never, p, time.Time{})
		}})},
		{"lists only the present authorities", "Run/Authorities", newBroken(broken{authorities: func(s store.Store, _ time.Time) iter.Seq2[*store.Authority, error] {
			return s.Authorities(never, time.Time{})
		}})},
		{"lists authorities backward", "Run/Authorities", newBroken(broken{authorities: func(s store.Store, at time.Time) iter.Seq2[*store.Authority, error] {
			return backward(s.Authorities(never, at))
		}})},
		{"forgets tokens", "Run/Tokens", newBroken(broken{token: func(store.Tokens, string) (*store.Token, error) { return nil, store.ErrNotFound }})},
		{"ignores revocations", "Run/Tokens", newBroken(broken{token: func(s store.Tokens, id string) (*store.Token, error) {
			t, err := s.Token(never, id)
			if t != nil {
				t.Revoked = false
			}
			return t, err
		}})},
		{"lists no revoked tokens", "Run/AllTokens", newBroken(broken{allTokens: func(s store.TokenLister) iter.Seq2[*store.Token, error] {
			return only(s.AllTokens(never), func(_ int, t *store.Token) bool { return !t.Revoked })
		}})},
		{"lists tokens backward", "Run/AllTokens", newBroken(broken{allTokens: func(s store.TokenLister) iter.Seq2[*store.Token, error] { return backward(s.AllTokens(never)) }})},
		{"counts one too many", "Run/Count", newBroken(broken{count: func(s store.Counter) (int64, bool, error) {
			n, exact, err := s.Count(never)
			return n + 1, exact, err
		}})},
		{"ignores where a search goes on", "Run/Find", newBroken(broken{find: func(s store.Finder, prefix string, _ store.Place) iter.Seq2[store.Place, error] {
			return s.Find(never, prefix, store.Place{})
		}})},
		{"leaves a change out", "Run/Feed", newBroken(broken{changes: func(s store.Feed, after uint64) iter.Seq2[*store.Entry, error] {
			return only(s.Changes(never, after), func(_ int, e *store.Entry) bool { return e.Seq != 3 })
		}})},
		{"tells all changes again", "Run/Feed", newBroken(broken{changes: func(s store.Feed, _ uint64) iter.Seq2[*store.Entry, error] { return s.Changes(never, 0) }})},
		{"tells changes backward", "Run/Feed", newBroken(broken{changes: func(s store.Feed, after uint64) iter.Seq2[*store.Entry, error] {
			return backward(s.Changes(never, after))
		}})},
		{"has another head", "Run/Feed", newBroken(broken{head: func(s store.Feed) (store.Head, error) {
			h, err := s.Head(never)
			if h.Size > 0 {
				h.Hash[0]++
			}
			return h, err
		}})},
		{"loads nothing", "Run/Load", newBroken(broken{load: func(store.Loader, iter.Seq2[*store.Entry, error]) error { return nil }})},
		{"loads what does not follow", "Run/LoadResumed", newBroken(broken{load: func(s store.Loader, entries iter.Seq2[*store.Entry, error]) error {
			_ = s.Load(never, entries)
			return nil
		}})},
		{"stays open", "Run/Close", newBroken(broken{close: func(store.Store) error { return nil }})},
	}
}

const wrongVariable = "NOMEN_TEST_WRONG_STORE"

// TestSuite is what the other process runs.
func TestSuite(t *testing.T) {
	for _, w := range wrongStores() {
		if w.name == os.Getenv(wrongVariable) {
			t.Run("Run", func(t *testing.T) { storetest.Run(t, w.open) })
			t.Run("Same", func(t *testing.T) { storetest.Same(t, w.open) })
			return
		}
	}
}

// TestWrongStoresFail: the suite finds what a store does wrong.
func TestWrongStoresFail(t *testing.T) {
	for _, w := range wrongStores() {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel() // some wait for what does not happen
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestSuite$/"+strings.ReplaceAll("^"+w.test, "/", "$/^")+"$", "-rapid.nofailfile")
			cmd.Env = append(os.Environ(), wrongVariable+"="+w.name)
			out, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(out), "--- FAIL: TestSuite/"+w.test) || strings.Contains(string(out), "panic:") {
				t.Errorf("%s passes a store that %s: %v\n%s", w.test, w.name, err, out)
			}
		})
	}
}
