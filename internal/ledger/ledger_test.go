package ledger_test

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"slices"
	"testing"

	"golang.org/x/mod/sumdb/tlog"
	"pgregory.net/rapid"

	"github.com/nomen-project/nomen/internal/ledger"
	"github.com/nomen-project/nomen/store"
)

// The definitions of RFC 6962, section 2.1, word for word and slow.

func mth(d [][]byte) ledger.Hash {
	switch len(d) {
	case 0:
		return sha256.Sum256(nil)
	case 1:
		return sha256.Sum256(append([]byte{0}, d[0]...))
	}
	k := split(len(d))
	left, right := mth(d[:k]), mth(d[k:])
	return sha256.Sum256(slices.Concat([]byte{1}, left[:], right[:]))
}

// split returns the largest power of two smaller than n.
func split(n int) int {
	k := 1
	for 2*k < n {
		k *= 2
	}
	return k
}

func path(m int, d [][]byte) []ledger.Hash {
	if len(d) == 1 {
		return nil
	}
	k := split(len(d))
	if m < k {
		return append(path(m, d[:k]), mth(d[k:]))
	}
	return append(path(m-k, d[k:]), mth(d[:k]))
}

func subproof(m int, d [][]byte, whole bool) []ledger.Hash {
	if m == len(d) {
		if whole {
			return nil
		}
		return []ledger.Hash{mth(d)}
	}
	k := split(len(d))
	if m <= k {
		return append(subproof(m, d[:k], whole), mth(d[k:]))
	}
	return append(subproof(m-k, d[k:], false), mth(d[:k]))
}

// A memory is a source of nodes and leaves that were appended.
type memory struct {
	log    ledger.Log
	nodes  map[[2]uint64]ledger.Hash
	leaves [][]byte
	asked  int // for leaves
	broken error
}

func (m *memory) Node(level int, index uint64) (ledger.Hash, error) {
	h, ok := m.nodes[[2]uint64{uint64(level), index}]
	if !ok {
		return h, fmt.Errorf("node %d of level %d is not there", index, level)
	}
	return h, m.broken
}

func (m *memory) Leaves(from, to uint64) iter.Seq2[ledger.Hash, error] {
	return func(yield func(ledger.Hash, error) bool) {
		if m.broken != nil {
			yield(ledger.Hash{}, m.broken)
			return
		}
		for _, leaf := range m.leaves[from:to] {
			m.asked++
			if !yield(ledger.LeafHash(leaf), nil) {
				return
			}
		}
	}
}

// add appends leaves until there are n.
func (m *memory) add(n int) {
	if m.nodes == nil {
		m.nodes = map[[2]uint64]ledger.Hash{}
	}
	for i := len(m.leaves); i < n; i++ {
		leaf := binary.AppendUvarint(nil, uint64(i))
		m.leaves = append(m.leaves, leaf)
		for _, node := range m.log.Append(nil, leaf) {
			m.nodes[[2]uint64{uint64(node.Level), node.Index}] = node.Hash
		}
	}
}

// TestVectors checks the roots over the leaves with which the implementations of RFC 6962 are
// tested.
func TestVectors(t *testing.T) {
	var log ledger.Log
	for i, v := range []struct{ leaf, root string }{
		{"", "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"},
		{"00", "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"},
		{"10", "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77"},
		{"2021", "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7"},
		{"3031", "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4"},
		{"40414243", "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef"},
		{"5051525354555657", "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c"},
		{"606162636465666768696a6b6c6d6e6f", "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328"},
	} {
		leaf, err := hex.DecodeString(v.leaf)
		if err != nil {
			t.Fatal(err)
		}
		log.Append(nil, leaf)
		if h := log.Head(); h.Size != uint64(i+1) || hex.EncodeToString(h.Hash[:]) != v.root {
			t.Errorf("head of %d leaves: %d, %x, want %s", i+1, h.Size, h.Hash, v.root)
		}
	}
}

// TestHeads checks that heads equal those of the definition and of package tlog, that Append
// returns all nodes of level 8 and above, and that an opened log continues like the log before.
func TestHeads(t *testing.T) {
	if h := new(ledger.Log).Head(); h != (store.Head{}) {
		t.Errorf("head of nothing: %v", h)
	}
	m := &memory{}
	var stored []tlog.Hash
	read := tlog.HashReaderFunc(func(indexes []int64) (hashes []tlog.Hash, err error) {
		for _, i := range indexes {
			hashes = append(hashes, stored[i])
		}
		return hashes, nil
	})
	for n := 1; n <= 2100; n++ {
		m.add(n)
		more, err := tlog.StoredHashes(int64(n-1), m.leaves[n-1], read)
		if err != nil {
			t.Fatal(err)
		}
		stored = append(stored, more...)
		want, err := tlog.TreeHash(int64(n), read)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.log.Head(); got.Size != uint64(n) || tlog.Hash(got.Hash) != want {
			t.Fatalf("head of %d leaves: %v, want %v", n, got, want)
		}
		if n < 700 && n%7 == 0 || n == 2100 {
			if got, want := m.log.Head().Hash, mth(m.leaves); got != want {
				t.Fatalf("head of %d leaves: %x, by the definition %x", n, got, want)
			}
		}
		m.asked = 0
		again, err := ledger.Open(uint64(n), m)
		if err != nil || again.Head() != m.log.Head() || again.Size() != uint64(n) {
			t.Fatalf("opened with %d leaves: %v, %v, want %v", n, again.Head(), err, m.log.Head())
		}
		if m.asked > 255 {
			t.Fatalf("Open with %d leaves read %d of them", n, m.asked)
		}
	}
	if got, want := len(m.nodes), 8+4+2+1; got != want {
		t.Errorf("%d nodes kept of 2100 leaves, want %d", got, want)
	}
}

func TestOpenRefuses(t *testing.T) {
	m := &memory{}
	m.add(600)
	if _, err := ledger.Open(1<<63, m); err == nil {
		t.Error("2^63 entries were taken")
	}
	delete(m.nodes, [2]uint64{9, 0})
	if _, err := ledger.Open(600, m); err == nil {
		t.Error("a log without one of its nodes was opened")
	}
	m = &memory{leaves: m.leaves[:3]}
	if _, err := ledger.Open(3, short{m}); err == nil {
		t.Error("a log without one of its leaves was opened")
	}
	m.broken = errors.New("broken")
	if _, err := ledger.Open(3, m); err != m.broken {
		t.Errorf("Open of a broken log: %v", err)
	}
}

// short is a source that has lost the last leaf.
type short struct{ *memory }

func (s short) Leaves(from, to uint64) iter.Seq2[ledger.Hash, error] {
	return s.memory.Leaves(from, to-1)
}

// TestProofs checks that proofs equal those of the definition, that they are valid, and that they
// are valid for nothing else.
func TestProofs(t *testing.T) {
	m := &memory{}
	m.add(1100)
	heads := make([]store.Head, len(m.leaves)+1)
	var log ledger.Log
	for i, leaf := range m.leaves {
		log.Append(nil, leaf)
		heads[i+1] = log.Head()
	}
	rapid.Check(t, func(r *rapid.T) {
		size := rapid.IntRange(1, len(m.leaves)).Draw(r, "size")
		i := rapid.IntRange(0, size-1).Draw(r, "place")
		p, err := ledger.ProveInclusion(m, uint64(size), uint64(i+1))
		if want := path(i, m.leaves[:size]); err != nil || !slices.Equal(p, want) {
			r.Fatalf("proof of %d in %d: %x, %v, want %x", i, size, p, err, want)
		}
		included := func(p []ledger.Hash, h store.Head, seq int, leaf []byte) bool {
			return ledger.CheckInclusion(p, h, uint64(seq), leaf) == nil
		}
		head, leaf := heads[size], m.leaves[i]
		if !included(p, head, i+1, leaf) {
			r.Fatal("a proof does not hold")
		}
		other := rapid.IntRange(0, size).Draw(r, "other place")
		if other != i+1 && included(p, head, other, leaf) ||
			included(p, head, i+1, append([]byte{0}, leaf...)) ||
			included(spoil(r, p), head, i+1, leaf) ||
			included(p, heads[size-1], i+1, leaf) ||
			included(append(p[:len(p):len(p)], ledger.Hash{}), head, i+1, leaf) {
			r.Fatal("a proof of something else holds")
		}

		p, err = ledger.ProveConsistency(m, uint64(size), uint64(i+1))
		if want := subproof(i+1, m.leaves[:size], true); err != nil || !slices.Equal(p, want) {
			r.Fatalf("proof of %d before %d: %x, %v, want %x", i+1, size, p, err, want)
		}
		before := heads[i+1]
		if err := ledger.CheckConsistency(p, head, before); err != nil {
			r.Fatal("a proof does not hold")
		}
		rewritten := before
		rewritten.Hash[rapid.IntRange(0, 31).Draw(r, "byte")]++
		if ledger.CheckConsistency(p, head, rewritten) == nil ||
			len(p) > 0 && ledger.CheckConsistency(spoil(r, p), head, before) == nil ||
			ledger.CheckConsistency(append(p[:len(p):len(p)], ledger.Hash{}), head, before) == nil {
			r.Fatal("a proof of something else holds")
		}
	})
}

// spoil returns p with one bit flipped, or with an additional hash.
func spoil(r *rapid.T, p []ledger.Hash) []ledger.Hash {
	if len(p) == 0 {
		return []ledger.Hash{{}}
	}
	bad := slices.Clone(p)
	bad[rapid.IntRange(0, len(p)-1).Draw(r, "spoilt")][0] ^= 1
	return bad
}

func TestProofsOfNothing(t *testing.T) {
	m := &memory{}
	m.add(300)
	head, zero := m.log.Head(), store.Head{}
	p, err := ledger.ProveConsistency(m, 300, 0)
	if err != nil || p != nil || ledger.CheckConsistency(nil, head, zero) != nil {
		t.Errorf("every log begins with nothing: %v, %v", p, err)
	}
	huge := store.Head{Size: 1 << 63}
	for what, ok := range map[string]bool{
		"a proof for nothing":          ledger.CheckConsistency([]ledger.Hash{{}}, head, zero) == nil,
		"a hash of nothing":            ledger.CheckConsistency(nil, head, store.Head{Hash: head.Hash}) == nil,
		"a longer beginning":           ledger.CheckConsistency(nil, zero, head) == nil,
		"more than there can be":       ledger.CheckConsistency(nil, huge, head) == nil,
		"entry 0":                      ledger.CheckInclusion(nil, head, 0, nil) == nil,
		"an entry behind the end":      ledger.CheckInclusion(nil, head, 301, nil) == nil,
		"an entry of an unlikely size": ledger.CheckInclusion(nil, huge, 1, nil) == nil,
	} {
		if ok {
			t.Errorf("%s was proved", what)
		}
	}
	for _, c := range [][2]uint64{{300, 0}, {300, 301}, {1 << 63, 1}} {
		if p, err := ledger.ProveInclusion(m, c[0], c[1]); err == nil {
			t.Errorf("ProveInclusion%v: %x", c, p)
		}
	}
	for _, c := range [][2]uint64{{300, 301}, {1 << 63, 1}} {
		if p, err := ledger.ProveConsistency(m, c[0], c[1]); err == nil {
			t.Errorf("ProveConsistency%v: %x", c, p)
		}
	}
	m.broken = errors.New("broken")
	if p, err := ledger.ProveInclusion(m, 300, 1); err == nil {
		t.Errorf("a broken source proved %x", p)
	}
	if p, err := ledger.ProveInclusion(short{m}, 300, 300); err == nil {
		t.Errorf("a source without its last leaf proved %x", p)
	}
}

// TestAppendAllocs checks that Append allocates memory only for the nodes.
func TestAppendAllocs(t *testing.T) {
	var log ledger.Log
	leaf := make([]byte, 200)
	nodes := make([]ledger.Node, 0, 64)
	if got := testing.AllocsPerRun(1000, func() { nodes = log.Append(nodes[:0], leaf) }); got != 0 {
		t.Errorf("Append: %v allocations, want none", got)
	}
	if got := testing.AllocsPerRun(100, func() { log.Head() }); got != 0 {
		t.Errorf("Head: %v allocations, want none", got)
	}
}

func TestLongLeaf(t *testing.T) {
	for _, n := range []int{0, 1, 1023, 1024, 1025, 70_000} {
		leaf := make([]byte, n)
		if got, want := ledger.LeafHash(leaf), mth([][]byte{leaf}); got != want {
			t.Errorf("LeafHash of %d bytes: %x, want %x", n, got, want)
		}
	}
}

// typical is a leaf like most leaves, with a key of 26 bytes and a digest.
var typical = make([]byte, 70)

func BenchmarkAppend(b *testing.B) {
	b.ReportAllocs()
	var log ledger.Log
	var nodes []ledger.Node
	for b.Loop() {
		nodes = log.Append(nodes[:0], typical)
	}
}

// BenchmarkChain measures the alternative to a tree: the hash of each entry also covers the hash of
// the entry before it.
func BenchmarkChain(b *testing.B) {
	b.ReportAllocs()
	var last ledger.Hash
	buf := make([]byte, 0, 128)
	for b.Loop() {
		buf = append(append(buf[:0], last[:]...), typical...)
		last = sha256.Sum256(buf)
	}
}

func BenchmarkHead(b *testing.B) {
	m := &memory{}
	m.add(1<<20 - 1)
	b.ResetTimer()
	for b.Loop() {
		m.log.Head()
	}
}

func BenchmarkProveInclusion(b *testing.B) {
	m := &memory{}
	m.add(1 << 20)
	for b.Loop() {
		if _, err := ledger.ProveInclusion(m, 1<<20, 777_777); err != nil {
			b.Fatal(err)
		}
	}
}
