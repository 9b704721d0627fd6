package storetest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// verifies checks that Verify finds no fault and returns the head, if the store is a Verifier.
func (s *suite) verifies() {
	s.Helper()
	for _, f := range faults(s.T, s.Store) {
		s.Errorf("Verify of a sound store: %+v", f)
	}
}

// faults returns the faults that Verify finds, sorted by number, subject and problem, or nil for a
// store that is not a Verifier.
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
	s.verifies()
	s.story()
	s.fill(trickyKeys())
	for i := range 300 {
		s.apply(put(fmt.Sprint("urn:x-a:", i%7), fmt.Sprint("u:", i), i%10))
	}
	head := s.sealed()
	s.verifies()
	none := func(f store.Fault) { s.Errorf("fault: %+v", f) }
	if _, err := store.Verify(s.ended(), s.Store, none, nil); !errors.Is(err, context.Canceled) {
		s.Errorf("Verify with a cancelled context: %v", err)
	}
	got, err := store.Verify(s.Context(), s.Store, none, nil)
	if err != nil {
		s.Errorf("Verify without progress: %v", err)
	}
	s.equal("head", got, head)
	s.verifyWhileWriting(none)
}

// verifyWhileWriting checks that Verify finds no fault while changes are being
// written.
func (s *suite) verifyWhileWriting(none func(store.Fault)) {
	during(func() {
		for i := range 60 {
			c := put(fmt.Sprint("urn:x-w:", i%5), fmt.Sprint("u:", i), i)
			if i >= 5 && i%3 == 0 {
				c.Redacts = []uint64{1}
			}
			if _, err := s.Apply(s.Context(), []store.Change{c}); err != nil {
				s.Errorf("Apply: %v", err)
			}
		}
	}, func() {
		if _, err := store.Verify(s.Context(), s.Store, none, nil); err != nil {
			s.Errorf("Verify while the store is written to: %v", err)
		}
	})
}

// A Damage is a test case of [Damages]. The function Do damages the data of a store with the
// content that Damages has written. It returns the store to verify, which may be another store with
// the same data. Verify must report a fault with the given Subject and Seq, where the zero value
// means any subject or number. If Fails is set, Verify may return an error instead.
type Damage struct {
	Name    string
	Do      func(t *testing.T, s store.Store) store.Store
	Subject store.Subject
	Seq     uint64
	Fails   bool // an error of Verify is sufficient
}

// Damages checks that Verify finds each damage. For each test case, it opens a store and writes 602
// changes. For i from 0 to 599, the change with Seq i+1 gives the name urn:x-a:(i modulo 7) the
// location u:i. The change with Seq 601 creates the authority urn:x-a:, and the change with Seq 602
// redacts revision 1 of urn:x-a:0.
func Damages(t *testing.T, open Open, all []Damage) {
	for _, d := range all {
		t.Run(d.Name, func(t *testing.T) {
			s := newSuite(t, open)
			s.damageable()
			s.verifies()
			d.check(t, d.Do(t, s.Store))
		})
	}
}

func (s *suite) damageable() {
	s.Helper()
	const n = 600
	for i := 0; i < n; i += 100 {
		var batch []store.Change
		for j := i; j < i+100; j++ {
			batch = append(batch, put(fmt.Sprint("urn:x-a:", j%7), fmt.Sprint("u:", j), 0))
		}
		s.apply(batch...)
	}
	redaction := put("urn:x-a:0", "u:last", 1)
	redaction.Redacts = []uint64{1}
	s.apply(store.Change{Authority: &store.Authority{Prefix: name.PrefixFromKey("urn:x-a:")}, Time: minute(1)}, redaction)
	s.sealed()
}

func (d *Damage) check(t *testing.T, s store.Store) {
	t.Helper()
	var found []store.Fault
	_, err := store.Verify(t.Context(), s, func(f store.Fault) { found = append(found, f) }, nil)
	if err != nil {
		if !d.Fails {
			t.Errorf("Verify: %v", err)
		}
		return
	}
	for _, f := range found {
		if (d.Subject == store.Subject{} || f.Subject == d.Subject) && (d.Seq == 0 || f.Seq == d.Seq) && f.Problem != "" {
			return
		}
	}
	t.Errorf("Verify did not find it; it found %+v", found)
}
