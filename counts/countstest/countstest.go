// Package countstest tests implementations of [counts.Store].
package countstest

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/nomen-project/nomen/counts"
)

// Run tests a store. The function open returns an empty store, and a function that opens the same
// store again or as another node.
func Run(t *testing.T, open func(t testing.TB) (s counts.Store, again func() counts.Store)) {
	t.Run("once", func(t *testing.T) {
		s, again := open(t)
		testOnce(t, s, again)
	})
	t.Run("queries", func(t *testing.T) {
		s, _ := open(t)
		testQueries(t, s)
	})
	t.Run("model", func(t *testing.T) { testModel(t, open) })
}

const november = counts.Month(2026*12 + 10)

func row(month counts.Month, kind counts.Kind, text string, cells ...counts.Cell) counts.Row {
	return counts.Row{Key: counts.Key{Month: month, Kind: kind, Text: text}, Cells: cells}
}

// Rows returns the rows that a query selects.
func Rows(t testing.TB, s counts.Store, q counts.Query) []counts.Row {
	t.Helper()
	var all []counts.Row
	for r, err := range s.Rows(t.Context(), q) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}

func add(t testing.TB, s counts.Store, node string, seq uint64, rows ...counts.Row) {
	t.Helper()
	if err := s.Add(t.Context(), counts.Batch{Node: node, Seq: seq, Rows: rows}); err != nil {
		t.Fatal(err)
	}
}

// testOnce checks that a batch that is added twice counts only once, even over another connection
// or after a restart. It also checks that batches of different nodes are added up.
func testOnce(t *testing.T, s counts.Store, again func() counts.Store) {
	r := row(november, counts.OfName, "urn:x-y:a", counts.Cell{Day: 24, What: 1, Class: counts.Regular, N: 3})
	all := counts.Query{Kind: counts.OfName, From: november, To: november, Prefix: true}
	want := func(s counts.Store, n uint64) {
		t.Helper()
		w := r
		w.Cells = []counts.Cell{{Day: 24, What: 1, Class: counts.Regular, N: n}}
		if d := cmp.Diff(Rows(t, s, all), []counts.Row{w}); d != "" {
			t.Errorf("got -, want +:\n%s", d)
		}
	}
	add(t, s, "node1", 1, r)
	add(t, s, "node1", 1, r)
	want(s, 3)
	s = again()
	want(s, 3)
	add(t, s, "node1", 1, r)
	want(s, 3)
	add(t, s, "node2", 1, r)
	want(s, 6)
	add(t, s, "node1", 2, r)
	want(s, 9)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Add(cancelled, counts.Batch{Node: "node1", Seq: 3, Rows: []counts.Row{r}}); err == nil {
		want(s, 12) // a store may ignore the context
	} else {
		want(s, 9)
	}
}

func testQueries(t *testing.T, s counts.Store) {
	one := counts.Cell{Day: 1, What: 1, N: 1}
	var rows []counts.Row
	texts := []string{"", "urn:x-y", "urn:x-y:a", "urn:x-y:ab", "urn:x-y:b", "urn:x-z:a"}
	for _, month := range []counts.Month{november - 1, november} {
		for _, kind := range []counts.Kind{counts.OfName, counts.OfAuthority} {
			for _, text := range texts {
				rows = append(rows, row(month, kind, text, one))
			}
		}
	}
	add(t, s, "n", 1, rows...)
	for _, q := range []counts.Query{
		{Kind: counts.OfName, From: november, To: november, Text: "urn:x-y:a"},
		{Kind: counts.OfName, From: november - 1, To: november, Text: "urn:x-y:a"},
		{Kind: counts.OfName, From: november - 1, To: november, Text: "urn:x-y:a", Prefix: true},
		{Kind: counts.OfAuthority, From: november - 2, To: november + 2, Text: "urn:x-y", Prefix: true},
		{Kind: counts.OfAuthority, From: november, To: november, Text: ""},
		{Kind: counts.OfAuthority, From: november, To: november, Text: "", Prefix: true},
		{Kind: counts.OfName, From: november + 1, To: november + 2, Prefix: true},
		{Kind: counts.OfName, From: november, To: november - 1, Prefix: true},
		{Kind: counts.OfName, From: november, To: november, Text: "urn:x-y:\xff", Prefix: true},
	} {
		var want []counts.Row
		m := &counts.Memory{}
		add(t, m, "n", 1, rows...)
		want = Rows(t, m, q)
		if d := cmp.Diff(Rows(t, s, q), want); d != "" {
			t.Errorf("%+v: got -, want +:\n%s", q, d)
		}
	}
	for range s.Rows(t.Context(), counts.Query{Kind: counts.OfName, From: november, To: november, Prefix: true}) {
		break // the store does not keep what it needs for the rest
	}
	add(t, s, "n", 2, rows...)
}

// testModel checks that a store and a Memory have the same content after the same batches and
// roll-ups.
func testModel(t *testing.T, open func(t testing.TB) (counts.Store, func() counts.Store)) {
	s, _ := open(t)
	model := &counts.Memory{}
	n, seq := 0, map[string]uint64{}
	rapid.Check(t, func(r *rapid.T) {
		n++
		if n > 30 {
			return
		}
		for range rapid.IntRange(1, 6).Draw(r, "steps") {
			if rapid.IntRange(0, 9).Draw(r, "roll") == 0 {
				before := november - counts.Month(rapid.IntRange(0, 3).Draw(r, "before"))
				for _, s := range []counts.Store{s, model} {
					if err := s.Roll(t.Context(), before); err != nil {
						r.Fatal(err)
					}
				}
				continue
			}
			node := fmt.Sprint("node", rapid.IntRange(1, 2).Draw(r, "node"))
			b := counts.Batch{Node: node, Seq: max(seq[node]+uint64(rapid.IntRange(0, 1).Draw(r, "next")), 1)}
			seq[node] = b.Seq
			byKey := map[counts.Key][]counts.Cell{}
			for range rapid.IntRange(0, 5).Draw(r, "rows") {
				k := counts.Key{
					Month: november - counts.Month(rapid.IntRange(0, 4).Draw(r, "month")),
					Kind:  rapid.SampledFrom([]counts.Kind{counts.OfName, counts.OfAuthority}).Draw(r, "kind"),
					Text:  rapid.SampledFrom([]string{"", "urn:a", "urn:a:b", "urn:b:ä"}).Draw(r, "text"),
				}
				c := counts.Cell{
					Day: uint8(rapid.IntRange(1, 31).Draw(r, "day")), What: counts.What(rapid.IntRange(0, 11).Draw(r, "what")),
					Class: counts.Class(rapid.IntRange(0, 3).Draw(r, "class")), N: rapid.Uint64Range(1, 1<<40).Draw(r, "n"),
				}
				byKey[k] = counts.Add(byKey[k], []counts.Cell{c})
			}
			for k, cells := range byKey {
				b.Rows = append(b.Rows, counts.Row{Key: k, Cells: cells})
			}
			slices.SortFunc(b.Rows, counts.CompareRows)
			for _, s := range []counts.Store{s, model} {
				if err := s.Add(t.Context(), b); err != nil {
					r.Fatal(err)
				}
			}
		}
		for _, kind := range []counts.Kind{counts.OfName, counts.OfAuthority} {
			q := counts.Query{Kind: kind, From: november - 5, To: november, Prefix: true}
			if d := cmp.Diff(Rows(t, s, q), Rows(t, model, q)); d != "" {
				r.Fatalf("got -, want +:\n%s", d)
			}
		}
	})
}
