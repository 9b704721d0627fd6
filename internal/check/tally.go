package check

import (
	"encoding/binary"
	"hash/maphash"
	"iter"
	"time"

	"github.com/nomen-project/nomen/store"
)

// A tally compares two multisets without holding them in memory. It divides the elements into
// classes and compares the sums of the hashes of each class. Only the elements of classes that
// differ are then compared one by one.
type tally [2][classes]sum

type sum struct{ count, hashes uint64 }

// The multisets of a tally.
const (
	wanted  = 0
	present = 1
)

const (
	classes = 1 << 12
	maxHeld = 1 << 18 // elements that are compared one by one at a time, unless one class has more
)

func (t *tally) add(side int, hash uint64) {
	s := &t[side][hash%classes]
	s.count++
	s.hashes += hash
}

// count returns the number of elements.
func (t *tally) count(side int) (n uint64) {
	for i := range t[side] {
		n += t[side][i].count
	}
	return n
}

// parts yields functions that report whether the hash of an element belongs to a part of the
// classes that differ. The parts bound memory: one has at most maxHeld elements, unless a single
// class has more.
func (t *tally) parts() iter.Seq[func(hash uint64) bool] {
	return func(yield func(func(uint64) bool) bool) {
		var part [classes]bool
		size := uint64(0)
		mine := func(hash uint64) bool { return part[hash%classes] }
		for i := range classes {
			a, b := &t[wanted][i], &t[present][i]
			if *a == *b {
				continue
			}
			if n := max(a.count, b.count); size > 0 && size+n > maxHeld {
				if !yield(mine) {
					return
				}
				part, size = [classes]bool{}, 0
			}
			part[i] = true
			size += max(a.count, b.count, 1)
		}
		if size > 0 {
			yield(mine)
		}
	}
}

// An each calls a function with each element of a multiset and its hash.
type each[T any] func(func(hash uint64, element T)) error

// compare finds the elements in which the multisets of a tally differ.
func compare[T any](t *tally, want, got each[T], missing, extra func(T)) error {
	for mine := range t.parts() {
		var hashes []uint64 // of what is wanted, in order
		elements, counts := map[uint64]T{}, map[uint64]int{}
		err := want(func(hash uint64, element T) {
			if !mine(hash) {
				return
			}
			if counts[hash]++; counts[hash] == 1 {
				hashes, elements[hash] = append(hashes, hash), element
			}
		})
		if err != nil {
			return err
		}
		err = got(func(hash uint64, element T) {
			switch {
			case !mine(hash):
			case counts[hash] > 0:
				counts[hash]--
			default:
				extra(element)
			}
		})
		if err != nil {
			return err
		}
		for _, hash := range hashes {
			if counts[hash] > 0 {
				missing(elements[hash])
			}
		}
	}
	return nil
}

func (c *checker) hashRow(r *Row) uint64 { return c.hashChange(r.Subject, r.Revision, r.Time) }

func (c *checker) hashChange(s store.Subject, revision uint64, at time.Time) uint64 {
	b := append(make([]byte, 0, 128), byte(s.Kind))
	b = binary.BigEndian.AppendUint64(b, revision)
	b = binary.BigEndian.AppendUint64(b, uint64(at.UnixMilli()))
	return maphash.Bytes(c.seed, append(b, s.Key...))
}

func (c *checker) hashPlace(p store.Place) uint64 {
	b := append(make([]byte, 0, 256), p.Name.Key()...)
	return maphash.Bytes(c.seed, append(append(b, 0), p.URL...))
}

// unmatched reports changes that are stored but not in the log, and the reverse.
func (c *checker) unmatched() error {
	if c.cut {
		return nil
	}
	want := func(add func(uint64, Row)) error {
		for i := range c.Waiting {
			add(c.hashRow(&c.Waiting[i]), c.Waiting[i])
		}
		for r, err := range c.Log(false) {
			if err != nil {
				return err
			}
			if r.Subject.Kind != 0 && r.Seq <= c.Size {
				add(c.hashRow(&r), r)
			}
		}
		return c.ctx.Err()
	}
	got := func(add func(uint64, Row)) error {
		for ch, err := range c.Changes() {
			if err != nil {
				return err
			}
			if ch.Revision == 0 {
				continue
			}
			r := Row{Subject: ch.Subject, Revision: ch.Revision, Time: ch.Time}
			if ch.Entry != nil {
				r.Seq = ch.Entry.Seq
			}
			add(c.hashRow(&r), r)
		}
		return c.ctx.Err()
	}
	missing := func(r Row) {
		c.report(r.Subject, r.Seq, "revision %d is in the log but not in the history of its subject", r.Revision)
	}
	extra := func(r Row) { c.report(r.Subject, r.Seq, "revision %d is stored but not in the log", r.Revision) }
	return compare(&c.logged, want, got, missing, extra)
}

// misplaced reports locations that are missing in the index, and those that should not be
// there.
func (c *checker) misplaced() error {
	if c.cut || c.Places == nil {
		return nil
	}
	want := func(add func(uint64, store.Place)) error {
		for ch, err := range c.Changes() {
			if err != nil {
				return err
			}
			if !ch.Last || ch.Err != nil {
				continue
			}
			for _, url := range ch.Entry.Change.AppendIndexed(nil) {
				p := store.Place{URL: url, Name: ch.Entry.Change.Record.Name}
				add(c.hashPlace(p), p)
			}
		}
		return c.ctx.Err()
	}
	got := func(add func(uint64, store.Place)) error {
		for p, err := range c.Places() {
			if err != nil {
				return err
			}
			if p.Err == nil {
				add(c.hashPlace(p.Place), p.Place)
			}
		}
		return c.ctx.Err()
	}
	of := func(p store.Place) store.Subject { return store.Subject{Kind: store.KindName, Key: p.Name.Key()} }
	missing := func(p store.Place) { c.report(of(p), 0, "the index does not have its location %q", p.URL) }
	extra := func(p store.Place) {
		c.report(of(p), 0, "the index has the location %q, which it does not have", p.URL)
	}
	return compare(&c.located, want, got, missing, extra)
}
