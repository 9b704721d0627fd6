package storetest

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

func times(s *suite) {
	k := "urn:x-a:b"
	s.apply(put(k, "u:1", 5))
	s.apply(put(k, "u:2", 3)) // as if the clock had been set back
	s.modified("set back", k, minute(5))
	s.apply(put("urn:x-a:c", "u:1", 3))
	s.modified("another name", "urn:x-a:c", minute(3))
	s.apply(reserve("urn:x-a:d", 5), remove("urn:x-a:d", 6), reserve("urn:x-a:d", 4))
	s.modified("made again after its deletion", "urn:x-a:d", minute(6))
	for _, when := range []time.Time{
		time.Date(1, 1, 1, 0, 0, 0, 1e6, time.UTC),
		time.Date(1969, 12, 31, 23, 59, 59, 999e6, time.UTC),
		time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC),
		time.Date(9999, 12, 31, 23, 59, 59, 999e6, time.UTC),
	} {
		k := fmt.Sprint("urn:x-a:", when.UnixMilli())
		c := put(k, "u:1", 0)
		c.Time = when
		s.apply(c)
		s.modified("extreme", k, when)
		if s.getAt(k, when) == nil || s.getAt(k, when.Add(-1)) != nil {
			s.Errorf("not there from %v on", when)
		}
	}
}

// modified checks the time at which a record was last modified.
func (s *suite) modified(what, k string, want time.Time) {
	s.Helper()
	if r := s.get(k); r == nil || !r.Modified.Equal(want) || r.Modified.Location() != time.UTC {
		s.Errorf("%s: %+v, want it modified at %v", what, r, want)
	}
}

func at(s *suite) {
	k := "urn:x-a:b"
	s.apply(put(k, "u:1", 1))
	s.apply(put(k, "u:2", 3), put(k, "u:3", 3))
	s.apply(put(k, "u:4", 3))
	s.apply(put(k, "u:5", 7))
	for _, c := range []struct {
		at   time.Time
		want uint64
	}{
		{time.Time{}, 5},
		{minute(0), 0},
		{minute(1).Add(-1), 0},
		{minute(1), 1},
		{minute(1).Add(1), 1},
		{minute(3).Add(-1), 1},
		{minute(3), 4},
		{minute(7).Add(-1), 4},
		{minute(7), 5},
		{minute(99), 5},
		{time.Unix(0, 1), 0},
		{time.Unix(-1<<62, 0), 0},
		{time.Unix(1<<62, 0), 5},
		{minute(3).In(time.FixedZone("", -7200)), 4},
	} {
		got := uint64(0)
		if r := s.getAt(k, c.at); r != nil {
			got = r.Revision
			if want := fmt.Sprint("u:", got); r.Locations[0].URL != want {
				s.Errorf("revision %d has %s", got, r.Locations[0].URL)
			}
		}
		if got != c.want {
			s.Errorf("revision at %v: %d, want %d", c.at, got, c.want)
		}
	}
}

func listAt(s *suite) {
	s.apply(put("a", "u:1", 1), put("b", "u:1", 2), reserve("c", 1), put("d", "u:1", 4))
	s.apply(put("a", "u:2", 3), remove("c", 3))
	s.apply(put("ab", "u:1", 2), put("b", "u:2", 5), reserve("c", 5))
	for n, want := range []string{"", "a1 c1", "a1 ab1 b1 c1", "a2 ab1 b1", "a2 ab1 b1 d1", "a2 ab1 b2 c3 d1", "a2 ab1 b2 c3 d1"} {
		got := texts(s.list(store.Scan{At: minute(n)}), func(r *store.Record) string { return fmt.Sprint(r.Name.Key(), r.Revision) })
		s.equal(fmt.Sprint("at minute ", n), got, orNil(strings.Fields(want)))
	}
	s.equal("with a prefix", s.keys(store.Scan{Prefix: "a", At: minute(2)}), []string{"a", "ab"})
	s.equal("after", s.keys(store.Scan{After: "a", At: minute(3)}), []string{"ab", "b"})
}

func history(s *suite) {
	k := "urn:x-a:b"
	seq := store.History(s.Context(), s.Store, key(k))
	if got := read(s, seq); got != nil {
		s.Errorf("history of a name that never was: %+v", got)
	}
	first := write(&store.Record{Name: key(k), Status: nomen.Reserved}, 1)
	gone := store.Change{Delete: key(k), Expected: 1, Time: minute(2), Who: "library-it", Why: "not needed"}
	back := write(Rich(), 3)
	back.Record.Name, back.Who, back.Why = key(k), "", ""
	s.apply(first, gone)
	s.apply(back, put(k+"x", "u:1", 0), put(k[:len(k)-1], "u:1", 0), put(k+"-", "u:1", 9))
	s.apply(back) // changes nothing, so it is not in the history
	early := put(k, "u:1", 2)
	s.apply(early)
	want := []*store.Change{
		kept(early, 3, 3), kept(back, 2, 3), kept(gone, 1, 2), kept(first, 0, 1),
	}
	s.equal("history", read(s, seq), want)
	s.replay(want)
	leave(s, seq, len(want))
}

// kept returns the form in which a store keeps the change c. The parameter after is the revision
// that c replaced. The parameter n is the minute in which c was made.
func kept(c store.Change, after uint64, n int) *store.Change {
	k := c.Clone()
	k.Expected, k.Time = after, minute(n)
	if k.Record != nil {
		k.Record.Modified, k.Record.Revision = minute(n), after+1
	}
	if k.Authority != nil {
		k.Authority.Modified, k.Authority.Revision = minute(n), after+1
	}
	if k.User != nil {
		k.User.Modified, k.User.Revision = minute(n), after+1
	}
	if k.Rights != nil {
		k.Rights.Modified, k.Rights.Revision = minute(n), after+1
	}
	return k
}

// replay applies a history to another name, and checks that the other name then has the same
// history. The changes are sorted newest first.
func (s *suite) replay(changes []*store.Change) {
	s.Helper()
	other := key("urn:x-b:other")
	for i := len(changes) - 1; i >= 0; i-- {
		c := changes[i].Clone()
		if c.Record != nil {
			c.Record.Name = other
			if c.Record.Status != nomen.Reserved {
				c.Expected = 0
			}
		} else {
			c.Delete = other
		}
		if i == 0 {
			c.Expected = changes[0].Expected
		}
		s.apply(*c)
	}
	if got := s.get(other.Key()); got.Revision != uint64(len(changes)) {
		s.Errorf("a history applied again led to revision %d, want %d", got.Revision, len(changes))
	}
}

func authorities(s *suite) {
	change := func(prefix, contact string, n int) store.Change {
		a := RichAuthority()
		a.Prefix, a.Contact = name.PrefixFromKey(prefix), contact
		return store.Change{Authority: a, Expected: store.AnyRevision, Time: minute(n), Who: "archive"}
	}
	all := func(at time.Time) []string {
		return texts(read(s, s.Authorities(s.Context(), at)), func(a *store.Authority) string { return fmt.Sprint(a.Prefix, " ", a.Contact, " ", a.Revision) })
	}
	s.equal("results", s.apply(
		change("urn:b", "x", 1), change("urn:a:x", "x", 1), change("urn:a", "x", 2), change("urn:a-", "x", 2), change("urn:b", "x", 2),
	), []store.Result{changed(1), changed(1), changed(1), changed(1), already(1)})
	s.apply(put("urn:a", "u:1", 0), change("urn:b", "y", 3))
	s.equal("all", all(time.Time{}), []string{"urn:a x 1", "urn:a- x 1", "urn:a:x x 1", "urn:b y 2"})
	s.equal("at minute 0", all(minute(0)), []string(nil))
	s.equal("at minute 1", all(minute(1)), []string{"urn:a:x x 1", "urn:b x 1"})
	s.equal("at minute 2", all(minute(2)), []string{"urn:a x 1", "urn:a- x 1", "urn:a:x x 1", "urn:b x 1"})
	s.equal("names", s.keys(store.Scan{}), []string{"urn:a"})

	b := name.PrefixFromKey("urn:b")
	s.equal("authority", s.authority(b, time.Time{}), kept(change("urn:b", "y", 3), 1, 3).Authority)
	s.equal("authority at minute 2", s.authority(b, minute(2)), kept(change("urn:b", "x", 1), 0, 1).Authority)
	for _, p := range []string{"urn:", "urn:b:", "urn:bb"} {
		if a := s.authority(name.PrefixFromKey(p), time.Time{}); a != nil {
			s.Errorf("Authority(%q): %v", p, a)
		}
	}
	leave(s, s.Authorities(s.Context(), time.Time{}), 4)
}

// authorityContent checks that a change of any field makes a revision, and that an empty list
// equals a missing list.
func authorityContent(s *suite) {
	a := &store.Authority{Prefix: name.PrefixFromKey("urn:z")}
	s.apply(store.Change{Authority: a, Time: minute(0)})
	a.Owners, a.Hosts, a.Parents = []string{}, []string{}, []string{}
	a.Modified, a.Revision = minute(8), 8
	again := store.Change{Authority: a, Expected: 1, Time: minute(1)}
	s.equal("an authority in other form", s.apply(again), []store.Result{already(1)})
	revision := uint64(1)
	written := func(what string) {
		s.Helper()
		again.Expected = revision
		s.equal(what, s.apply(again), []store.Result{changed(revision + 1)})
		s.equal(what, s.authority(a.Prefix, time.Time{}), kept(again, revision, 1).Authority)
		revision++
	}
	to, from := reflect.ValueOf(a).Elem(), reflect.ValueOf(RichAuthority()).Elem()
	for _, f := range reflect.VisibleFields(to.Type()) {
		if value := from.FieldByIndex(f.Index); !f.Anonymous && f.Name != "Prefix" && !value.IsZero() {
			to.FieldByIndex(f.Index).Set(value)
			written("other content: " + f.Name)
		}
	}
	a.Rules[0].Tests[1].From += "x"
	written("content of a rule")
	a.Delegation.To = "x"
	written("content of the delegation")
	a.Policy = store.Policy{Fetch: true}
	written("other policy")
}

func aToken() (*store.Token, store.Change) {
	t := &store.Token{
		ID: "k7\x00 ä", Hash: [32]byte{0, 1, 2, 31: 255}, Role: "editor", Prefixes: []string{"urn:x-a", ""},
		Who: "archive", Created: minute(0).Add(1500 * time.Microsecond), Expires: minute(90).Add(1500 * time.Microsecond),
	}
	return t, store.Change{Token: t, Expected: 17, Time: minute(1)}
}

func tokens(s *suite) {
	tok, change := aToken()
	s.equal("added", s.apply(change), []store.Result{changed(0)})
	s.equal("again", s.apply(change), []store.Result{already(0)})
	want := *tok
	want.Created, want.Expires = minute(0).Add(time.Millisecond), minute(90).Add(time.Millisecond)
	s.equal("token", s.token(tok.ID), &want)
	tok.Revoked, want.Revoked = true, true
	s.equal("revoked", s.apply(change), []store.Result{changed(0)})
	s.equal("revoked token", s.token(tok.ID), &want)
	*tok = store.Token{ID: tok.ID}
	s.equal("bare", s.apply(change), []store.Result{changed(0)})
	s.equal("bare token", s.token(tok.ID), tok)
	for _, id := range []string{"", "k7", "k7\x00 ä "} {
		if got := s.token(id); got != nil {
			s.Errorf("Token(%q): %v", id, got)
		}
	}
}

func tokenUse(s *suite) {
	tok, change := aToken()
	s.apply(change)
	want := tok.Clone()
	day := func(n int) time.Time { return time.Date(2001, 9, 9+n, 0, 0, 0, 0, time.UTC) }
	use := func(what, id string, at time.Time, result store.Result, used time.Time) {
		s.Helper()
		s.equal(what, s.apply(store.Change{Token: &store.Token{ID: id, Used: at}, UseOnly: true, Time: minute(5)}), []store.Result{result})
		want.Used = used
		s.equal(what, s.token(want.ID), want)
	}
	use("used", tok.ID, day(0).Add(5*time.Hour), changed(0), day(0))
	use("used again that day", tok.ID, day(0).Add(23*time.Hour), already(0), day(0))
	use("used before", tok.ID, day(0).Add(-time.Hour), already(0), day(0))
	use("used on the next day", tok.ID, day(1), changed(0), day(1))
	use("a token that is not there", "k8", day(0), already(0), day(1))
	for _, c := range read(s, store.TokenChanges(s.Context(), s.Store)) {
		s.equal("time and author of a token that was used", []any{c.Token.ID, c.Time, c.Who, c.UseOnly}, []any{tok.ID, minute(1), "", false})
	}
	tok.Revoked, want.Revoked = true, true // written by a client that read the token before it was used
	s.equal("revoked", s.apply(change), []store.Result{changed(0)})
	s.equal("token", s.token(tok.ID), want)
	use("a use that was noted late", tok.ID, day(2), changed(0), day(2)) // the token stays revoked
	*tok, *want = store.Token{ID: tok.ID}, store.Token{ID: tok.ID, Used: want.Used}
	s.equal("bare", s.apply(change), []store.Result{changed(0)})
	s.equal("bare token", s.token(tok.ID), want)
}
