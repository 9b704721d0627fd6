package store_test

import (
	"context"
	"fmt"
	"iter"
	"net/netip"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/rule"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func put(t *testing.T, s store.Store, at time.Time, all ...*store.Authority) {
	t.Helper()
	for _, a := range all {
		if _, err := s.Apply(t.Context(), []store.Change{{Authority: a, Expected: store.AnyRevision, Time: at}}); err != nil {
			t.Fatal(err)
		}
	}
}

func authority(prefix string) *store.Authority {
	return &store.Authority{Prefix: name.MustParsePrefix(prefix)}
}

func prefixOf(a *store.Authority) string {
	if a == nil {
		return ""
	}
	return a.Prefix.String()
}

func TestTableFindsAuthorities(t *testing.T) { // A95-3, Y95-37
	s := memstore.New()
	defer s.Close()
	hosted := authority("urn:nbn:fi")
	hosted.Hosts, hosted.Addresses = []string{"URN.example.org", "[2001:db8::1]"}, []string{"192.0.2.7"}
	standard := authority("urn:ietf:rfc")
	standard.Default = true
	put(t, s, start, hosted, standard, authority("urn:nbn:fi:bib"), authority("urn:dns:example.org"))
	set, err := store.NewTable(s, time.Now, time.Hour).Set(t.Context(), time.Time{})
	if err != nil || len(set.All()) != 4 {
		t.Fatalf("got %v, %v; want four authorities", set, err)
	}
	for in, want := range map[string]string{
		"urn:nbn:fi-fe1":        "urn:nbn:fi",
		"urn:nbn:fi:bib-1":      "urn:nbn:fi:bib", // the longest prefix decides
		"urn:nbn:fi:other-1":    "urn:nbn:fi",
		"urn:nbn:fin-1":         "",
		"urn:ietf:rfc:1":        "urn:ietf:rfc",
		"urn:dns:example.org:x": "urn:dns:example.org",
	} {
		if got := prefixOf(set.Of(name.MustParse(in))); got != want {
			t.Errorf("Of(%s) = %q, want %q", in, got, want)
		}
	}
	for _, tt := range []struct{ host, local, want string }{
		{"urn.example.org", "192.0.2.1", "urn:nbn:fi"},
		{"urn.EXAMPLE.org.:4500", "192.0.2.1", "urn:nbn:fi"},
		{"[2001:DB8::1]:4500", "192.0.2.1", "urn:nbn:fi"},
		{"example.org", "192.0.2.7", "urn:dns:example.org"}, // the AuthorityID is a host
		{"sub.example.org", "192.0.2.1", "urn:ietf:rfc"},    // Y95-11
		{"", "192.0.2.7", "urn:nbn:fi"},
		{"", "::ffff:192.0.2.7", "urn:nbn:fi"},
		{"", "192.0.2.1", "urn:ietf:rfc"},
	} {
		if got := prefixOf(set.At(tt.host, netip.MustParseAddr(tt.local))); got != tt.want {
			t.Errorf("At(%q, %s) = %q, want %q", tt.host, tt.local, got, tt.want)
		}
	}
	if got := set.Host(""); got != nil {
		t.Errorf("Host of an empty field = %v", got)
	}
}

func TestTableIsReadAgain(t *testing.T) {
	s := memstore.New()
	defer s.Close()
	now := start
	table := store.NewTable(s, func() time.Time { return now }, time.Second)
	count := func(at time.Time) int {
		t.Helper()
		set, err := table.Set(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		return len(set.All())
	}
	steps := []struct {
		what string
		do   func()
		want int
	}{
		{"an empty store", func() {}, 0},
		{"a change that is not seen yet", func() { put(t, s, start, authority("urn:a1")) }, 0},
		{"the lifetime over", func() { now = now.Add(time.Second) }, 1},
		{"a change followed by Forget", func() { put(t, s, now, authority("urn:b1")); table.Forget() }, 2},
	}
	for _, step := range steps {
		step.do()
		if got := count(time.Time{}); got != step.want {
			t.Errorf("%s: %d authorities, want %d", step.what, got, step.want)
		}
	}
	if got := count(start); got != 1 {
		t.Errorf("as of the first change: %d authorities, want 1", got)
	}
}

func TestTableTellsFailures(t *testing.T) {
	s := memstore.New()
	table := store.NewTable(s, time.Now, time.Hour)
	_ = s.Close()
	if set, err := table.Set(context.Background(), time.Time{}); err == nil {
		t.Errorf("got %v from a closed store", set)
	}
}

// slow is a reader whose listing of authorities blocks, and is counted.
type slow struct {
	store.Store
	reads atomic.Int32
	gate  chan struct{}
}

func (s *slow) Authorities(ctx context.Context, at time.Time) iter.Seq2[*store.Authority, error] {
	s.reads.Add(1)
	<-s.gate
	return s.Store.Authorities(ctx, at)
}

// TestTableServesWhileItReads checks that a call does not wait for the read of another,
// unless there is no previous set or Forget was called.
func TestTableServesWhileItReads(t *testing.T) {
	s := memstore.New()
	defer s.Close()
	synctest.Test(t, func(t *testing.T) {
		put(t, s, start, authority("urn:a1"))
		r := &slow{Store: s, gate: make(chan struct{}, 1)}
		table := store.NewTable(r, time.Now, time.Second)
		var set *store.AuthoritySet
		read := func() {
			var err error
			if set, err = table.Set(t.Context(), time.Time{}); err != nil {
				t.Error(err)
			}
		}
		r.gate <- struct{}{}
		read()
		first := set
		put(t, s, start, authority("urn:b1"))
		time.Sleep(time.Second)
		go read() // and blocks
		synctest.Wait()
		if got, err := table.Set(t.Context(), time.Time{}); err != nil || got != first {
			t.Errorf("during a read: %v, %v, want the previous set", got, err)
		}
		if n := r.reads.Load(); n != 2 {
			t.Errorf("%d reads, want 2", n)
		}
		r.gate <- struct{}{}
		synctest.Wait()
		if len(set.All()) != 2 {
			t.Errorf("after the read: %d authorities, want 2", len(set.All()))
		}
		table.Forget()
		go read()
		synctest.Wait()
		second := set
		put(t, s, start, authority("urn:c1"))
		table.Forget() // the read in progress is too old
		r.gate <- struct{}{}
		r.gate <- struct{}{}
		synctest.Wait()
		read()
		if set == second || len(set.All()) != 3 {
			t.Errorf("after Forget during a read: %d authorities, want 3", len(set.All()))
		}
	})
}

// TestTableCompilesOnce checks that unchanged authorities are not compiled again, and that
// the set stays the same if no authority has changed.
func TestTableCompilesOnce(t *testing.T) {
	s := memstore.New()
	defer s.Close()
	ruled := authority("urn:a1")
	ruled.Rules = rule.Set{{Match: "{x:*}", Locations: []nomen.Location{{URL: "https://h.example/{x}"}}, Tests: []rule.Test{{From: "urn:a1:y", To: []string{"https://h.example/y"}}}}}
	put(t, s, start, ruled, authority("urn:b1"))
	table := store.NewTable(s, time.Now, time.Hour)
	compiled := func() (*store.AuthoritySet, *store.Compiled) {
		t.Helper()
		table.Forget()
		set, err := table.Set(t.Context(), time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		c, err := set.Compiled(set.Exactly(ruled.Prefix))
		if err != nil || c.Rules == nil {
			t.Fatal(c, err)
		}
		if other, err := set.Compiled(set.Exactly(name.MustParsePrefix("urn:b1"))); err != nil || other.Rules != nil || other.Link != nil {
			t.Errorf("an authority without rules: %+v, %v", other, err)
		}
		return set, c
	}
	set1, c1 := compiled()
	set2, c2 := compiled()
	put(t, s, start.Add(time.Second), authority("urn:c1"))
	set3, c3 := compiled()
	ruled.Rules[0].Locations[0].Note = "new"
	put(t, s, start.Add(time.Second), ruled)
	_, c4 := compiled()
	if set1 != set2 || set2 == set3 || c1 != c2 || c2 != c3 || c3 == c4 {
		t.Errorf("sets %p %p %p, compiled %p %p %p %p: want the first two and the first three the same", set1, set2, set3, c1, c2, c3, c4)
	}
}

// TestTableReplaces checks that Replace takes effect at once without a read of the store, and does
// not delay the changes of other processes.
func TestTableReplaces(t *testing.T) {
	s := memstore.New()
	defer s.Close()
	put(t, s, start, authority("urn:b1"), authority("urn:d1"))
	r := &slow{Store: s, gate: make(chan struct{}, 9)}
	for range cap(r.gate) {
		r.gate <- struct{}{}
	}
	now := start
	table := store.NewTable(r, func() time.Time { return now }, time.Second)
	table.Replace(&store.Authority{Prefix: name.MustParsePrefix("urn:b1"), Revision: 7}) // before the first read
	set := func() *store.AuthoritySet {
		t.Helper()
		set, err := table.Set(t.Context(), time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		return set
	}
	check := func(when string, reads int32, want ...string) {
		t.Helper()
		var got []string
		for _, a := range set().All() {
			got = append(got, fmt.Sprintf("%s %d", a.Prefix, a.Revision))
			if o := set().Of(name.MustParse(a.Prefix.String() + ":x")); o != a {
				t.Errorf("%s: Of a name of %s = %v", when, a.Prefix, o)
			}
		}
		if !slices.Equal(got, want) || r.reads.Load() != reads {
			t.Errorf("%s: %q after %d reads, want %q after %d", when, got, r.reads.Load(), want, reads)
		}
	}
	check("read", 1, "urn:b1 1", "urn:d1 1")
	first := set()
	for _, p := range []string{"urn:a1", "urn:c1", "urn:e1", "urn:c1:x", "urn:b1"} {
		next := authority(p)
		next.Description, next.Hosts = "new", []string{p[4:] + ".example"}
		put(t, s, now, next)
		kept, err := s.Authority(t.Context(), next.Prefix, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		table.Replace(kept)
		if got := set().Host(next.Hosts[0]); got != kept {
			t.Errorf("asked at %s: %v", next.Hosts[0], got)
		}
	}
	now = now.Add(time.Second - 1)
	check("replaced", 1, "urn:a1 1", "urn:b1 2", "urn:c1 1", "urn:c1:x 1", "urn:d1 1", "urn:e1 1")
	table.Replace(&store.Authority{Prefix: name.MustParsePrefix("urn:b1"), Revision: 1})
	check("an earlier revision", 1, "urn:a1 1", "urn:b1 2", "urn:c1 1", "urn:c1:x 1", "urn:d1 1", "urn:e1 1")
	if len(first.All()) != 2 {
		t.Error("a set that was returned earlier has changed")
	}
	put(t, s, now, authority("urn:f1"))
	now = start.Add(time.Second)
	check("the lifetime over", 2, "urn:a1 1", "urn:b1 2", "urn:c1 1", "urn:c1:x 1", "urn:d1 1", "urn:e1 1", "urn:f1 1")
}

// TestOfIsTheLongest compares the search with a walk over all prefixes of a name.
func TestOfIsTheLongest(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		s := memstore.New()
		defer s.Close()
		part := rapid.SampledFrom([]string{"a", "ab", "b", "a.b", "-", "a-", "0", "z"})
		spelling := rapid.Custom(func(r *rapid.T) string {
			nid := rapid.SampledFrom([]string{"urn:x-a:", "urn:nbn:", "urn:oid:", "ark:1", "https://h.example/", "urn:dns:"}).Draw(r, "namespace")
			delimiter := rapid.SampledFrom([]string{":", "-", "/", "."})
			parts := rapid.SliceOfN(part, 1, 5).Draw(r, "parts")
			for i, p := range parts {
				if i > 0 {
					nid += delimiter.Draw(r, "delimiter")
				}
				nid += p
			}
			return nid
		})
		prefixes := map[name.Prefix]bool{}
		for _, text := range rapid.SliceOfN(spelling, 0, 20).Draw(r, "prefixes") {
			p, err := name.ParsePrefix(text)
			if err != nil || prefixes[p] {
				continue
			}
			prefixes[p] = true
			if _, err := s.Apply(t.Context(), []store.Change{{Authority: &store.Authority{Prefix: p}, Time: start}}); err != nil {
				r.Fatal(err)
			}
		}
		set, err := store.NewTable(s, time.Now, time.Hour).Set(t.Context(), time.Time{})
		if err != nil {
			r.Fatal(err)
		}
		for range 20 {
			n, err := name.Parse(spelling.Draw(r, "name"))
			if err != nil {
				continue
			}
			want := ""
			for p := range n.Prefixes {
				if prefixes[p] {
					want = p.String()
					break
				}
			}
			if got := prefixOf(set.Of(n)); got != want {
				r.Errorf("Of(%s) = %q, want %q", n, got, want)
			}
		}
	})
}

func BenchmarkOf(b *testing.B) {
	s := memstore.New()
	defer s.Close()
	for i := range 2500 {
		p := name.MustParsePrefix(fmt.Sprintf("urn:nbn:de:inst-%04d", i))
		if _, err := s.Apply(b.Context(), []store.Change{{Authority: &store.Authority{Prefix: p}, Time: start}}); err != nil {
			b.Fatal(err)
		}
	}
	table := store.NewTable(s, time.Now, time.Hour)
	n := name.MustParse("urn:nbn:de:inst-1234:2020-11:some/thing-5678")
	b.ReportAllocs()
	for b.Loop() {
		set, err := table.Set(b.Context(), time.Time{})
		if err != nil || set.Of(n) == nil {
			b.Fatal(err)
		}
	}
}
