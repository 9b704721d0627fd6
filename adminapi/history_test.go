package adminapi

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

func TestParseTime(t *testing.T) {
	for s, want := range map[string]time.Time{
		"2026-11-20":                    time.Date(2026, 11, 20, 23, 59, 59, 999e6, time.UTC),
		"2024-02-29":                    time.Date(2024, 2, 29, 23, 59, 59, 999e6, time.UTC),
		"2026-11-20T12:00:00Z":          time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC),
		"2026-11-20t12:00:00z":          time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC), // RFC 3339, 5.6
		"2026-11-20t12:00:00.5-00:00":   time.Date(2026, 11, 20, 12, 0, 0, 5e8, time.UTC),
		"2026-11-20T12:00:00.123+02:00": time.Date(2026, 11, 20, 10, 0, 0, 123e6, time.UTC),
	} {
		if got, err := ParseTime(s); err != nil || got != want {
			t.Errorf("ParseTime(%q) = %v, %v, want %v", s, got, err, want)
		}
	}
	for _, s := range []string{
		"", "yesterday", "2026-13-01", "2023-02-29", "2026-11-20 12:00:00", "2026-11-20T12:00:00", "20261120",
		"0000-01-01T00:00:00Z", "Fri, 20 Nov 2026 12:00:00 GMT", strings.Repeat("9", 1000),
	} {
		if got, err := ParseTime(s); err == nil || len(err.Error()) > 200 {
			t.Errorf("ParseTime(%.40q) = %v, %v", s, got, err)
		}
	}
}

func TestAuthorityDifferences(t *testing.T) {
	full := &store.Authority{
		Prefix: name.MustParsePrefix("urn:x-a"), Owners: []string{"a", "b"}, Contact: "mailto:a@example.org", Redirect: 302, FoldCase: true,
		Modified: time.Unix(1_800_000_000, 0), Revision: 3, Policy: store.Policy{Keywords: map[string][]string{"c": {"toc"}}},
	}
	changed := full.Clone()
	changed.Owners, changed.Redirect, changed.FoldCase, changed.Revision, changed.Keywords = []string{"a", "c"}, 303, false, 4, nil
	for _, tt := range []struct {
		title         string
		before, after *store.Authority
		want          []Difference
	}{
		{"nothing", full, full.Clone(), nil},
		{"created", nil, full, []Difference{
			{"contact", "", "mailto:a@example.org"},
			{"fold_case", "", "true"},
			{"keywords", "", `{"c":["toc"]}`},
			{"owners", "", "a"},
			{"owners", "", "b"},
			{"redirect_status", "", "302"},
		}},
		{"changed", full, changed, []Difference{
			{"fold_case", "true", ""}, {"keywords", `{"c":["toc"]}`, ""}, {"owners", "b", "c"}, {"redirect_status", "302", "303"},
		}},
	} {
		if got := AuthorityDifferences(tt.before, tt.after); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %+v, want %+v", tt.title, got, tt.want)
		}
	}
}

func TestDifferences(t *testing.T) {
	at := func(l ...nomen.Location) *store.Record { return &store.Record{Status: nomen.Active, Locations: l} }
	a, b := nomen.Location{URL: "https://a.example/"}, nomen.Location{URL: "https://b.example/", Type: "text/html", Note: "a note", Priority: 2}
	changed := a
	changed.Lang = "fi"
	part := a
	part.Component = "toc"
	same := func(s ...string) *store.Record { return &store.Record{SameAs: s} }
	for _, tt := range []struct {
		title         string
		before, after *store.Record
		want          []Difference
	}{
		{"nothing", at(a, b), at(a, b), nil},
		{"created", nil, at(a), []Difference{{"status", "", "active"}, {"locations", "", "https://a.example/"}}},
		{"deleted", at(a), nil, []Difference{{"status", "active", ""}, {"locations", "https://a.example/", ""}}},
		{"retired", at(), &store.Record{Status: nomen.Retired, Reason: "old", Successors: []string{"urn:x-a:b"}}, []Difference{
			{"status", "active", "retired"}, {"reason", "", "old"}, {"successors", "", "urn:x-a:b"},
		}},
		{"a location more", at(a), at(a, b), []Difference{{"locations", "", "https://b.example/ (text/html, note: a note, priority 2)"}}},
		{"another location", at(a), at(b), []Difference{
			{"locations", "https://a.example/", ""}, {"locations", "", "https://b.example/ (text/html, note: a note, priority 2)"},
		}},
		{"a location changed", at(a, b), at(changed, b), []Difference{{"locations", "https://a.example/", "https://a.example/ (fi)"}}},
		{"a component more", at(a), at(a, part), []Difference{{"locations", "", "https://a.example/ (component toc)"}}},
		{"another order", at(a, b), at(b, a), []Difference{{"locations", "", InAnotherOrder}}},
		{"spelling", &store.Record{Spelling: "urn:x-a:B"}, &store.Record{Spelling: "urn:x-a:b"}, []Difference{{"name", "urn:x-a:B", "urn:x-a:b"}}},
		{
			"metadata", &store.Record{Metadata: nomen.Metadata{"title": {"A"}, "date": {"1"}}},
			&store.Record{Metadata: nomen.Metadata{"title": {"B"}, "creator": {"C", "D"}}},
			[]Difference{
				{"metadata.creator", "", "C"}, {"metadata.creator", "", "D"}, {"metadata.date", "1", ""}, {"metadata.title", "A", "B"},
			},
		},
		{"values", same("u:1", "u:2", "u:2"), same("u:2", "u:3"), []Difference{{"same_as", "u:1", ""}, {"same_as", "u:2", ""}, {"same_as", "", "u:3"}}},
		{"order of values", same("u:1", "u:2"), same("u:2", "u:1"), []Difference{{"same_as", "", InAnotherOrder}}},
	} {
		if diff := cmp.Diff(Differences(tt.before, tt.after), tt.want); diff != "" {
			t.Errorf("%s:\n%s", tt.title, diff)
		}
	}
}

func TestEntries(t *testing.T) {
	when := time.Date(2026, 11, 20, 12, 0, 0, 5e6, time.UTC)
	n := name.MustParse("urn:x-a:b")
	rec := &store.Record{Name: n, Spelling: "URN:x-a:b", Status: nomen.Active, Locations: []nomen.Location{{URL: "u:1", Note: "<&>\u2028\n"}}, Modified: when, Revision: 2}
	change := &store.Change{Record: rec, Expected: 1, Time: when, Who: "w", Why: "y"}
	split := *change
	split.Split = true
	for _, e := range []*store.Entry{
		{Seq: 1, Change: change, Salt: [16]byte{1}, Digest: [32]byte{2}},
		{Seq: 1, Change: &split, Salt: [16]byte{1}, Digest: [32]byte{2}},
		{Seq: 2, Change: change.Redact(), Digest: [32]byte{3}},
		{Seq: 3, Change: &store.Change{Delete: n, Expected: 2, Time: when, Redacts: []uint64{1, 2}}, Digest: [32]byte{4}},
		{Seq: 4, Change: &store.Change{Authority: &store.Authority{Prefix: name.MustParsePrefix("urn:x-a"), Revision: 1, Modified: when}, Time: when}},
	} {
		b, err := Encode(NewEntry(e))
		if err != nil {
			t.Fatal(err)
		}
		var j Entry
		if err := json.Unmarshal(b, &j); err != nil {
			t.Fatal(err)
		}
		got, err := j.Stored()
		equal := cmp.Options{cmp.Comparer(func(a, b name.Name) bool { return a == b }), cmp.Comparer(func(a, b name.Prefix) bool { return a == b })}
		if diff := cmp.Diff(got, e, equal); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", b, err, diff)
		}
	}
	good := NewEntry(&store.Entry{Seq: 1, Change: change})
	for what, spoil := range map[string]func(*Entry){
		"no revision": func(e *Entry) { e.Revision = 0 },
		"nothing":     func(e *Entry) { e.Record = nil },
		"two things":  func(e *Entry) { e.Deleted = true },
		"no key":      func(e *Entry) { e.Key = "" },
		"another prefix": func(e *Entry) {
			e.Record, e.Authority = nil, &store.Authority{Prefix: name.MustParsePrefix("urn:x-a")}
		},
		"short digest":   func(e *Entry) { e.Digest = e.Digest[2:] },
		"no hex digits":  func(e *Entry) { e.Digest = "zz" + e.Digest[2:] },
		"without a salt": func(e *Entry) { e.Salt = "" },
	} {
		bad := good
		spoil(&bad)
		if e, err := bad.Stored(); err == nil {
			t.Errorf("%s: %+v", what, e)
		}
	}
}

func TestFaults(t *testing.T) {
	for _, f := range []store.Fault{
		{Problem: "p"},
		{Subject: store.Subject{Kind: store.KindName, Key: "urn:x-a:b"}, Seq: 3, Problem: "p"},
		{Subject: store.Subject{Kind: store.KindToken, Key: "t"}, Problem: "p"},
	} {
		if got := NewFault(f).fault(); got != f {
			t.Errorf("%+v became %+v", f, got)
		}
	}
}

// An invalid response is an error, never a wrong result.
func TestStrangeHistory(t *testing.T) {
	body := ""
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, body)
	}))
	defer srv.Close()
	c := &Client{URL: srv.URL}
	ctx := t.Context()
	n := name.MustParse("urn:x-a:b")
	for _, body = range []string{"<html>\n", "{", `{"seq":1}` + "\n", strings.Repeat(" ", maxLine+1), `{"done":false}` + "\n"} {
		for e, err := range c.Changes(ctx, 0) {
			if err == nil {
				t.Errorf("%.20q: changes: %+v", body, e)
			}
		}
		if h, err := c.Verify(ctx, func(store.Fault) {}, nil); err == nil {
			t.Errorf("%.20q: verify: %+v", body, h)
		}
		if err := c.Backup(ctx, "/d", nil); err == nil {
			t.Errorf("%.20q: backup", body)
		}
		if sum, err := c.Relocate(ctx, registrar.Relocation{}); err == nil {
			t.Errorf("%.20q: relocate: %+v", body, sum)
		}
		if h, err := c.Head(ctx); err == nil {
			t.Errorf("%.20q: head: %+v", body, h)
		}
	}
	body = `{"relocated":{"names":3}}` + "\n"
	sum, err := c.Relocate(ctx, registrar.Relocation{})
	if !errors.Is(err, io.ErrUnexpectedEOF) || sum.Names != 3 {
		t.Errorf("a relocation that broke off: %+v, %v", sum, err)
	}
	body = "x"
	for r, err := range c.Revisions(ctx, n) {
		if err == nil {
			t.Errorf("revisions: %+v", r)
		}
	}
	body = `{"done":true}` + "\n"
	if h, err := c.Verify(ctx, func(store.Fault) {}, nil); err == nil {
		t.Errorf("a verification without a head: %+v", h)
	}
}

// If an entry is read, written and read again, the result is the same entry.
func FuzzEntries(f *testing.F) {
	digest := strings.Repeat("0a", 32)
	f.Add(`{"seq":1,"key":"urn:x-a:b","revision":1,"time":"2026-11-20T12:00:00Z","deleted":true,"redacted":true,"digest":"` + digest + `"}`)
	f.Add(`{"seq":2,"key":"urn:x-a:b","revision":2,"record":{"name":"URN:x-a:b","locations":[{"url":"u:1"}]},"redacts":[2,1],"salt":"` + digest[:32] + `","digest":"` + digest + `"}`)
	f.Add(`{"seq":3,"key":"urn:x-a","revision":1,"authority":{"prefix":"urn:x-a"},"salt":"` + digest[:32] + `","digest":"` + digest + `"}`)
	f.Fuzz(func(t *testing.T, line string) {
		var j Entry
		if json.Unmarshal([]byte(line), &j) != nil {
			return
		}
		e, err := j.Stored()
		if err != nil {
			return
		}
		first, err := Encode(NewEntry(e))
		if err != nil {
			return // a year that JSON cannot have
		}
		var again Entry
		if err := json.Unmarshal(first, &again); err != nil {
			t.Fatalf("%s: %v", first, err)
		}
		back, err := again.Stored()
		if err != nil {
			t.Fatalf("%s: %v", first, err)
		}
		if second, err := Encode(NewEntry(back)); err != nil || string(second) != string(first) {
			t.Errorf("%s became %s, %v", first, second, err)
		}
	})
}
