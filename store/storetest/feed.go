package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/nomen-project/nomen/internal/codec"
	"github.com/nomen-project/nomen/internal/ledger"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// sealTime is how long the suites wait for changes to be sealed, which should
// take a second at most.
const sealTime = 20 * time.Second

// sealed waits until n changes are sealed and returns the head.
func (s *suite) sealed(n int) store.Head {
	s.Helper()
	head, err := awaitSealed(s.Context(), s.Store, uint64(n))
	if err != nil {
		s.Fatal(err)
	}
	if head.Size != uint64(n) {
		s.Fatalf("Head: %d changes, want %d", head.Size, n)
	}
	return head
}

// awaitSealed waits until at least n changes are sealed.
func awaitSealed(ctx context.Context, s store.Store, n uint64) (store.Head, error) {
	for end := time.Now().Add(sealTime); ; {
		head, err := store.HeadOf(ctx, s)
		if err != nil || head.Size >= n {
			return head, err
		}
		if time.Now().After(end) {
			return head, fmt.Errorf("%d changes are sealed after %v, want %d", head.Size, sealTime, n)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// entries returns those after a place, which must follow each other, be whole
// and lead to the head.
func (s *suite) entries(after uint64) []*store.Entry {
	s.Helper()
	all, err := collect(store.Changes(s.Context(), s.Store, after))
	if err != nil {
		s.Fatalf("Changes after %d: %v", after, err)
	}
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

// flawed says why e is not as an entry should be, "" if it is.
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

// headOf computes the head of entries from the first on.
func headOf(entries []*store.Entry) store.Head {
	var tree ledger.Log
	for _, e := range entries {
		tree.Append(nil, codec.AppendLeaf(nil, e))
	}
	return tree.Head()
}

// changesOf returns the changes of entries.
func changesOf(entries []*store.Entry) (all []*store.Change) {
	for _, e := range entries {
		all = append(all, e.Change)
	}
	return all
}

// isFeed reports whether the store has a log of its changes.
func (s *suite) isFeed() bool {
	_, ok := s.Store.(store.Feed)
	return ok
}

// story makes changes of all kinds, and returns how many are kept in the log and
// what they are.
func (s *suite) story() (int, []*store.Change) {
	s.Helper()
	a := store.Change{Authority: RichAuthority(), Expected: store.AnyRevision, Time: minute(1), Who: "archive", Why: "ours"}
	b := store.Change{Authority: RichAuthority(), Expected: store.AnyRevision, Time: minute(2), Who: "archive"}
	b.Authority.Contact = ""
	rich := write(Rich(), 0)
	k := Rich().Name.Key()
	s.apply(rich, put("urn:x-a:b", "https://example.org/1", 0))
	s.apply(rich) // the same again
	s.apply(store.Change{Token: &store.Token{ID: "t", Role: "editor"}, Time: minute(0)}, a, reserve("urn:x-a:r", 1))
	s.apply(put("urn:x-a:b", "https://example.org/2", 2), remove("urn:x-a:r", 2), put("urn:x-a:b", "https://example.org/3", 1))
	s.apply(b, remove("urn:x-a:never", 2), put(k, "https://example.org/1", 3))
	later := put("urn:x-a:b", "https://example.org/3", 1)
	want := []*store.Change{
		kept(rich, 0, 0), kept(put("urn:x-a:b", "https://example.org/1", 0), 0, 0),
		keptAuthority(a, 0, 1), kept(reserve("urn:x-a:r", 1), 0, 1),
		kept(put("urn:x-a:b", "https://example.org/2", 2), 1, 2), kept(remove("urn:x-a:r", 2), 1, 2), kept(later, 2, 2),
		keptAuthority(b, 1, 2), kept(put(k, "https://example.org/1", 3), 1, 3),
	}
	return len(want), want
}

// keptAuthority is what kept is of a record.
func keptAuthority(c store.Change, after uint64, n int) *store.Change {
	k := kept(c, after, n)
	k.Authority.Modified, k.Authority.Revision = minute(n), after+1
	return k
}

func feed(s *suite) {
	if !s.isFeed() {
		return
	}
	s.equal("head of an empty store", s.sealed(0), store.Head{})
	s.equal("changes of an empty store", s.entries(0), []*store.Entry(nil))
	n, want := s.story()
	head := s.sealed(n)
	all := s.entries(0)
	s.equal("changes", changesOf(all), want)
	s.equal("head", head, headOf(all))
	for after := range n {
		s.equal(fmt.Sprintf("entries after %d", after), s.entries(uint64(after)), all[after:])
	}
	s.equal("entries after the last", s.entries(uint64(n)), []*store.Entry(nil))
	s.equal("entries after what will be", s.entries(1<<62), []*store.Entry(nil))
	seq := store.Changes(s.Context(), s.Store, 2)
	for range 2 { // an iterator can be used again, and left
		for e, err := range seq {
			if err != nil || e.Seq != 3 {
				s.Fatalf("first entry after 2: %+v, %v", e, err)
			}
			break
		}
	}
	for _, e := range all { // what was handed out is the caller's
		spoilChange(e.Change)
	}
	s.equal("changes, once more", changesOf(s.entries(0)), want)
	s.apply(put("urn:x-a:b", "https://example.org/4", 4))
	s.sealed(n + 1)
	if more := s.entries(uint64(n)); len(more) != 1 || more[0].Change.Revision() != 4 {
		s.Errorf("after one more change: %+v", more)
	}
	s.salted()
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

// salted: the same content has never the same digest, or it could be guessed.
func (s *suite) salted() {
	seen := map[[store.SaltSize]byte]bool{}
	for _, e := range s.entries(0) {
		if seen[e.Salt] {
			s.Errorf("entry %d has the salt of another", e.Seq)
		}
		seen[e.Salt] = true
	}
}

// feedSettled: who has settled the store finds in its feed all that was
// acknowledged before, at once.
func feedSettled(s *suite) {
	if _, err := store.HeadOf(s.Context(), s.Store); errors.Is(err, errors.ErrUnsupported) {
		return
	}
	for i := range 5 {
		s.apply(put(fmt.Sprint("urn:x-a:", i), "https://example.org/", i), put("urn:x-a:many", fmt.Sprint("https://example.org/", i), i))
		if err := store.Settle(s.Context(), s.Store); err != nil {
			s.Fatalf("Settle: %v", err)
		}
		head, err := store.HeadOf(s.Context(), s.Store)
		if err != nil {
			s.Fatal(err)
		}
		if head.Size != uint64(s.kept) {
			s.Fatalf("%d changes are in the feed of a store that has settled, of %d", head.Size, s.kept)
		}
	}
	if all := s.entries(0); len(all) != s.kept {
		s.Errorf("%d entries, want %d", len(all), s.kept)
	}
}

// feedWhileWriting: who follows the log misses nothing and sees nothing twice,
// and every head is that of the entries up to it.
func feedWhileWriting(s *suite) {
	if !s.isFeed() {
		return
	}
	const writers, rounds, names = 8, 25, 3
	const total = writers * rounds * (names + 1)
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for round := range rounds {
				batch := []store.Change{put("urn:x-a:shared", fmt.Sprintf("u:%d:%d", w, round), round)}
				for i := range names {
					batch = append(batch, put(fmt.Sprintf("urn:x-a:%d:%d", w, i), fmt.Sprint("u:", round), round))
				}
				if _, err := s.Apply(s.Context(), batch); err != nil {
					s.Errorf("Apply: %v", err)
				}
			}
		})
	}
	var all []*store.Entry
	var heads []store.Head
	wg.Go(func() {
		for end := time.Now().Add(sealTime); len(all) < total; {
			head, err := store.HeadOf(s.Context(), s.Store)
			if err != nil {
				s.Errorf("Head: %v", err)
				return
			}
			heads = append(heads, head)
			for e, err := range store.Changes(s.Context(), s.Store, uint64(len(all))) {
				if err != nil || e.Seq != uint64(len(all))+1 {
					s.Errorf("entry %d: %+v, %v", len(all)+1, e, err)
					return
				}
				all = append(all, e)
			}
			if uint64(len(all)) < head.Size {
				s.Errorf("%d entries, and the head before was of %d", len(all), head.Size)
			}
			if time.Now().After(end) {
				s.Errorf("%d changes in the log, want %d", len(all), total)
				return
			}
		}
	})
	wg.Wait()
	s.oneOrder(all)
	heads = append(heads, s.sealed(total))
	for _, h := range slices.Compact(heads) {
		if int(h.Size) > len(all) || h != headOf(all[:h.Size]) {
			s.Errorf("the head of %d changes is not that of the changes", h.Size)
		}
	}
	s.equal("all at once", s.entries(0), all)
}

// oneOrder checks that the changes of each subject are in the order of their
// revisions, and all there.
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

// proofs: what the store proves of its log holds for its head.
func proofs(s *suite) {
	p, ok := s.Store.(store.Prover)
	if !ok {
		return
	}
	const n = 300 // more than one node that is kept
	for i := range n {
		s.apply(put(fmt.Sprint("urn:x-a:", i%7), fmt.Sprint("u:", i), 0))
	}
	head, all := s.sealed(n), s.entries(0)
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
	if _, ok := s.Store.(store.AuthorityHistorian); !ok {
		return
	}
	n, story := s.story()
	read := func(prefix string) []*store.Change {
		s.Helper()
		all, err := collect(store.AuthorityHistory(s.Context(), s.Store, name.PrefixFromKey(prefix)))
		if err != nil {
			s.Fatal(err)
		}
		return all
	}
	prefix := RichAuthority().Prefix.String()
	s.equal("history of an authority", read(prefix), []*store.Change{story[7], story[2]})
	for _, other := range []string{"urn:x-a:b", prefix + ":", prefix[:len(prefix)-1], ""} {
		if got := read(other); got != nil {
			s.Errorf("history of %q, which is not an authority: %+v", other, got)
		}
	}
	for c := range store.AuthorityHistory(s.Context(), s.Store, RichAuthority().Prefix) {
		spoilChange(c)
		break
	}
	if got := len(read(prefix)); got != 2 {
		s.Errorf("history of an authority after %d changes: %d, want 2", n, got)
	}
}

func allTokens(s *suite) {
	if _, ok := s.Store.(store.TokenLister); !ok {
		return
	}
	read := func() (ids []string) {
		s.Helper()
		for tok, err := range store.AllTokens(s.Context(), s.Store) {
			if err != nil {
				s.Fatal(err)
			}
			ids = append(ids, fmt.Sprint(tok.ID, " ", tok.Role, " ", tok.Revoked))
		}
		return ids
	}
	s.equal("none", read(), []string(nil))
	add := func(id, role string, revoked bool) store.Change {
		return store.Change{Token: &store.Token{ID: id, Role: role, Revoked: revoked}, Time: minute(0)}
	}
	s.apply(add("b", "editor", false), add("a\x00", "owner", true), add("ä", "", false), add("B", "reader", false), put("a", "u:1", 0))
	s.apply(add("b", "editor", true), add("a", "x", false))
	s.equal("tokens", read(), []string{"B reader false", "a x false", "a\x00 owner true", "b editor true", "ä  false"})
	for range store.AllTokens(s.Context(), s.Store) {
		break
	}
	if _, ok := s.Store.(store.TokenHistorian); !ok {
		return
	}
	made := store.Change{Token: &store.Token{ID: "b", Role: "owner"}, Time: minute(1), Who: "an archivist", Why: "a new role"}
	s.apply(made)
	for c, err := range store.TokenChanges(s.Context(), s.Store) {
		if err != nil {
			s.Fatal(err)
		}
		if c.Token.ID == "b" {
			s.equal("the last change of a token", []any{c.Token.Role, c.Who, c.Why, c.Time}, []any{"owner", made.Who, made.Why, made.Time})
		}
	}
}
