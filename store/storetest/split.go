package storetest

import (
	"crypto/sha256"
	"slices"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/codec"
	"github.com/nomen-project/nomen/store"
)

// splitDigests checks that a store splits the digests of changes with private content from the
// call of SplitDigests on, and that earlier changes keep their digests. It also checks redaction,
// verification, and loading into another store.
func splitDigests(s *suite) {
	by := func(c store.Change) store.Change {
		c.Who, c.Why, c.Batch = "archive", "moved", "b-1"
		return c
	}
	bare := func(c store.Change) store.Change {
		c.Who, c.Why, c.Batch = "", "", ""
		return c
	}
	tombstone := put("urn:x-a:t", "u:1", 2)
	tombstone.Record.Status = nomen.Retired
	private := put("urn:x-a:v", "u:1", 2)
	private.Record.Values = []nomen.Value{{Index: 1, Type: "K", Data: "k", Permissions: "1100"}, {Index: 2, Type: "L"}}
	redacting := by(put("urn:x-a:b", "u:3", 3))
	redacting.Redacts = []uint64{1, 2}

	s.apply(by(put("urn:x-a:b", "u:1", 1)), put("urn:x-a:c", "u:1", 1))
	s.sealed()
	before := s.entries(0)
	splitter := s.Store.(store.Splitter)
	for range 2 { // the second call changes nothing
		if err := splitter.SplitDigests(s.Context()); err != nil {
			s.Fatal(err)
		}
	}
	s.sealed()
	s.equal("changes before", s.entries(0), before)
	s.apply(by(put("urn:x-a:b", "u:2", 2)), bare(put("urn:x-a:c", "u:2", 2)), by(reserve("urn:x-a:r", 2)), bare(tombstone), bare(private),
		by(store.Change{Authority: RichAuthority(), Expected: store.AnyRevision, Time: minute(2)}))
	s.apply(by(remove("urn:x-a:r", 3)), by(put("urn:x-a:d", "u:1", 3)))
	s.sealed()
	all := s.entries(0)
	var split []bool
	for _, e := range all {
		split = append(split, e.Change.Split)
		public, part, ok := codec.SplitValue(codec.Append(nil, e.Change))
		if ok != e.Change.Split {
			s.Errorf("change %d: the value is split: %t, want %t", e.Seq, ok, e.Change.Split)
		}
		privateHash := sha256.Sum256(slices.Concat(e.Salt[:], part))
		if got := codec.PublicDigest(public, privateHash); ok && got != e.Digest {
			s.Errorf("change %d: the digest is %x, want %x", e.Seq, e.Digest, got)
		}
	}
	s.equal("split", split, []bool{false, false, true, false, true, true, true, false, false, true})
	s.verifies()
	if has[store.Historian](s.Store) {
		history := read(s, store.History(s.Context(), s.Store, all[2].Change.Record.Name))
		s.equal("history", history, []*store.Change{all[2].Change, all[0].Change})
	}

	digests := func() (all [][32]byte) {
		for _, e := range s.entries(0) {
			all = append(all, e.Digest)
		}
		return all
	}
	earlier, head := digests(), s.sealed()
	s.apply(redacting)
	s.sealed()
	s.equal("digests after a redaction", digests()[:len(earlier)], earlier)
	s.equal("head of these", headOf(s.entries(0)[:len(earlier)]), head)
	last := s.entries(uint64(len(earlier)))[0]
	s.equal("the redaction is split", last.Change.Split, true)
	if public, _, _ := codec.SplitValue(codec.Append(nil, last.Change)); public != nil {
		c, err := codec.DecodePublic(last.Change.Subject(), public)
		if err != nil || c.Why != "moved" || c.Who != "" {
			s.Errorf("public part of a redaction: %+v, %v, want the reason and no author", c, err)
		}
	}
	s.verifies()
	if !has[store.Loader](s.Store) {
		return
	}
	to := newSuite(s.T, s.open)
	to.kept = s.kept
	if err := store.Load(s.Context(), to.Store, store.Changes(s.Context(), s.Store, 0)); err != nil {
		s.Fatal(err)
	}
	s.equal("head after Load", to.sealed(), s.sealed())
	s.equal("entries after Load", to.entries(0), s.entries(0))
	to.verifies()
}
