package storetest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// trickyKeys returns keys for which mistakes in sorting are likely. They are in byte order.
func trickyKeys() []string {
	return []string{
		"A", "B", "Z", "a", "a!", "a%C3%A4", "a-", "a-b", "a.", "a.b", "a/", "a//", "a/b", "a0", "a00", "a1", "a10", "a2",
		"a:", "a::", "a:b", "aA", "aB", "a_", "aa", "aa-", "ab", "a~", "b", "h", "ha", "m", "mcount", "na", "ua", "z", "~", "~~",
	}
}

// fill writes a record for each key, but not in the order of the keys.
func (s *suite) fill(keys []string) {
	s.Helper()
	var batch []store.Change
	for _, i := range rand.New(rand.NewPCG(1, 2)).Perm(len(keys)) {
		batch = append(batch, put(keys[i], "u:1", 0))
	}
	s.apply(batch...)
}

func list(s *suite) {
	s.fill([]string{"urn:a:1", "urn:a:2", "urn:a:3", "urn:b", "urn:b:1", "urn:c:1", "urn:c:2"})
	for _, c := range []struct{ prefix, after, want string }{
		{"", "", "urn:a:1 urn:a:2 urn:a:3 urn:b urn:b:1 urn:c:1 urn:c:2"},
		{"urn:", "", "urn:a:1 urn:a:2 urn:a:3 urn:b urn:b:1 urn:c:1 urn:c:2"},
		{"urn:a", "", "urn:a:1 urn:a:2 urn:a:3"},
		{"urn:b", "", "urn:b urn:b:1"},
		{"urn:b:", "", "urn:b:1"},
		{"urn:b:1", "", "urn:b:1"},
		{"urn:b:10", "", ""},
		{"urn;", "", ""},
		{"urn:\xff", "", ""},
		{"\xff\xff", "", ""},
		{"", "urn:b", "urn:b:1 urn:c:1 urn:c:2"},
		{"", "urn:bb", "urn:c:1 urn:c:2"},
		{"", "a", "urn:a:1 urn:a:2 urn:a:3 urn:b urn:b:1 urn:c:1 urn:c:2"},
		{"", "urn:c:2", ""},
		{"", "\xff\xff", ""},
		{"urn:a", "urn:a:1", "urn:a:2 urn:a:3"},
		{"urn:a", "urn:a:3", ""},
		{"urn:a", "urn:b", ""},
		{"urn:b", "urn:a:2", "urn:b urn:b:1"},
		{"urn:b", "urn:b", "urn:b:1"},
		{"urn:a", "\xff", ""},
	} {
		if got := strings.Join(s.keys(store.Scan{Prefix: c.prefix, After: c.after}), " "); got != c.want {
			s.Errorf("List(prefix %q, after %q):\n got %q\nwant %q", c.prefix, c.after, got, c.want)
		}
	}
	leave(s, s.List(s.Context(), store.Scan{Prefix: "urn:"}), 7)
}

func keyOrder(s *suite) {
	keys := trickyKeys()
	if !slices.IsSorted(keys) {
		s.Fatal("storetest: the keys are not in byte order")
	}
	s.fill(keys)
	s.equal("all", s.keys(store.Scan{}), keys)
	for i, k := range keys {
		if r := s.get(k); r == nil || r.Name.Key() != k {
			s.Errorf("Get(%q): %+v", k, r)
		}
		s.equal("after "+k, s.keys(store.Scan{After: k}), orNil(keys[i+1:]))
		s.equal("prefix "+k, s.keys(store.Scan{Prefix: k}), beginning(keys, k))
	}
	// The history of each name must not appear in the listing.
	var batch []store.Change
	for _, k := range keys {
		batch = append(batch, put(k, "u:2", 1), put(k, "u:3", 2))
	}
	s.apply(batch...)
	s.equal("all, with a history", s.keys(store.Scan{}), keys)
	s.equal("all at minute 1", s.keys(store.Scan{At: minute(1)}), keys)
}

func beginning(all []string, prefix string) []string {
	return orNil(slices.DeleteFunc(slices.Clone(all), func(s string) bool { return !strings.HasPrefix(s, prefix) }))
}

func longKeys(s *suite) {
	long := strings.Repeat("k", name.MaxLength-1)
	keys := []string{long, long + "-", long + "a", long + "b"}
	for i, k := range keys {
		s.apply(put(k, fmt.Sprint("u:", i), 0), put(k, fmt.Sprint("v:", i), 1))
	}
	s.equal("all", s.keys(store.Scan{}), keys)
	s.equal("after", s.keys(store.Scan{After: keys[1]}), keys[2:])
	s.equal("prefix", s.keys(store.Scan{Prefix: keys[3]}), keys[3:])
	for i, k := range keys {
		for n, want := range []string{fmt.Sprint("u:", i), fmt.Sprint("v:", i)} {
			if r := s.getAt(k, minute(n)); r == nil || r.Locations[0].URL != want {
				s.Errorf("key %d at minute %d: %+v, want %s", i, n, r, want)
			}
		}
	}
}

// listOneMoment checks that a listing does not include changes that are made during the loop,
// whether before or after the current position.
func listOneMoment(s *suite) {
	s.fill([]string{"b", "d", "f", "h"})
	s.apply(reserve("e", 0))
	var got []string
	for r, err := range s.List(s.Context(), store.Scan{}) {
		if err != nil {
			s.Fatal(err)
		}
		got = append(got, r.Name.Key()+" "+string(r.Status)+" "+fmt.Sprint(r.Revision))
		if r.Name.Key() == "b" {
			s.apply(
				put("a", "u:1", 1), put("c", "u:1", 1), put("i", "u:1", 1),
				put("b", "u:2", 1), put("f", "u:2", 1), remove("e", 1),
			)
			if n := len(s.keys(store.Scan{})); n != 7 {
				s.Errorf("a second listing within the first gives %d names, want 7", n)
			}
			if s.get("f").Revision != 2 {
				s.Error("Get within a listing does not see the present")
			}
		}
	}
	s.equal("listing", got, []string{"b active 1", "d active 1", "e reserved 1", "f active 1", "h active 1"})
}

// listWhileWriting checks that a listing shows all changes of a batch or none.
func listWhileWriting(s *suite) {
	const names, rounds = 50, 40
	batch := func(round int) []store.Change {
		var c []store.Change
		for i := range names {
			c = append(c, put(fmt.Sprintf("urn:x-a:%d:%02d", i%3, i), fmt.Sprint("u:", round), round))
		}
		return c
	}
	s.apply(batch(0)...)
	during(func() {
		for round := 1; round <= rounds; round++ {
			if _, err := s.Apply(s.Context(), batch(round)); err != nil {
				s.Errorf("Apply: %v", err)
			}
		}
	}, func() {
		seen := map[string]int{}
		for _, r := range s.list(store.Scan{}) {
			seen[r.Locations[0].URL]++
		}
		if len(seen) != 1 {
			s.Errorf("one listing saw several batches: %v", seen)
		}
	})
}

func counting(s *suite) {
	want := func(n int64) {
		s.Helper()
		got, exact, err := store.Count(s.Context(), s.Store)
		if err != nil || exact && got != n {
			s.Errorf("Count: %d, %t, %v, want %d", got, exact, err, n)
		}
	}
	want(0)
	s.apply(put("a", "u:1", 0), reserve("b", 0), put("c", "u:1", 0))
	want(3)
	s.apply(put("a", "u:2", 1), put("a", "u:3", 1))
	want(3)
	s.apply(store.Change{Authority: RichAuthority(), Time: minute(0)}, store.Change{Token: &store.Token{ID: "t"}, Time: minute(0)})
	want(3)
	s.apply(remove("b", 1), reserve("d", 1), remove("d", 1), remove("e", 1))
	want(2)
	s.apply(reserve("b", 2))
	want(3)
	refusal[*store.ConflictError](s, put("x", "u:1", 0), expecting(7, put("y", "u:1", 0)))
	want(3)
}

func orNil(l []string) []string {
	if len(l) == 0 {
		return nil
	}
	return l
}

// records checks that Records returns the same records as Get, for names in any order and for keys
// that are close together or far apart.
func records(s *suite) {
	if got, err := store.Records(s.Context(), s.Store, nil, false); len(got) > 0 || err != nil {
		s.Errorf("Records of no names: %v, %v", got, err)
	}
	var keys []string
	for i := range 300 {
		keys = append(keys, fmt.Sprintf("urn:x-a:%03d", i))
	}
	s.fill(keys)
	s.apply(reserve("urn:x-a:gone", 1))
	s.apply(remove("urn:x-a:gone", 2), put("urn:x-a:004", "u:new", 2), store.Change{Authority: RichAuthority(), Time: minute(2)})
	backward := slices.Clone(keys)
	slices.Reverse(backward)
	for i, asked := range [][]string{
		keys,
		keys[7:8],
		{"urn:x-a:004", "urn:x-a:0040", "urn:x-a:005", "urn:x-a:006", "urn:x-a:006", "urn:x-a:001", "urn:x-a:299", "urn:x-a:gone", "urn:x-b:", "urn:x-c:"},
		{"", "urn:\x00", "\xff\xff", "urn:x-a:000", "urn:x-a:1", "urn:x-a:100", "urn:x-a:100\x00", "urn:x-a:101", strings.Repeat("x", name.MaxLength+1)},
		every(keys, 2), every(keys, 3), every(keys, 50), slices.Concat(every(keys, 50), keys[260:], every(keys, 90), keys[100:110]),
		backward,
	} {
		names := make([]name.Name, len(asked))
		for i, k := range asked {
			names[i] = key(k)
		}
		got, err := store.Records(s.Context(), s.Store, names, i%2 == 0)
		if err != nil || len(got) != len(asked) {
			s.Fatalf("Records(%q): %d records, %v", asked, len(got), err)
		}
		for i, k := range asked {
			s.equal("Records of "+k, got[i], s.get(k))
		}
	}
}

func every(keys []string, n int) (all []string) {
	for i := 0; i < len(keys); i += n {
		all = append(all, keys[i])
	}
	return all
}
