package storetest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// lostUpdate checks that no update is lost if each of several writers reads a record, modifies it,
// and passes the revision of the record as the expected revision.
func lostUpdate(s *suite) {
	const writers, rounds = 20, 6
	k := "urn:x-a:shared"
	s.apply(put(k, "u:start", 0))
	together(writers, func(w int) {
		for round := range rounds {
			if err := s.addLocation(k, fmt.Sprintf("u:%d:%d", w, round)); err != nil {
				s.Error(err)
				return
			}
		}
	})
	r := s.get(k)
	if r.Revision != 1+writers*rounds || len(r.Locations) != 1+writers*rounds {
		s.Errorf("revision %d with %d locations, want %d of both", r.Revision, len(r.Locations), 1+writers*rounds)
	}
}

// addLocation adds a location to a record, and retries after conflicts.
func (s *suite) addLocation(k, url string) error {
	for {
		r, err := s.Get(s.Context(), key(k), time.Time{})
		if err != nil {
			return err
		}
		r.Locations = append(r.Locations, nomen.Location{URL: url})
		c := store.Change{Record: r, Expected: r.Revision, Time: minute(0)}
		if _, err = s.Apply(s.Context(), []store.Change{c}); !errors.As(err, new(*store.ConflictError)) {
			return err
		}
	}
}

// manyWriters checks that each of several concurrent writers gets the results of its own changes,
// and finds its changes after Apply has returned.
func manyWriters(s *suite) {
	const writers, rounds = 16, 20
	together(writers, func(w int) {
		for round := range rounds {
			s.ownRound(fmt.Sprintf("urn:x-a:%d", w), round)
		}
	})
	if got := len(s.keys(store.Scan{})); got != writers+1 {
		s.Errorf("%d names, want %d", got, writers+1)
	}
	shared := s.get("urn:x-a:shared")
	if shared.Revision > writers*rounds {
		s.Errorf("the shared name has revision %d after %d changes", shared.Revision, writers*rounds)
	}
}

func (s *suite) ownRound(k string, round int) {
	url := fmt.Sprintf("u:%s:%d", k, round)
	results, err := s.Apply(s.Context(), []store.Change{
		expecting(uint64(round), put(k, url, round)), put("urn:x-a:shared", url, round),
	})
	if err != nil || results[0] != changed(uint64(round+1)) || !results[1].Changed {
		s.Errorf("%s, round %d: %+v, %v", k, round, results, err)
		return
	}
	r, err := s.Get(s.Context(), key(k), time.Time{})
	if err != nil || r.Locations[0].URL != url {
		s.Errorf("%s, round %d: read %+v, %v", k, round, r, err)
	}
}

// little writes data of each kind, so that every loop over the store yields something.
func (s *suite) little() {
	s.fill([]string{"a", "b", "c"})
	s.apply(
		put("a", "u:second", 1),
		store.Change{Authority: &store.Authority{Prefix: name.PrefixFromKey("a")}, Time: minute(1)},
		store.Change{Token: &store.Token{ID: "t"}, Time: minute(1)},
	)
	if has[store.Users](s.Store) {
		s.apply(userChange("u-a", "Ali", 1, "1"))
		s.apply(grant(&store.Token{ID: "t"}, 1)[1])
	}
	s.sealed()
}

// loops returns a loop over each kind of data in the store. The loop calls more for each element,
// ends when more returns false, and returns an error of the store.
func (s *suite) loops() map[string]func(ctx context.Context, more func() bool) error {
	a, prefix := key("a"), name.PrefixFromKey("a")
	all := map[string]func(ctx context.Context, more func() bool) error{
		"List": func(ctx context.Context, more func() bool) error { return until(s.List(ctx, store.Scan{}), more) },
		"List, as of then": func(ctx context.Context, more func() bool) error {
			return until(s.List(ctx, store.Scan{At: minute(9)}), more)
		},
		"Authorities": func(ctx context.Context, more func() bool) error {
			return until(s.Authorities(ctx, time.Time{}), more)
		},
		"History": func(ctx context.Context, more func() bool) error { return until(store.History(ctx, s.Store, a), more) },
		"AuthorityHistory": func(ctx context.Context, more func() bool) error {
			return until(store.AuthorityHistory(ctx, s.Store, prefix), more)
		},
		"AllTokens": func(ctx context.Context, more func() bool) error { return until(store.AllTokens(ctx, s.Store), more) },
		"Find": func(ctx context.Context, more func() bool) error {
			return until(store.Find(ctx, s.Store, "u:", store.Place{}), more)
		},
		"Changes": func(ctx context.Context, more func() bool) error { return until(store.Changes(ctx, s.Store, 0), more) },
	}
	if u, ok := s.Store.(store.Users); ok {
		all["AllUsers"] = func(ctx context.Context, more func() bool) error { return until(u.AllUsers(ctx, time.Time{}), more) }
		all["AllTokenRights"] = func(ctx context.Context, more func() bool) error {
			return until(s.rights().AllTokenRights(ctx, time.Time{}), more)
		}
		all["TokenRightsHistory"] = func(ctx context.Context, more func() bool) error {
			return until(s.rights().TokenRightsHistory(ctx, "t"), more)
		}
		all["UserHistory"] = func(ctx context.Context, more func() bool) error { return until(u.UserHistory(ctx, "u-a"), more) }
	}
	return all
}

func cancelled(s *suite) {
	s.little()
	ctx, cancel := context.WithCancel(s.Context())
	defer cancel()
	var got []string
	var end error
	for r, err := range s.List(ctx, store.Scan{}) {
		if end = err; err == nil {
			got = append(got, r.Name.Key())
			cancel()
		} else if r != nil {
			s.Errorf("an error with a record: %v", r)
		}
	}
	if !slices.Equal(got, []string{"a"}) || !errors.Is(end, context.Canceled) {
		s.Errorf("List cancelled at its first record: %q, then %v", got, end)
	}
	for name, err := range s.errors(ctx) {
		if !errors.Is(err, context.Canceled) {
			s.Errorf("%s with a cancelled context: %v", name, err)
		}
	}
	if got := s.keys(store.Scan{}); len(got) != 3 {
		s.Errorf("a cancelled Apply wrote: %q", got)
	}
}

// stopped checks that a loop yields nothing after a break, not even the error of a cancelled
// context, and that the store still works.
func stopped(s *suite) {
	s.little()
	for what, loop := range s.loops() {
		ctx, cancel := context.WithCancel(s.Context())
		n := 0
		err := loop(ctx, func() bool {
			n++
			cancel()
			return false
		})
		cancel()
		if errors.Is(err, errors.ErrUnsupported) {
			continue
		}
		if err != nil || n != 1 {
			s.Errorf("%s, stopped at the first: %d, %v", what, n, err)
		}
	}
	if got := s.keys(store.Scan{}); len(got) != 3 {
		s.Errorf("after that: %q", got)
	}
}

// errors makes each call that the store supports once, and returns the errors of the calls.
func (s *suite) errors(ctx context.Context) map[string]error {
	all := map[string]error{}
	_, all["Apply"] = s.Apply(ctx, []store.Change{put("d", "u:1", 0)})
	_, all["Get"] = s.Get(ctx, key("a"), time.Time{})
	_, all["Records"] = store.Records(ctx, s.Store, []name.Name{key("a")}, false)
	_, all["Get of nothing"] = s.Get(ctx, key("x"), minute(0))
	_, all["Authority"] = s.Authority(ctx, name.PrefixFromKey("a"), time.Time{})
	_, _, all["Count"] = store.Count(ctx, s.Store)
	_, all["Head"] = store.HeadOf(ctx, s.Store)
	_, all["Verify"] = store.Verify(ctx, s.Store, func(store.Fault) {}, nil)
	all["Load"] = store.Load(ctx, s.Store, yielding([]*store.Entry{{Seq: 1, Change: kept(put("a", "u:1", 0), 0, 0)}}, nil))
	if t, ok := s.Store.(store.Tokens); ok {
		_, all["Token"] = t.Token(ctx, "t")
	}
	if u, ok := s.Store.(store.Users); ok {
		_, all["User"] = u.User(ctx, "u-a", time.Time{})
		_, all["UserOf"] = u.UserOf(ctx, "1")
	}
	if p, ok := s.Store.(store.Prover); ok {
		_, all["ProveEntry"] = p.ProveEntry(ctx, 1, 1)
		_, all["ProveHead"] = p.ProveHead(ctx, 1, 1)
	}
	if r, ok := s.Store.(store.TreeReader); ok {
		_, all["Nodes"] = r.Nodes(ctx, 8, 0, 0)
		_, all["EntryOf"] = r.EntryOf(ctx, store.Subject{Kind: store.KindName, Key: "a"}, 1)
	}
	for what, loop := range s.loops() {
		all[what] = loop(ctx, func() bool { return true })
	}
	maps.DeleteFunc(all, func(_ string, err error) bool { return errors.Is(err, errors.ErrUnsupported) })
	return all
}

func closing(s *suite) {
	s.little()
	inside, closed := make(chan struct{}), make(chan error, 1)
	go func() {
		<-inside
		closed <- s.Close()
	}()
	got := 0
	for r, err := range s.List(s.Context(), store.Scan{}) {
		if err != nil {
			s.Fatalf("List under way while the store is closed: %v", err)
		}
		if got++; r.Name.Key() == "a" {
			close(inside)
		}
	}
	if got != 3 {
		s.Errorf("List under way while the store is closed gave %d records, want 3", got)
	}
	if err := <-closed; err != nil {
		s.Errorf("Close: %v", err)
	}
	for range 2 {
		if err := s.Close(); err != nil {
			s.Errorf("Close again: %v", err)
		}
		for call, err := range s.errors(s.Context()) {
			if !errors.Is(err, store.ErrClosed) {
				s.Errorf("%s after Close: %v, want ErrClosed", call, err)
			}
		}
	}
}

// Reopen checks that a store has the same content when it is opened again after it was closed or
// has crashed. The function again must close the store, or simulate a crash, and open it again.
func Reopen(t *testing.T, open func(t *testing.T) (s store.Store, again func(t *testing.T, s store.Store) store.Store)) {
	before, again := open(t)
	s := &suite{T: t, Store: before}
	s.apply(write(Rich(), 0), put("urn:x-a:b", "u:1", 0), reserve("urn:x-a:c", 0), reserve("urn:x-a:d", 0))
	s.apply(put("urn:x-a:b", "u:2", 1), remove("urn:x-a:c", 1), write(&store.Record{Name: key("urn:x-a:b"), Status: nomen.Retired}, 2))
	s.apply(
		store.Change{Authority: RichAuthority(), Time: minute(0), Who: "archive"},
		store.Change{Token: &store.Token{ID: "t", Role: "owner"}, Time: minute(0)},
	)
	if has[store.Users](s.Store) {
		s.apply(store.Change{User: RichUser(), Time: minute(1)}, userChange("u-a", "Ali", 1, "1"), userChange("u-a", "Ali", 2, "2"))
	}
	want := s.contents()
	for range 3 {
		s.Store = again(t, s.Store)
		s.equal("after it was opened again", s.contents(), want)
	}
	s.conflict(expecting(2, put("urn:x-a:b", "u:9", 3)), 2, 3)
	s.equal("revision of a deleted name", s.apply(expecting(0, put("urn:x-a:c", "u:1", 3))), []store.Result{changed(3)})
	s.equal("other revision", s.apply(expecting(3, put("urn:x-a:b", "u:9", 3))), []store.Result{changed(4)})
	if splitter, ok := s.Store.(store.Splitter); ok && has[store.Feed](s.Store) {
		if err := splitter.SplitDigests(s.Context()); err != nil {
			t.Fatal(err)
		}
		s.Store = again(t, s.Store)
		authored := put("urn:x-a:b", "u:10", 4)
		authored.Who = "archive"
		s.apply(authored)
		s.sealed()
		all := s.entries(0)
		s.equal("the digest is split after the store was opened again", all[len(all)-1].Change.Split, true)
	}
	want = s.contents()
	s.Store = again(t, s.Store)
	s.equal("after it was opened again", s.contents(), want)
	if err := s.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}

// moments returns the times from minute 0 to minute 5 of the tests, and the zero time.
func moments() []time.Time {
	return []time.Time{minute(0), minute(1), minute(2), minute(3), minute(4), minute(5), {}}
}

// contents reads everything that a store can return, and verifies the store.
func (s *suite) contents() map[string]any {
	s.Helper()
	all := map[string]any{
		"head": s.sealed(), "entries": s.entries(0), "token": s.token("t"),
		"locations": read(s, store.Find(s.Context(), s.Store, "", store.Place{})),
	}
	for _, at := range moments() {
		all[fmt.Sprint("records at ", at)] = s.list(store.Scan{At: at})
		all[fmt.Sprint("authorities at ", at)] = read(s, s.Authorities(s.Context(), at))
		if u, ok := s.Store.(store.Users); ok {
			all[fmt.Sprint("users at ", at)] = read(s, u.AllUsers(s.Context(), at))
		}
	}
	if has[store.Users](s.Store) {
		all["users of subjects"] = []string{s.userOf("1"), s.userOf("2"), s.userOf(RichUser().Subjects[1])}
		all["history of a user"] = read(s, s.users().UserHistory(s.Context(), "u-a"))
	}
	for _, k := range []string{"urn:x-a:b", "urn:x-a:c", "urn:x-a:d", "urn:x-a:e", "urn:x-a:r"} {
		if has[store.Historian](s.Store) {
			all["history of "+k] = read(s, store.History(s.Context(), s.Store, key(k)))
		}
		for _, at := range moments() {
			all[fmt.Sprint(k, " at ", at)] = s.getAt(k, at)
		}
	}
	s.verifies()
	all["count"], _, _ = store.Count(s.Context(), s.Store)
	return all
}
