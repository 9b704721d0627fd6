package pebblestore

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/reading"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// A strand is the history of one subject during a merge.
type strand struct {
	view *view
	next func() (*store.Change, error, bool)
	stop func()
	head *store.Change // the next change; nil after the last one

	revisions []uint64 // the revision in the merged history of each change so far
}

func (s *strand) advance() error {
	c, err, ok := s.next()
	if !ok {
		c = nil
	}
	s.head = c
	return err
}

// united yields the merged history of the subjects of m.
func (r *rekeyer) united(m Move) iter.Seq2[*store.Change, error] {
	return reading.Seq(func(yield func(*store.Change, error) bool) error {
		strands, err := r.strands(m)
		for _, s := range strands {
			defer s.end()
		}
		last := make([]*store.Change, len(strands))
		revision, at := uint64(0), r.now
		for err == nil {
			i := earliest(strands)
			if i < 0 {
				break
			}
			last[i] = strands[i].head
			c := shown(m, last, i)
			c.Expected, c.Redacts = revision, strands[i].renumbered(last[i].Redacts)
			if !yield(c, nil) {
				return nil
			}
			revision++
			at = last[i].Time
			strands[i].revisions = append(strands[i].revisions, revision)
			err = strands[i].advance()
		}
		if err != nil {
			return err
		}
		if c := union(m, last, r.now, r.o.Who); c != nil {
			c.Expected = revision
			if c.Time.Before(at) {
				c.Time = at
			}
			yield(c, nil)
		}
		return nil
	})
}

func (s *strand) renumbered(revisions []uint64) []uint64 {
	var list []uint64
	for _, r := range revisions {
		if 0 < r && r <= uint64(len(s.revisions)) {
			list = append(list, s.revisions[r-1])
		}
	}
	return list
}

func (s *strand) end() {
	s.stop()
	s.view.close()
}

func (r *rekeyer) strands(m Move) ([]*strand, error) {
	var strands []*strand
	for _, key := range m.Old {
		v, err := r.old.clone()
		if err != nil {
			return strands, err
		}
		s := &strand{view: v}
		s.next, s.stop = iter.Pull2(v.changes(store.Subject{Kind: m.Kind, Key: key}))
		strands = append(strands, s)
		if err := s.advance(); err != nil {
			return strands, err
		}
	}
	return strands, nil
}

// earliest returns the index of the strand with the earliest next change, or -1 at the end of all
// strands.
func earliest(strands []*strand) int {
	first := -1
	for i, s := range strands {
		if s.head != nil && (first < 0 || s.head.Time.Before(strands[first].head.Time)) {
			first = i
		}
	}
	return first
}

// rank returns the rank of the state after a change. The merged subject gets the state with the
// highest rank.
func rank(c *store.Change) int {
	switch {
	case c == nil || !c.Delete.IsZero():
		return 0
	case c.Record != nil && c.Record.Status == nomen.Reserved:
		return 1
	case c.Record != nil && c.Record.Status == nomen.Retired:
		return 2
	}
	return 3
}

// shown returns the change that the merged history contains for the change last[i] of strand i. Its
// content is that of the merged subject after the change. The caller must set the revision.
func shown(m Move, last []*store.Change, i int) *store.Change {
	c := last[i].Clone()
	if h := last[holder(last)]; rank(h) > rank(c) {
		c = h.Clone()
		c.Time, c.Who, c.Why = last[i].Time, last[i].Who, last[i].Why
		if h.Redacted { // Who and Why are content too, so they were removed
			c.Who, c.Why = "", ""
		}
	}
	rename(c, m.New)
	return c
}

// holder returns the index of the change with the highest rank, which determines the state of the
// merged subject. Of several such changes, it returns the latest.
func holder(last []*store.Change) int {
	h := 0
	for i, c := range last {
		if c == nil || i == h {
			continue
		}
		if d := rank(c) - rank(last[h]); d > 0 || d == 0 && (last[h] == nil || !c.Time.Before(last[h].Time)) {
			h = i
		}
	}
	return h
}

// union returns a change that merges the content of the last changes. If only one change has
// content, union returns nil. The caller must set the revision.
func union(m Move, last []*store.Change, now time.Time, who string) *store.Change {
	h := holder(last)
	others := slices.Clone(last)
	others = slices.DeleteFunc(slices.Delete(others, h, h+1), func(c *store.Change) bool { return rank(c) == 0 })
	if len(others) == 0 {
		return nil
	}
	c := last[h].Clone()
	rename(c, m.New)
	c.Redacts = nil
	c.Time, c.Who = time.UnixMilli(now.UnixMilli()).UTC(), who
	c.Why = fmt.Sprintf("version %d of the rules of names merged %s", name.RulesVersion, enumerate(m.Old))
	for _, o := range others {
		if c.Authority != nil {
			addAuthority(c.Authority, o.Authority)
			continue
		}
		if o.Record.Status == c.Record.Status {
			addRecord(c.Record, o.Record)
		}
		if !slices.Contains([]string{c.Record.Spelling, m.New}, o.Record.Spelling) {
			add(&c.Record.SameAs, o.Record.Spelling)
		}
	}
	return c
}

// enumerate returns some of the keys as a text, for the reason of a change.
func enumerate(keys []string) string {
	const most = 10
	if more := len(keys) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(keys[:most], ", "), more)
	}
	return strings.Join(keys, ", ")
}

func add(list *[]string, values ...string) {
	for _, s := range values {
		if !slices.Contains(*list, s) {
			*list = append(*list, s)
		}
	}
}

// addValues adds the typed values of o to r. If r has a different value with the same index, the
// added value gets the lowest free index. The result maps the old indexes of such values to the new
// indexes.
func addValues(r, o *store.Record) map[int]int {
	var taken []nomen.Value
	for _, v := range o.Values {
		if there := r.Value(v.Index); there == nil {
			insertValue(r, v)
		} else if *there != v {
			taken = append(taken, v)
		}
	}
	moved := map[int]int{}
	free := 1
	for _, v := range taken {
		for r.Value(free) != nil {
			free++
		}
		moved[v.Index], v.Index = free, free
		insertValue(r, v)
	}
	return moved
}

func insertValue(r *store.Record, v nomen.Value) {
	i, _ := slices.BinarySearchFunc(r.Values, v.Index, func(v nomen.Value, index int) int { return cmp.Compare(v.Index, index) })
	r.Values = slices.Insert(r.Values, i, v)
}

func addRecord(r, o *store.Record) {
	moved := addValues(r, o)
	for _, l := range o.Locations {
		l.Index = cmp.Or(moved[l.Index], l.Index)
		if !slices.ContainsFunc(r.Locations, func(k nomen.Location) bool { return k.URL == l.URL && k.Component == l.Component }) {
			r.Locations = append(r.Locations, l)
		}
	}
	for element, values := range o.Metadata {
		if r.Metadata == nil {
			r.Metadata = nomen.Metadata{}
		}
		list := r.Metadata[element]
		add(&list, values...)
		r.Metadata[element] = list
	}
	add(&r.SameAs, o.SameAs...)
	add(&r.Successors, o.Successors...)
}

func addAuthority(a, o *store.Authority) {
	add(&a.Owners, o.Owners...)
	add(&a.Hosts, o.Hosts...)
	add(&a.Addresses, o.Addresses...)
	add(&a.Parents, o.Parents...)
	add(&a.Children, o.Children...)
	a.Default = a.Default || o.Default
	a.FoldCase = a.FoldCase || o.FoldCase
	a.List = a.List && o.List
}
