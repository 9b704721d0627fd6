package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/store"
)

// located returns a change that writes an active record with locations.
func located(k string, n int, urls ...string) store.Change {
	r := &store.Record{Name: key(k), Status: nomen.Active}
	for _, u := range urls {
		r.Locations = append(r.Locations, nomen.Location{URL: u, Note: "x"})
	}
	return write(r, n)
}

// places finds locations and writes each as "URL name".
func (s *suite) places(prefix string, after store.Place) []string {
	s.Helper()
	return texts(read(s, store.Find(s.Context(), s.Store, prefix, after)), func(p store.Place) string { return p.URL + " " + p.Name.Key() })
}

func finding(s *suite) {
	if got := s.places("", store.Place{}); got != nil {
		s.Errorf("Find in an empty store: %q", got)
	}
	s.apply(
		located("urn:x-a:1", 0, "https://a.example.org/1", "https://b.example.org/", "https://a.example.org/1"),
		located("urn:x-a:2", 0, "https://a.example.org/", "https://b.example.org/"),
		located("urn:x-a:10", 0, "https://a.example.org/10", "http://a.example.org/1", "https://a.example.org"),
		located("urn:x-a:3", 0),
	)
	all := []string{
		"http://a.example.org/1 urn:x-a:10",
		"https://a.example.org urn:x-a:10",
		"https://a.example.org/ urn:x-a:2",
		"https://a.example.org/1 urn:x-a:1",
		"https://a.example.org/10 urn:x-a:10",
		"https://b.example.org/ urn:x-a:1",
		"https://b.example.org/ urn:x-a:2",
	}
	s.equal("all", s.places("", store.Place{}), all)
	s.pages(all)
	for prefix, want := range map[string][]string{
		"http":                     all,
		"https:":                   all[1:],
		"https://a":                all[1:5],
		"https://a.example.org/":   all[2:5],
		"https://a.example.org/1":  all[3:5],
		"https://a.example.org/10": all[4:5],
		"https://b.example.org/":   all[5:],
		"https://b.example.org/x":  nil,
		"HTTPS:":                   nil,
		"urn:":                     nil,
		"\xff":                     nil,
	} {
		s.equal("prefix "+prefix, s.places(prefix, store.Place{}), orNil(want))
	}
	s.moves()
	s.anyURL()
}

// pages checks that Find yields exactly the places after a given place, whether or not the given
// place exists.
func (s *suite) pages(all []string) {
	s.Helper()
	for i, line := range all {
		url, k, _ := strings.Cut(line, " ")
		s.equal("after "+line, s.places("", store.Place{URL: url, Name: key(k)}), orNil(all[i+1:]))
		s.equal("after "+line+"-", s.places("", store.Place{URL: url, Name: key(k + "-")}), orNil(all[i+1:]))
	}
	s.equal("after a URL", s.places("", store.Place{URL: "https://b.example.org/"}), all[5:])
	s.equal("after a place before the prefix", s.places("https://b", store.Place{URL: "https://a", Name: key("z")}), all[5:])
	s.equal("after a place behind the prefix", s.places("https://a", store.Place{URL: "https://b", Name: key("a")}), []string(nil))
	leave(s, store.Find(s.Context(), s.Store, "", store.Place{}), len(all))
	for p, err := range store.Find(s.ended(), s.Store, "", store.Place{}) {
		if p != (store.Place{}) || !errors.Is(err, context.Canceled) {
			s.Errorf("Find with a cancelled context: %v, %v", p, err)
		}
	}
}

// moves checks that Find yields the current locations of records of every status, and no earlier
// locations.
func (s *suite) moves() {
	s.Helper()
	find := func() []string { return s.places("https://m/", store.Place{}) }
	k := "urn:x-m:1"
	s.apply(located(k, 0, "https://m/1", "https://m/2"))
	s.apply(located(k, 1, "https://m/2", "https://m/3"))
	s.equal("after a change", find(), []string{"https://m/2 " + k, "https://m/3 " + k})
	s.apply(located(k, 2, "https://m/2", "https://m/3")) // the same content again
	s.equal("after none", find(), []string{"https://m/2 " + k, "https://m/3 " + k})
	retired := located(k, 3, "https://m/3")
	retired.Record.Status, retired.Record.Reason = nomen.Retired, "withdrawn"
	reserved := located("urn:x-m:2", 3, "https://m/3")
	reserved.Record.Status = nomen.Reserved
	s.apply(retired, reserved)
	s.equal("retired and reserved", find(), []string{"https://m/3 " + k, "https://m/3 urn:x-m:2"})
	s.apply(remove("urn:x-m:2", 4), located(k, 4, "https://m/5"), located(k, 4, "https://m/6"), located(k, 4, "https://m/5"))
	s.equal("deleted, and changed thrice in a batch", find(), []string{"https://m/5 " + k})
	s.apply(located("urn:x-m:2", 5, "https://m/5"), located("urn:x-m:2", 5))
	s.equal("there and away in one batch", find(), []string{"https://m/5 " + k})
	s.refused(located("urn:x-m:3", 5, "https://m/7"), expecting(9, located(k, 5, "https://m/8")))
	s.equal("after a refused batch", find(), []string{"https://m/5 " + k})
	s.apply(located(k, 6))
	s.equal("none left", find(), []string(nil))
}

// anyURL checks that a location can consist of arbitrary bytes, and that places are in byte order.
func (s *suite) anyURL() {
	s.Helper()
	var urls []string
	for _, u := range []string{
		"", "\x00", "\x00\x00", "\x00\x01", "\x00\xff", "\x01", "a", "a\x00", "a\x00\x00", "a\x00b", "a\x00\xff",
		"a\x01", "ab", "a\xff", "a\xff\x00", "a\xff\xff", "ä", "\xfe", strings.Repeat("a", 3000), strings.Repeat("a", 3000) + "b",
		strings.Repeat("a", store.MaxText-1), "b" + strings.Repeat("ä", store.MaxText/2-1),
	} {
		urls = append(urls, "z"+u)
	}
	s.apply(located("urn:x-z:2", 0, urls...), located("urn:x-z:1", 0, urls...), located("!", 0, urls...), located("~", 0, urls...))
	slices.Sort(urls)
	var want []string
	for _, u := range urls {
		for _, k := range []string{"!", "urn:x-z:1", "urn:x-z:2", "~"} {
			want = append(want, u+" "+k)
		}
	}
	same := func(what string, got, want []string) {
		s.Helper()
		if !slices.Equal(got, want) {
			s.Errorf("%s: %d places, want %d, or in another order", what, len(got), len(want))
		}
	}
	same("any bytes", s.places("z", store.Place{}), want)
	for i, u := range urls {
		same(fmt.Sprintf("after URL %d", i), s.places("z", store.Place{URL: u, Name: key("urn:x-z:1")}), want[4*i+2:])
		same(fmt.Sprintf("prefix %d", i), s.places(u, store.Place{}), beginning(want, u))
	}
}
