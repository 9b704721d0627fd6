package storetest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/nomen-project/nomen/internal/codec"
	"github.com/nomen-project/nomen/internal/ledger"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// sealed waits until all changes are sealed, and returns the head of the log. For a store without a
// log, it returns the zero Head.
func (s *suite) sealed() store.Head {
	s.Helper()
	if !has[store.Feed](s.Store) {
		return store.Head{}
	}
	head, err := settled(s.Context(), s.Store)
	if err != nil {
		s.Fatal(err)
	}
	if head.Size != uint64(s.kept) {
		s.Fatalf("Head: %d changes, want %d", head.Size, s.kept)
	}
	return head
}

// settled waits until all acknowledged changes are sealed, and returns the head of the store.
func settled(ctx context.Context, s store.Store) (store.Head, error) {
	if err := store.Settle(ctx, s); err != nil {
		return store.Head{}, err
	}
	return store.HeadOf(ctx, s)
}

// entries returns the entries of the log whose numbers are greater than the parameter after. It
// checks that the entries are complete, in order, and consistent with the head. For a store without
// a log, it returns no entries.
func (s *suite) entries(after uint64) []*store.Entry {
	s.Helper()
	if !has[store.Feed](s.Store) {
		return nil
	}
	all := read(s, store.Changes(s.Context(), s.Store, after))
	for i, e := range all {
		if e.Seq != after+uint64(i)+1 {
			s.Fatalf("entry %d after %d has the place %d", i+1, after, e.Seq)
		}
		if problem := flawed(e); problem != "" {
			s.Errorf("entry %d: %s: %+v", e.Seq, problem, e)
		}
	}
	return all
}

// flawed describes what is wrong with the entry e, or returns "".
func flawed(e *store.Entry) string {
	switch {
	case e.Change == nil || e.Change.Token != nil:
		return "no change of a record or an authority"
	case !e.Change.Redacted && e.Digest != codec.Digest(e.Salt, codec.Append(nil, e.Change)):
		return "the digest is not that of salt and content"
	case !e.Change.Redacted && e.Salt == [store.SaltSize]byte{}:
		return "no salt"
	case e.Change.Redacted && e.Salt != [store.SaltSize]byte{}:
		return "redacted, with its salt"
	}
	return ""
}

func headOf(entries []*store.Entry) store.Head {
	var tree ledger.Log
	for _, e := range entries {
		tree.Append(nil, codec.AppendLeaf(nil, e))
	}
	return tree.Head()
}

func changesOf(entries []*store.Entry) (all []*store.Change) {
	for _, e := range entries {
		all = append(all, e.Change)
	}
	return all
}

// story makes changes of all kinds, and returns the changes that the log must contain.
func (s *suite) story() []*store.Change {
	s.Helper()
	a := store.Change{Authority: RichAuthority(), Expected: store.AnyRevision, Time: minute(1), Who: "archive", Why: "ours"}
	b := store.Change{Authority: RichAuthority(), Expected: store.AnyRevision, Time: minute(2), Who: "archive"}
	b.Authority.Contact = ""
	rich := write(Rich(), 0)
	k := Rich().Name.Key()
	s.apply(rich, put("urn:x-a:b", "https://example.org/1", 0))
	s.apply(rich) // the same content again, which makes no revision
	s.apply(store.Change{Token: &store.Token{ID: "t", Role: "editor"}, Time: minute(0)}, a, reserve("urn:x-a:r", 1))
	s.apply(put("urn:x-a:b", "https://example.org/2", 2), remove("urn:x-a:r", 2), put("urn:x-a:b", "https://example.org/3", 1))
	s.apply(b, remove("urn:x-a:never", 2), put(k, "https://example.org/1", 3))
	later := put("urn:x-a:b", "https://example.org/3", 1)
	return []*store.Change{
		kept(rich, 0, 0), kept(put("urn:x-a:b", "https://example.org/1", 0), 0, 0),
		kept(a, 0, 1), kept(reserve("urn:x-a:r", 1), 0, 1),
		kept(put("urn:x-a:b", "https://example.org/2", 2), 1, 2), kept(remove("urn:x-a:r", 2), 1, 2), kept(later, 2, 2),
		kept(b, 1, 2), kept(put(k, "https://example.org/1", 3), 1, 3),
	}
}

func feed(s *suite) {
	s.equal("head of an empty store", s.sealed(), store.Head{})
	s.equal("changes of an empty store", s.entries(0), []*store.Entry(nil))
	want := s.story()
	n, head, all := s.kept, s.sealed(), s.entries(0)
	s.equal("changes", changesOf(all), want)
	s.equal("head", head, headOf(all))
	for after := range n {
		s.equal(fmt.Sprintf("entries after %d", after), s.entries(uint64(after)), all[after:])
	}
	s.equal("entries after the last", s.entries(uint64(n)), []*store.Entry(nil))
	s.equal("entries after what will be", s.entries(1<<62), []*store.Entry(nil))
	leave(s, store.Changes(s.Context(), s.Store, 2), n-2)
	for _, e := range all { // the caller owns the entries
		spoilChange(e.Change)
	}
	s.equal("changes, once more", changesOf(s.entries(0)), want)
	s.apply(put("urn:x-a:b", "https://example.org/4", 4))
	s.sealed()
	if more := s.entries(uint64(n)); len(more) != 1 || more[0].Change.Revision() != 4 {
		s.Errorf("after one more change: %+v", more)
	}
	seen := map[[store.SaltSize]byte]bool{} // equal salts would reveal equal content
	for _, e := range s.entries(0) {
		if seen[e.Salt] {
			s.Errorf("entry %d has the salt of another", e.Seq)
		}
		seen[e.Salt] = true
	}
}

func spoilChange(c *store.Change) {
	c.Who, c.Expected = "spoilt", 77
	switch {
	case c.Record != nil && len(c.Record.Locations) > 0:
		c.Record.Locations[0].URL = "spoilt"
	case c.Authority != nil:
		c.Authority.Owners[0] = "spoilt"
	}
}

// feedSettled checks that after a call of Settle, the feed has all changes that were acknowledged
// before the call.
func feedSettled(s *suite) {
	for i := range 5 {
		s.apply(put(fmt.Sprint("urn:x-a:", i), "https://example.org/", i), put("urn:x-a:many", fmt.Sprint("https://example.org/", i), i))
		s.sealed()
	}
	if all := s.entries(0); len(all) != s.kept {
		s.Errorf("%d entries, want %d", len(all), s.kept)
	}
}

// sealTime is how long the tests wait for the store to seal changes without a call of Settle.
// Normally this takes a second at most.
const sealTime = 20 * time.Second

// feedWhileWriting checks that a reader who follows the log during writes sees every entry exactly
// once, and that every head matches the entries up to it.
func feedWhileWriting(s *suite) {
	const writers, rounds, names = 8, 25, 3
	const total = writers * rounds * (names + 1)
	var all []*store.Entry
	var heads []store.Head
	follow := func() {
		head, err := store.HeadOf(s.Context(), s.Store)
		if err != nil {
			s.Fatalf("Head: %v", err)
		}
		heads = append(heads, head)
		all = append(all, s.entries(uint64(len(all)))...)
		if uint64(len(all)) < head.Size {
			s.Errorf("%d entries, and the head before was of %d", len(all), head.Size)
		}
	}
	write := func(w int) {
		for round := range rounds {
			batch := []store.Change{put("urn:x-a:shared", fmt.Sprintf("u:%d:%d", w, round), round)}
			for i := range names {
				batch = append(batch, put(fmt.Sprintf("urn:x-a:%d:%d", w, i), fmt.Sprint("u:", round), round))
			}
			if _, err := s.Apply(s.Context(), batch); err != nil {
				s.Errorf("Apply: %v", err)
			}
		}
	}
	during(func() { together(writers, write) }, follow)
	for end := time.Now().Add(sealTime); len(all) < total && time.Now().Before(end); {
		follow()
	}
	s.kept = total
	s.oneOrder(all)
	for _, h := range append(slices.Compact(heads), s.sealed()) {
		if int(h.Size) > len(all) || h != headOf(all[:h.Size]) {
			s.Errorf("the head of %d changes is not that of the changes", h.Size)
		}
	}
	s.equal("all at once", s.entries(0), all)
}

// oneOrder checks that the changes of each subject are complete and in the order of
// their revisions.
func (s *suite) oneOrder(all []*store.Entry) {
	s.Helper()
	last := map[store.Subject]uint64{}
	for _, e := range all {
		subject := e.Change.Subject()
		if e.Change.Revision() != last[subject]+1 {
			s.Errorf("entry %d is revision %d of %s, after revision %d", e.Seq, e.Change.Revision(), subject.Key, last[subject])
		}
		last[subject] = e.Change.Revision()
	}
}

// proofs checks that the store's proofs about its log are valid for its head.
func proofs(s *suite) {
	p := s.Store.(store.Prover)
	const n = 300 // so many that the store saves more than one node
	for i := range n {
		s.apply(put(fmt.Sprint("urn:x-a:", i%7), fmt.Sprint("u:", i), 0))
	}
	head, all := s.sealed(), s.entries(0)
	for _, seq := range []uint64{1, 2, 255, 256, 257, n} {
		proof, err := p.ProveEntry(s.Context(), n, seq)
		leaf := codec.AppendLeaf(nil, all[seq-1])
		if err != nil || ledger.CheckInclusion(proof, head, seq, leaf) != nil {
			s.Errorf("entry %d of %d is not proved: %x, %v", seq, n, proof, err)
		}
	}
	for _, size := range []uint64{0, 1, 255, 256, 257, n - 1, n} {
		proof, err := p.ProveHead(s.Context(), n, size)
		if err != nil || ledger.CheckConsistency(proof, head, headOf(all[:size])) != nil {
			s.Errorf("the first %d of %d are not proved: %x, %v", size, n, proof, err)
		}
	}
	for _, c := range [][2]uint64{{n, 0}, {n, n + 1}, {n + 1, 1}} {
		if proof, err := p.ProveEntry(s.Context(), c[0], c[1]); err == nil {
			s.Errorf("entry %d of %d is proved: %x", c[1], c[0], proof)
		}
	}
	if proof, err := p.ProveHead(s.Context(), n+1, 1); err == nil {
		s.Errorf("a head of %d is proved: %x", n+1, proof)
	}
}

func authorityHistory(s *suite) {
	story := s.story()
	prefix := RichAuthority().Prefix.String()
	for _, other := range []string{"urn:x-a:b", prefix + ":", prefix[:len(prefix)-1], ""} {
		if got := read(s, store.AuthorityHistory(s.Context(), s.Store, name.PrefixFromKey(other))); got != nil {
			s.Errorf("history of %q, which is not an authority: %+v", other, got)
		}
	}
	seq := store.AuthorityHistory(s.Context(), s.Store, RichAuthority().Prefix)
	leave(s, seq, 2)
	for range 2 {
		got := read(s, seq)
		s.equal("history of an authority", got, []*store.Change{story[7], story[2]})
		spoilChange(got[0])
	}
}

func allTokens(s *suite) {
	ids := func() []string {
		return texts(read(s, store.AllTokens(s.Context(), s.Store)), func(t *store.Token) string { return fmt.Sprint(t.ID, " ", t.Role, " ", t.Revoked) })
	}
	s.equal("none", ids(), []string(nil))
	add := func(id, role string, revoked bool) store.Change {
		return store.Change{Token: &store.Token{ID: id, Role: role, Revoked: revoked}, Time: minute(0)}
	}
	s.apply(add("b", "editor", false), add("a\x00", "owner", true), add("ä", "", false), add("B", "reader", false), put("a", "u:1", 0))
	s.apply(add("b", "editor", true), add("a", "x", false))
	s.equal("tokens", ids(), []string{"B reader false", "a x false", "a\x00 owner true", "b editor true", "ä  false"})
	leave(s, store.AllTokens(s.Context(), s.Store), 5)
	if !has[store.TokenHistorian](s.Store) {
		return
	}
	made := store.Change{Token: &store.Token{ID: "b", Role: "owner"}, Time: minute(1), Who: "an archivist", Why: "a new role"}
	s.apply(made)
	c := read(s, store.TokenChanges(s.Context(), s.Store))[3]
	s.equal("the last change of a token", []any{c.Token.ID, c.Token.Role, c.Who, c.Why, c.Time}, []any{"b", "owner", made.Who, made.Why, made.Time})
}
