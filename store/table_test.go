package store_test

import (
	"context"
	"net/netip"
	"testing"
	"time"

	"github.com/nomen-project/nomen/name"
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
		t.Errorf("Host of nothing = %v", got)
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
		{"a change that is told", func() { put(t, s, now, authority("urn:b1")); table.Forget() }, 2},
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
