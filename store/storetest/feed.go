package storetest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
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
			s.Errorf("history of %q, which is no authority: %+v", other, got)
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

// secret is what must be found nowhere once it was redacted.
const secret = "a-persons-secret"

// redaction: content that is redacted is gone from every answer, the log stays
// what it was, and all else stays.
func redaction(s *suite) {
	k := "urn:x-a:b"
	secretly := func(n int) store.Change {
		r := Rich()
		r.Name, r.Spelling = key(k), "urn:x-a:B"+secret
		r.Locations[0].URL, r.Locations[1].Note = fmt.Sprint("https://example.org/", secret, n), secret
		r.Metadata = nomen.Metadata{secret: {secret}}
		r.SameAs, r.Successors, r.Reason = []string{secret}, []string{secret}, secret
		c := write(r, n)
		c.Who, c.Why = secret, secret
		return c
	}
	s.apply(secretly(1), put(k, "u:2", 2), secretly(3), put("urn:x-a:c", "u:c", 3))
	if !s.isFeed() {
		s.redactUnlogged(k)
		return
	}
	n := 4
	head := s.sealed(n)
	before := s.entries(0)
	clean := put(k, "u:4", 4)
	clean.Redacts, clean.Why = []uint64{3, 1}, "the law"
	s.equal("redaction", s.apply(clean), []store.Result{changed(4)})
	n++
	s.sealed(n)
	s.nowhere(k)
	after := s.entries(0)
	for i, e := range before {
		if got, want := after[i], e.Change; got.Digest != e.Digest || got.Change.Subject() != want.Subject() ||
			got.Change.Revision() != want.Revision() || !got.Change.Time.Equal(want.Time) {
			s.Errorf("entry %d was %+v, and became %+v", e.Seq, e, got)
		}
	}
	s.equal("head of what was there before", headOf(after[:4]), head)
	s.equal("head", s.sealed(n), headOf(after))
	kept1, kept3 := kept(secretly(1), 0, 1).Redact(), kept(secretly(3), 2, 3).Redact()
	s.equal("the redacted change", after[0].Change, kept1)
	s.equal("the redaction", after[4].Change, kept(clean, 3, 4))
	s.equal("record at minute 1", s.getAt(k, minute(1)), kept1.Record)
	s.equal("record at minute 2", s.getAt(k, minute(2)), kept(put(k, "u:2", 2), 1, 2).Record)
	s.equal("record at minute 3", s.getAt(k, minute(3)), kept3.Record)
	s.equal("records at minute 1", s.list(s.Context(), store.Scan{At: minute(1)}), []*store.Record{kept1.Record})
	s.verifies()

	s.refuseRedactions(k)
	s.redactAgain(k, n)
	s.redactOthers()
}

// redactUnlogged: a store without a log of changes has a past all the same, which
// redacted content has to leave.
func (s *suite) redactUnlogged(k string) {
	s.Helper()
	clean := put(k, "u:4", 4)
	clean.Redacts, clean.Why = []uint64{3, 1}, "the law"
	s.equal("redaction", s.apply(clean), []store.Result{changed(4)})
	s.nowhere(k)
	s.refuseRedactions(k)
}

// refuseRedactions: only earlier revisions can be redacted, and what was redacted
// does not come back.
func (s *suite) refuseRedactions(k string) {
	s.Helper()
	for _, revisions := range [][]uint64{{5}, {1, 6}, {1 << 63}} {
		c := put(k, "u:5", 5)
		c.Redacts = revisions
		var got *store.StateError
		if err := s.refused(put("urn:x-a:d", "u:1", 0), c); !errors.As(err, &got) || got.Index != 1 || got.Key != k {
			s.Errorf("redacting %d after revision 4: %v, want a StateError of change 1", revisions, err)
		}
	}
	zero := put(k, "u:5", 5)
	zero.Redacts = []uint64{0}
	back := store.Change{Record: s.getAt(k, minute(1)), Expected: store.AnyRevision, Time: minute(5)}
	for _, c := range []store.Change{zero, back} {
		var got *store.ChangeError
		if err := s.refused(c); !errors.As(err, &got) {
			s.Errorf("%+v: %v, want a ChangeError", c, err)
		}
	}
}

// redactAgain redacts what was redacted, in a batch of its own making, and the
// redaction itself.
func (s *suite) redactAgain(k string, n int) {
	s.Helper()
	once := put(k, "u:5", 5)
	once.Why = secret
	same := put(k, "u:5", 5)
	same.Redacts = []uint64{1, 5, 4}
	s.equal("again, in one batch", s.apply(once, same), []store.Result{changed(5), changed(6)})
	s.sealed(n + 2)
	s.nowhere(k)
	all := s.entries(0)
	s.equal("a redaction, redacted", all[4].Change.Redacts, []uint64{1, 3})
	if !all[4].Change.Redacted || !all[5].Change.Redacted || all[6].Change.Redacted {
		s.Errorf("after the redaction of a redaction: %+v", changesOf(all))
	}
	s.equal("head", s.sealed(n+2), headOf(all))
	s.verifies()
}

// redactOthers redacts revisions of an authority and of a deleted name.
func (s *suite) redactOthers() {
	s.Helper()
	a := RichAuthority()
	a.Contact, a.Description = "mailto:"+secret, secret
	first := store.Change{Authority: a, Expected: store.AnyRevision, Time: minute(1), Who: secret}
	second := store.Change{Authority: RichAuthority(), Expected: store.AnyRevision, Time: minute(2), Redacts: []uint64{1}}
	gone := remove("urn:x-a:r", 2)
	gone.Who = secret
	again := remove("urn:x-a:r", 3)
	again.Redacts = []uint64{1, 2}
	reserved := write(&store.Record{Name: key("urn:x-a:r"), Status: nomen.Reserved, Reason: secret}, 1)
	s.equal("results", s.apply(first, second, reserved, gone, again), []store.Result{
		changed(1), changed(2), changed(1), changed(2), changed(3),
	})
	if s.get("urn:x-a:r") != nil {
		s.Error("a redaction has brought back a deleted name")
	}
	s.sealed(12)
	s.nowhere("urn:x-a:r")
	got, err := s.Authority(s.Context(), a.Prefix, minute(1))
	if err != nil {
		s.Fatal(err)
	}
	s.equal("authority at minute 1", got, keptAuthority(first, 0, 1).Redact().Authority)
	s.equal("head", s.sealed(12), headOf(s.entries(0)))
	s.verifies()
}

// nowhere checks that nothing that can be read has the secret.
func (s *suite) nowhere(k string) {
	s.Helper()
	var all []any
	if s.isFeed() {
		all = append(all, s.entries(0))
	}
	for n := range 7 {
		at := minute(n)
		if n == 6 {
			at = time.Time{}
		}
		all = append(all, s.list(s.Context(), store.Scan{At: at}), s.getAt(k, at))
		authorities, err := collect(s.Authorities(s.Context(), at))
		if err != nil {
			s.Fatal(err)
		}
		all = append(all, authorities)
	}
	places, err := collect(store.Find(s.Context(), s.Store, "", store.Place{}))
	if err != nil {
		s.Fatal(err)
	}
	all = append(all, places)
	if _, ok := s.Store.(store.Historian); ok {
		changes, err := collect(store.History(s.Context(), s.Store, key(k)))
		if err != nil {
			s.Fatal(err)
		}
		all = append(all, changes)
	}
	for _, v := range all {
		text, err := json.Marshal(v)
		if err != nil {
			s.Fatal(err)
		}
		if strings.Contains(string(text), secret) {
			s.Errorf("redacted, and still there: %s", text)
		}
	}
}

// verifies checks that Verify, if the store has it, finds nothing and comes to
// the head.
func (s *suite) verifies() {
	s.Helper()
	for _, f := range faults(s.T, s.Store) {
		s.Errorf("Verify of a sound store: %+v", f)
	}
}

// faults returns what Verify finds, in the order of places, subjects and words;
// nil for a store that cannot check itself.
func faults(t *testing.T, s store.Store) []store.Fault {
	t.Helper()
	if _, ok := s.(store.Verifier); !ok {
		return nil
	}
	want, err := store.HeadOf(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	var all []store.Fault
	var last, size uint64
	got, err := store.Verify(t.Context(), s, func(f store.Fault) { all = append(all, f) }, func(done, total uint64) {
		if done > total || done < last {
			t.Errorf("progress: %d of %d, after %d", done, total, last)
		}
		last, size = done, total
	})
	if err != nil {
		t.Fatalf("Verify: %v", err)
	}
	if got != want && len(all) == 0 {
		t.Errorf("Verify came to the head %v, the store to %v, and no fault", got, want)
	}
	if len(all) == 0 && (last != got.Size || size != got.Size) {
		t.Errorf("the progress of Verify ended with %d of %d changes, want %d", last, size, got.Size)
	}
	slices.SortFunc(all, func(a, b store.Fault) int {
		return cmp.Or(cmp.Compare(a.Seq, b.Seq), strings.Compare(a.Subject.Key, b.Subject.Key), strings.Compare(a.Problem, b.Problem))
	})
	return all
}

func verifying(s *suite) {
	if _, ok := s.Store.(store.Verifier); !ok {
		return
	}
	s.verifies()
	n, _ := s.story()
	s.fill(trickyKeys())
	n += len(trickyKeys())
	for i := range 300 {
		s.apply(put(fmt.Sprint("urn:x-a:", i%7), fmt.Sprint("u:", i), i%10))
		n++
	}
	s.sealed(n)
	s.verifies()
	ctx, cancel := context.WithCancel(s.Context())
	cancel()
	if _, err := store.Verify(ctx, s.Store, func(f store.Fault) { s.Errorf("fault: %+v", f) }, nil); !errors.Is(err, context.Canceled) {
		s.Errorf("Verify with a cancelled context: %v", err)
	}
	var got store.Head
	if h, err := store.Verify(s.Context(), s.Store, func(f store.Fault) { s.Errorf("fault: %+v", f) }, nil); err != nil {
		s.Errorf("Verify without progress: %v", err)
	} else {
		got = h
	}
	s.equal("head", got, s.sealed(n))
	s.verifyWhileWriting()
}

// verifyWhileWriting: a store that is written to is sound at every moment.
func (s *suite) verifyWhileWriting() {
	var wg sync.WaitGroup
	done := make(chan struct{})
	wg.Go(func() {
		defer close(done)
		for i := range 60 {
			c := put(fmt.Sprint("urn:x-w:", i%5), fmt.Sprint("u:", i), i)
			if i >= 5 && i%3 == 0 {
				c.Redacts = []uint64{1}
			}
			if _, err := s.Apply(s.Context(), []store.Change{c}); err != nil {
				s.Errorf("Apply: %v", err)
			}
		}
	})
	for more := true; more; {
		select {
		case <-done:
			more = false
		default:
		}
		_, err := store.Verify(s.Context(), s.Store, func(f store.Fault) { s.Errorf("while it is written to: %+v", f) }, nil)
		if err != nil {
			s.Errorf("Verify: %v", err)
		}
	}
	wg.Wait()
}
