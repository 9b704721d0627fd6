package check

import (
	"encoding/binary"
	"hash/maphash"
	"iter"
	"time"

	"github.com/nomen-project/nomen/store"
)

// A tally compares two multisets without keeping them in memory. It divides their elements into
// classes, and compares the sums of the hashes in each class. The elements of a class are compared
// one by one only if the sums differ.
type tally [2][classes]sum

type sum struct{ count, hashes uint64 }

// The indexes of the two multisets in a tally.
const (
	wanted  = 0
	present = 1
)

const (
	classes = 1 << 12
	maxHeld = 1 << 18 // elements that are compared one by one at the same time, unless a class has more
)

func (t *tally) add(side int, hash uint64) {
	s := &t[side][hash%classes]
	s.count++
	s.hashes += hash
}

func (t *tally) count(side int) (n uint64) {
	for i := range t[side] {
		n += t[side][i].count
	}
	return n
}

// parts divides the classes that differ into parts. For each part, it yields a function that
// reports whether an element with a given hash belongs to the part. A part has at most maxHeld
// elements, unless it consists of a single class.
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

// An each is a function that calls add for each element of a multiset.
type each[T any] func(add func(T)) error

// all returns a function that iterates over the elements that pick finds in a sequence.
func all[V, T any](c *checker, seq func() iter.Seq2[V, error], pick func(v V, add func(T))) each[T] {
	return func(add func(T)) error {
		for v, err := range seq() {
			if err != nil {
				return err
			}
			pick(v, add)
			c.turn.Rest(c.ctx.Done())
		}
		return c.ctx.Err()
	}
}

// compare finds the elements that are in only one of the two multisets.
func compare[T any](t *tally, hashOf func(T) uint64, want, got each[T], missing, extra func(T)) error {
	for mine := range t.parts() {
		var hashes []uint64 // of the wanted elements, sorted
		elements, counts := map[uint64]T{}, map[uint64]int{}
		err := want(func(element T) {
			hash := hashOf(element)
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
		err = got(func(element T) {
			switch hash := hashOf(element); {
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

func (c *checker) hashRow(r Row) uint64 { return c.hashChange(r.Subject, r.Revision, r.Time) }

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

// unmatched reports changes that are stored but not in the log, and vice versa.
func (c *checker) unmatched() error {
	if c.cut {
		return nil
	}
	logged := all(c, func() iter.Seq2[Row, error] { return c.Log(false) }, func(r Row, add func(Row)) {
		if r.Subject.Kind != 0 && r.Seq <= c.Size {
			add(r)
		}
	})
	want := func(add func(Row)) error {
		for _, r := range c.Waiting {
			add(r)
		}
		return logged(add)
	}
	got := all(c, c.Changes, func(ch Change, add func(Row)) {
		r := Row{Subject: ch.Subject, Revision: ch.Revision, Time: ch.Time}
		if ch.Entry != nil {
			r.Seq = ch.Entry.Seq
		}
		if r.Revision > 0 {
			add(r)
		}
	})
	missing := func(r Row) {
		c.report(r.Subject, r.Seq, "revision %d is in the log but not in the history of its subject", r.Revision)
	}
	extra := func(r Row) { c.report(r.Subject, r.Seq, "revision %d is stored but not in the log", r.Revision) }
	return compare(&c.logged, c.hashRow, want, got, missing, extra)
}

// misplaced reports locations that are missing in the index, and locations in the index that no
// record has.
func (c *checker) misplaced() error {
	if c.cut || c.Places == nil {
		return nil
	}
	want := all(c, c.Changes, func(ch Change, add func(store.Place)) {
		if !ch.Last || ch.Err != nil {
			return
		}
		for _, p := range ch.Entry.Change.AppendPlaces(nil) {
			add(p)
		}
	})
	got := all(c, c.Places, func(p Place, add func(store.Place)) {
		if p.Err == nil {
			add(p.Place)
		}
	})
	missing := func(p store.Place) {
		c.report(store.PlaceSubject(p), 0, "the index does not have its location %q", p.URL)
	}
	extra := func(p store.Place) {
		c.report(store.PlaceSubject(p), 0, "the index has the location %q, which it does not have", p.URL)
	}
	return compare(&c.located, c.hashPlace, want, got, missing, extra)
}
