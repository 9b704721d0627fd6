package storetest

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/nomen-project/nomen/internal/codec"
	"github.com/nomen-project/nomen/internal/ledger"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

func treeReader(s *suite) {
	r := s.Store.(store.TreeReader)
	const n = 1100 // more than four full tiles
	var batch []store.Change
	for i := range n - 3 {
		if batch = append(batch, put(fmt.Sprint("urn:x-a:", i%70), fmt.Sprint("u:", i), 0)); len(batch) == 100 {
			s.apply(batch...)
			batch = nil
		}
	}
	s.apply(append(batch, store.Change{Authority: &store.Authority{Prefix: name.PrefixFromKey("urn:x-a:")}, Time: minute(1)})...)
	redaction := put("urn:x-a:0", "u:last", 1)
	redaction.Redacts = []uint64{1, 3}
	s.apply(redaction)
	s.apply(put("urn:x-b:1", "u:b", 2))
	head, all := s.sealed(), s.entries(0)
	if head.Size != n {
		s.Fatalf("%d entries, want %d", head.Size, n)
	}
	s.leaves(r, all)
	s.nodes(r, all)
	s.entriesOf(r, all)
	if scanner, ok := s.Store.(store.LeafScanner); ok {
		s.scanned(scanner, all)
	}
}

// scanned checks that ScanLeaves yields the hash of each entry once.
func (s *suite) scanned(r store.LeafScanner, all []*store.Entry) {
	s.Helper()
	for _, size := range []uint64{0, 1, 700, uint64(len(all))} {
		got := map[uint64]ledger.Hash{}
		if err := r.ScanLeaves(s.Context(), size, func(seq uint64, hash [32]byte) bool {
			if _, twice := got[seq]; twice {
				s.Errorf("entry %d is yielded twice", seq)
			}
			got[seq] = hash
			return true
		}); err != nil {
			s.Fatal(err)
		}
		if uint64(len(got)) != size {
			s.Errorf("%d entries at size %d", len(got), size)
		}
		for seq, hash := range got {
			if seq > size || hash != ledger.LeafHash(codec.AppendLeaf(nil, all[seq-1])) {
				s.Errorf("entry %d of %d has another hash", seq, size)
			}
		}
	}
}

// leaves checks the leaves of ranges of the log.
func (s *suite) leaves(r store.TreeReader, all []*store.Entry) {
	s.Helper()
	n := uint64(len(all))
	for _, c := range [][2]uint64{{0, n}, {0, 256}, {256, 512}, {1, 1}, {n - 1, n}, {n, n}, {300, 900}, {5, 4}} {
		at := c[0]
		for leaf, err := range r.Leaves(s.Context(), c[0], c[1]) {
			if err != nil {
				s.Fatalf("leaves %d to %d: %v", c[0], c[1], err)
			}
			if want := codec.AppendLeaf(nil, all[at]); !bytes.Equal(leaf, want) {
				s.Fatalf("leaf %d: %x, want %x", at+1, leaf, want)
			}
			at++
		}
		if at != max(c[0], c[1]) {
			s.Errorf("leaves %d to %d ended after %d", c[0], c[1], at)
		}
	}
	for _, end := range []uint64{n + 1, n + 300} {
		got, failed := 0, error(nil)
		for _, err := range r.Leaves(s.Context(), n-2, end) {
			if failed = err; err == nil {
				got++
			}
		}
		if got != 2 || failed == nil {
			s.Errorf("leaves up to %d: %d, %v, want 2 and an error", end, got, failed)
		}
	}
	leave(s, r.Leaves(s.Context(), n-4, n), 4)
}

func (s *suite) nodes(r store.TreeReader, all []*store.Entry) {
	s.Helper()
	var log ledger.Log
	want := map[int][]ledger.Hash{}
	for _, e := range all {
		for _, node := range log.Append(nil, codec.AppendLeaf(nil, e)) {
			want[node.Level] = append(want[node.Level], node.Hash)
		}
	}
	for level, hashes := range want {
		for first := range len(hashes) + 1 {
			got, err := r.Nodes(s.Context(), level, uint64(first), uint64(len(hashes)))
			if err != nil {
				s.Fatalf("nodes of level %d: %v", level, err)
			}
			s.equal(fmt.Sprintf("nodes of level %d from %d", level, first), append([]ledger.Hash{}, got...), append([]ledger.Hash{}, hashes[first:]...))
		}
	}
	for _, c := range []struct {
		level      int
		first, end uint64
	}{{8, 0, 5}, {7, 0, 1}, {8, 2, 1}, {-1, 0, 1}, {64, 0, 1}, {8, 0, 1 << 60}, {12, 0, 1}} {
		if got, err := r.Nodes(s.Context(), c.level, c.first, c.end); err == nil {
			s.Errorf("nodes %d to %d of level %d: %d, want an error", c.first, c.end, c.level, len(got))
		}
	}
}

func (s *suite) entriesOf(r store.TreeReader, all []*store.Entry) {
	s.Helper()
	for _, e := range all {
		got, err := r.EntryOf(s.Context(), e.Change.Subject(), e.Change.Revision())
		if err != nil {
			s.Fatalf("entry %d: %v", e.Seq, err)
		}
		s.equal(fmt.Sprint("entry ", e.Seq), got, e)
	}
	for _, c := range []struct {
		subject  store.Subject
		revision uint64
	}{
		{store.Subject{Kind: store.KindName, Key: "urn:x-a:1"}, 0},
		{store.Subject{Kind: store.KindName, Key: "urn:x-a:1"}, 99},
		{store.Subject{Kind: store.KindName, Key: "urn:x-a:1"}, 1<<64 - 1},
		{store.Subject{Kind: store.KindName, Key: "urn:x-a:none"}, 1},
		{store.Subject{Kind: store.KindName, Key: "\x00"}, 1},
		{store.Subject{Kind: store.KindAuthority, Key: "urn:x-a:1"}, 1},
		{store.Subject{Kind: store.KindToken, Key: "t"}, 1},
		{store.Subject{}, 1},
	} {
		if got, err := r.EntryOf(s.Context(), c.subject, c.revision); !errors.Is(err, store.ErrNotFound) {
			s.Errorf("entry of %v, revision %d: %v, %v, want ErrNotFound", c.subject, c.revision, got, err)
		}
	}
}
