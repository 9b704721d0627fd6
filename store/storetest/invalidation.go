package storetest

import (
	"context"
	"errors"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// A dependent is a test case: a read of a store, and a change that affects the result of the read.
type dependent struct {
	what   string
	read   func(context.Context) error
	change func()
}

// invalidations checks that an answer stays valid until data changes on which it depends. The
// answer must be invalid when this change has been acknowledged.
func invalidations(s *suite) {
	s.apply(put("urn:x-a:1", "u:1", 0), reserve("urn:x-a:r", 0), sameAs("urn:x-a:alias", 0, "urn:x-a:b"), put("urn:x-a:old", "u:1", 0), put("urn:x-a:old", "u:2", 1))
	get := func(k string) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := s.Get(ctx, key(k), time.Time{})
			return unlessMissing(err)
		}
	}
	alias := func(ctx context.Context) error {
		names, err := store.Aliased(ctx, s.Store, key("urn:x-a:b"))
		for _, n := range names {
			err = errors.Join(err, get(n.Key())(ctx))
		}
		return err
	}
	prefix := name.MustParsePrefix("urn:x-a:")
	retired := write(&store.Record{Name: key("urn:x-a:1"), Status: nomen.Retired}, 3)
	redacting := put("urn:x-a:old", "u:3", 3)
	redacting.Redacts = []uint64{1}
	for _, d := range []dependent{
		{"a record", get("urn:x-a:1"), func() { s.apply(put("urn:x-a:1", "u:2", 2)) }},
		{"a retired record", get("urn:x-a:1"), func() { s.apply(retired) }},
		{"a missing record", get("urn:x-a:2"), func() { s.apply(put("urn:x-a:2", "u:2", 2)) }},
		{"a deleted record", get("urn:x-a:r"), func() { s.apply(remove("urn:x-a:r", 2)) }},
		{"a redacted record", get("urn:x-a:old"), func() { s.apply(redacting) }},
		{"a record in a batch", get("urn:x-a:1"), func() { s.apply(put("urn:x-a:3", "u:3", 4), put("urn:x-a:1", "u:3", 4)) }},
		{"an alias", alias, func() { s.apply(sameAs("urn:x-a:alias", 2, "urn:x-a:c")) }},
		{"a missing alias", alias, func() { s.apply(sameAs("urn:x-a:other", 2, "urn:x-a:B")) }},
		{"an alias in another spelling", alias, func() { s.apply(sameAs("urn:x-a:third", 2, "urn:x-a:d", "URN:X-A:B")) }},
		{"an authority", func(ctx context.Context) error {
			_, err := s.Authority(ctx, prefix, time.Time{})
			return unlessMissing(err)
		}, func() {
			s.apply(store.Change{Authority: &store.Authority{Prefix: prefix}, Expected: store.AnyRevision, Time: minute(2)})
		}},
	} {
		d.check(s)
	}
	s.uncounted()
}

func unlessMissing(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

func (d *dependent) check(s *suite) {
	s.Helper()
	v, ok := s.depends(d.read)
	if !ok {
		s.Errorf("%s: an answer must not be cached", d.what)
		return
	}
	if counts := store.InvalidationsOf(s.Store); !v.Holds(counts) {
		s.Errorf("%s: an answer is not valid before a change", d.what)
	}
	d.change()
	if v.Holds(store.InvalidationsOf(s.Store)) {
		s.Errorf("%s: an answer is valid after a change", d.what)
	}
}

func (s *suite) depends(read func(context.Context) error) (store.Validity, bool) {
	s.Helper()
	d := new(store.Dependencies)
	d.Begin(store.InvalidationsOf(s.Store))
	ctx := store.WithStaleness(s.Context())
	ctx.Dependencies = d
	if err := read(ctx); err != nil {
		s.Fatal(err)
	}
	d.Vouch(nil)
	return d.Validity(nil)
}

// uncounted checks that answers must not be cached if they depend on data for which
// [store.Invalidations] has no counters.
func (s *suite) uncounted() {
	s.Helper()
	for what, read := range map[string]func(context.Context) error{
		"a list":             func(ctx context.Context) error { return until(s.List(ctx, store.Scan{}), always) },
		"all authorities":    func(ctx context.Context) error { return until(s.Authorities(ctx, time.Time{}), always) },
		"the past":           func(ctx context.Context) error { _, err := s.Get(ctx, key("urn:x-a:1"), minute(1)); return err },
		"names of locations": func(ctx context.Context) error { return until(store.Find(ctx, s.Store, "u:", store.Place{}), always) },
		"the number":         func(ctx context.Context) error { _, _, err := store.Count(ctx, s.Store); return err },
		"several records": func(ctx context.Context) error {
			var many []name.Name
			for i := range 20 {
				many = append(many, key("urn:x-a:"+string(rune('a'+i))))
			}
			_, err := store.Records(ctx, s.Store, many, false)
			return err
		},
		"the log": func(ctx context.Context) error { return until(store.Changes(ctx, s.Store, 0), always) },
	} {
		if _, ok := s.depends(read); ok {
			s.Errorf("an answer from %s may be cached", what)
		}
	}
}

func always() bool { return true }

func invalidatedByLoad(s *suite) {
	s.apply(put("urn:x-a:1", "u:1", 0))
	o := newSuite(s.T, s.open)
	d := dependent{"a loaded record", func(ctx context.Context) error {
		_, err := o.Get(ctx, key("urn:x-a:1"), time.Time{})
		return unlessMissing(err)
	}, func() {
		if err := store.Load(s.Context(), o.Store, store.Changes(s.Context(), s.Store, 0)); err != nil {
			s.Fatal(err)
		}
	}}
	d.check(o)
}

// invalidatedInRace reads a record while another goroutine changes the record. It checks that an
// answer is no longer valid as soon as a newer revision has been acknowledged.
func invalidatedInRace(s *suite) {
	const rounds = 200
	counts := store.InvalidationsOf(s.Store)
	acknowledged := make(chan uint64, rounds)
	go func() {
		defer close(acknowledged)
		for i := range rounds {
			results, err := s.Apply(s.Context(), []store.Change{put("urn:x-a:1", string(rune('a'+i%20))+":1", i)})
			if err != nil {
				s.Error(err)
				return
			}
			acknowledged <- results[0].Revision
		}
	}()
	for revision := range acknowledged {
		var got *store.Record
		v, ok := s.depends(func(ctx context.Context) (err error) {
			got, err = s.Get(ctx, key("urn:x-a:1"), time.Time{})
			return err
		})
		if !ok {
			continue
		}
		for last := revision; v.Holds(counts); {
			if got.Revision < last {
				s.Fatalf("an answer with revision %d is valid after revision %d was acknowledged", got.Revision, last)
			}
			next, more := <-acknowledged
			if !more {
				return
			}
			last = next
		}
	}
}
