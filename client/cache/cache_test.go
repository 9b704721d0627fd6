package cache_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/client"
	"github.com/nomen-project/nomen/client/cache"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/uri"
)

// source answers with what it has, and counts full answers and confirmations.
type source struct {
	mu              sync.Mutex
	version         map[string]int // by name
	err             error
	undated         bool
	private         bool
	forget          bool // a confirmed answer must no longer be kept
	asked, confirms atomic.Int32
}

func (s *source) Resolve(ctx context.Context, q nomen.Question) (*nomen.Answer, error) {
	a, _, err := s.ResolveIf(ctx, q, client.Validators{})
	return a, err
}

const day = "Mon, 02 Jan 2006 15:04:05 GMT"

func (s *source) ResolveIf(_ context.Context, q nomen.Question, have client.Validators) (*nomen.Answer, client.Validators, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked.Add(1)
	if s.err != nil {
		return nil, client.Validators{}, s.err
	}
	n := q.Name.Key()
	v := client.Validators{From: "test " + n, Tag: fmt.Sprint(s.version[n]), Modified: time.Unix(int64(s.version[n]), 0).UTC().Format(day)}
	if s.undated {
		v.Modified = ""
	}
	if have == v {
		s.confirms.Add(1)
		if s.forget {
			v = client.Validators{}
		}
		return nil, v, client.ErrUnchanged
	}
	a := rich(q.Name, q.Service)
	a.Revision, a.Private = uint64(s.version[n]), s.private
	return a, v, nil
}

// rich returns an answer that fills the fields of a description.
func rich(n name.Name, service nomen.Service) *nomen.Answer {
	return &nomen.Answer{
		Service: service, Name: n, Spelling: strings.ToUpper(n.Key()[:4]) + n.Key()[4:], Status: nomen.Active,
		Locations: []nomen.Location{{URL: "https://example.org/x", Type: "text/html", Lang: "fr", Note: "é\n\x01", Down: true}},
		Metadata:  nomen.Metadata{"title": {"雪\u2028", "x"}}, Names: []string{"urn:doi:10.1/2"}, Reason: "r",
		Successors: []name.Name{name.MustParse("urn:ietf:rfc:1")}, Redirect: "urn:x-y:z", MaxAge: time.Minute, Private: true,
		Modified: time.Date(2026, 11, 20, 12, 0, 0, 123e6, time.UTC), Revision: 42, Why: []string{"a record"},
	}
}

var compareNames = cmp.Comparer(func(a, b name.Name) bool { return a == b })

func ask(s string) nomen.Question {
	q, err := client.Parse(s)
	if err != nil {
		panic(err)
	}
	q.Service = nomen.I2C
	return q
}

// storages returns every kind of storage, empty.
func storages(t *testing.T, l cache.Limits) map[string]cache.Storage {
	disk, err := cache.OpenDisk(t.TempDir()+"/cache", l)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]cache.Storage{"memory": cache.NewMemory(l), "disk": disk}
}

// Every cached answer is confirmed before it is used.
func TestEveryReuseIsConfirmed(t *testing.T) {
	for kind, k := range storages(t, cache.Limits{}) {
		s := &source{version: map[string]int{}}
		c := cache.New(s, k, cache.Options{})
		q := ask("urn:ietf:rfc:2648")
		first, err := c.Resolve(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		want := *first
		first.Locations[0].URL, first.Metadata["title"][0] = "spoiled", "spoiled" // the caller owns the answer
		for i := range 3 {
			got, err := c.Resolve(t.Context(), ask("URN:IETF:rfc:2648"))
			want.Locations = []nomen.Location{{URL: "https://example.org/x", Type: "text/html", Lang: "fr", Note: "é\n\x01", Down: true}}
			want.Metadata = nomen.Metadata{"title": {"雪\u2028", "x"}}
			if diff := cmp.Diff(got, &want, compareNames); err != nil || diff != "" {
				t.Errorf("Y95-66: %s: %v (-got +want)\n%s", kind, err, diff)
			}
			if int(s.asked.Load()) != i+2 || int(s.confirms.Load()) != i+1 {
				t.Errorf("Y95-67: %s: %d questions, %d confirmations", kind, s.asked.Load(), s.confirms.Load())
			}
			got.Locations[0].URL = "spoiled"
		}
		s.version["urn:ietf:rfc:2648"]++ // a changed record is seen at once
		if got, err := c.Resolve(t.Context(), q); err != nil || got.Revision != 1 {
			t.Errorf("Y95-67: %s: a changed record: %+v, %v", kind, got, err)
		}
		if got, err := c.Resolve(t.Context(), q); err != nil || got.Revision != 1 || s.confirms.Load() != 4 {
			t.Errorf("%s: a changed record again: %+v, %v", kind, got, err)
		}
	}
}

// A confirmed answer is used, and dropped if it must no longer be kept.
func TestForgotten(t *testing.T) {
	for kind, k := range storages(t, cache.Limits{}) {
		s := &source{}
		c := cache.New(s, k, cache.Options{})
		q := ask("urn:ietf:rfc:2648")
		if _, err := c.Resolve(t.Context(), q); err != nil {
			t.Fatal(err)
		}
		s.forget = true
		if a, err := c.Resolve(t.Context(), q); err != nil || a.Name != q.Name || s.confirms.Load() != 1 {
			t.Errorf("%s: got %+v, %v", kind, a, err)
		}
		if _, _, err := c.Past(q); !errors.Is(err, cache.ErrNothing) {
			t.Errorf("%s: it is kept: %v", kind, err)
		}
	}
}

// Answers that must not be kept are not kept.
func TestNotKept(t *testing.T) {
	q := ask("urn:ietf:rfc:2648")
	resource, why := q, q
	resource.Service, why.Explain = nomen.I2R, true
	for _, tt := range []struct {
		name   string
		source *source
		o      cache.Options
		q      nomen.Question
	}{
		{"without a date", &source{undated: true}, cache.Options{}, q}, // Y95-67
		{"an error", &source{err: &nomen.Error{Kind: nomen.Unknown}}, cache.Options{}, q},
		{"for one user", &source{private: true}, cache.Options{Shared: true}, q},
		{"a resource", &source{}, cache.Options{}, resource},
		{"an explanation", &source{}, cache.Options{}, why},
	} {
		for kind, k := range storages(t, cache.Limits{}) {
			c := cache.New(tt.source, k, tt.o)
			for range 2 {
				c.Resolve(t.Context(), tt.q)
			}
			if _, _, err := c.Past(tt.q); tt.source.confirms.Load() != 0 || !errors.Is(err, cache.ErrNothing) {
				t.Errorf("%s, %s: it was kept: %v", kind, tt.name, err)
			}
		}
	}
}

// An error about the name drops the cached answer; a failure does not. Both are returned to the
// caller.
func TestErrors(t *testing.T) {
	for kind, k := range storages(t, cache.Limits{}) {
		s := &source{}
		c := cache.New(s, k, cache.Options{})
		q := ask("urn:ietf:rfc:2648")
		if _, err := c.Resolve(t.Context(), q); err != nil {
			t.Fatal(err)
		}
		failure, gone := errors.New("no network"), &nomen.Error{Kind: nomen.Gone}
		s.err = failure
		if a, err := c.Resolve(t.Context(), q); a != nil || err != failure {
			t.Errorf("%s: got %+v, %v", kind, a, err)
		}
		if _, _, err := c.Past(q); err != nil {
			t.Errorf("%s: after a failure: %v", kind, err)
		}
		s.err = gone
		if a, err := c.Resolve(t.Context(), q); a != nil || err != gone {
			t.Errorf("%s: got %+v, %v", kind, a, err)
		}
		if _, _, err := c.Past(q); !errors.Is(err, cache.ErrNothing) {
			t.Errorf("%s: of a name that is gone: %v", kind, err)
		}
	}
}

// Past answers without a request, and returns the date of the answer.
func TestPast(t *testing.T) {
	for kind, k := range storages(t, cache.Limits{}) {
		now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
		s := &source{}
		c := cache.New(s, k, cache.Options{Now: func() time.Time { return now }})
		q := ask("urn:ietf:rfc:2648#part")
		if _, err := c.Resolve(t.Context(), q); err != nil {
			t.Fatal(err)
		}
		a, at, err := c.Past(q)
		if err != nil || !at.Equal(now) || a.Locations[0].URL != "https://example.org/x#part" || s.asked.Load() != 1 {
			t.Errorf("%s: got %+v, %v, %v", kind, a, at, err)
		}
		now = now.Add(time.Hour)
		if a, err := c.Resolve(t.Context(), ask("urn:ietf:rfc:2648")); err != nil || a.Locations[0].URL != "https://example.org/x" { // N12-38
			t.Errorf("%s: got %+v, %v", kind, a, err)
		}
		if _, at, err := c.Past(q); err != nil || !at.Equal(now) {
			t.Errorf("%s: confirmed at %v, %v, want %v", kind, at, err, now)
		}
		if _, _, err := c.Past(ask("urn:ietf:rfc:1")); !errors.Is(err, cache.ErrNothing) {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

// 2012, 5: questions with the same answer have the same key, and others do not.
func TestKey(t *testing.T) {
	n := name.MustParse("urn:example:A%2fb")
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	same := []nomen.Question{
		{Name: n, Service: nomen.I2C},
		{Name: n, Subject: uri.MustParse("URN:EXAMPLE:A%2Fb#f"), Service: nomen.I2C, Hops: 3},
		{Subject: uri.MustParse("urn:Example:A%2Fb#f"), Service: nomen.I2C},
		{Name: n, Service: nomen.I2C, Accept: " ", Other: uri.MustParse("urn:example:b")},
	}
	for _, q := range same {
		if got := cache.Key(q); got != cache.Key(same[0]) || got == "" {
			t.Errorf("%+v: got %q", q, got)
		}
	}
	seen := map[string]nomen.Question{}
	for _, q := range []nomen.Question{
		same[0],
		{Name: n},
		{Name: n, Service: nomen.I2Cs},
		{Name: n, Service: "i2c"},
		{Name: name.MustParse("urn:example:A/b"), Service: nomen.I2C},
		{Name: name.MustParse("urn:example:a%2fb"), Service: nomen.I2C},
		{Name: n, Service: nomen.I2C, Component: "x"},
		{Name: n, Service: nomen.I2C, R: "x"},
		{Name: n, Service: nomen.I2C, Q: "x"},
		{Name: n, Service: nomen.I2C, Query: "x"},
		{Name: n, Service: nomen.I2C, Accept: "x"},
		{Name: n, Service: nomen.I2C, Languages: "x"},
		{Name: n, Service: nomen.I2C, Country: "x"},
		{Name: n, Service: nomen.I2C, At: at},
		{Name: n, Service: nomen.I2C, At: at.Add(1)},
		{Name: n, Service: nomen.IisI, Other: uri.MustParse("urn:example:b")},
		{Name: n, Service: nomen.IisI, Other: uri.MustParse("urn:example:c")},
		{Name: n, Service: nomen.IisI, Other: uri.MustParse("ftp://example.org/c")},
	} {
		k := cache.Key(q)
		if other, ok := seen[k]; ok || k == "" {
			t.Errorf("%+v and %+v have the key %q", q, other, k)
		}
		seen[k] = q
	}
	for _, q := range []nomen.Question{{}, {Subject: uri.MustParse("urn:x")}, {Name: n, Languages: "a\nb"}} {
		if k := cache.Key(q); k != "" {
			t.Errorf("%+v: got %q", q, k)
		}
	}
}

// A storage keeps within its limits and keeps the most recently used entries.
func TestLimits(t *testing.T) {
	for kind, k := range storages(t, cache.Limits{MaxEntries: 32}) {
		c := cache.New(&source{}, k, cache.Options{})
		kept := func() (n int) {
			for i := range 200 {
				if _, ok := k.Get(cache.Key(ask(fmt.Sprintf("urn:example:%d", i)))); ok {
					n++
				}
			}
			return n
		}
		for i := range 200 {
			if _, err := c.Resolve(t.Context(), ask(fmt.Sprintf("urn:example:%d", i))); err != nil {
				t.Fatal(err)
			}
		}
		if n := kept(); n > 34 || n < 28 {
			t.Errorf("%s: %d entries are kept, want about 32", kind, n)
		}
		if _, ok := k.Get(cache.Key(ask("urn:example:199"))); !ok {
			t.Errorf("%s: the last one is missing", kind)
		}
	}
	for kind, k := range storages(t, cache.Limits{MaxBytes: 20_000}) {
		c := cache.New(&source{}, k, cache.Options{})
		for i := range 100 {
			if _, err := c.Resolve(t.Context(), ask(fmt.Sprintf("urn:example:%d", i))); err != nil {
				t.Fatal(err)
			}
		}
		n := 0
		for i := range 100 {
			if _, ok := k.Get(cache.Key(ask(fmt.Sprintf("urn:example:%d", i)))); ok {
				n++
			}
		}
		if n < 5 || n > 35 {
			t.Errorf("%s: %d entries in 20,000 bytes", kind, n)
		}
		for _, size := range []int{1, 20_000} { // the second answer is too large to be kept, and must also remove the first
			if err := k.Put(cache.Entry{Key: "k", Answer: &nomen.Answer{Reason: strings.Repeat("x", size)}}); err != nil {
				t.Error(err)
			}
		}
		if _, ok := k.Get("k"); ok {
			t.Errorf("%s: an entry beyond the limits is kept", kind)
		}
	}
}

// Many programs ask concurrently, in memory and through one directory.
func TestConcurrent(t *testing.T) {
	dir := t.TempDir()
	l := cache.Limits{MaxEntries: 20}
	memory := cache.NewMemory(l)
	for kind, open := range map[string]func() (cache.Storage, error){
		"memory": func() (cache.Storage, error) { return memory, nil },
		"disk":   func() (cache.Storage, error) { return cache.OpenDisk(dir, l) },
	} {
		s := &source{version: map[string]int{}}
		var all sync.WaitGroup
		for range 4 {
			k, err := open()
			if err != nil {
				t.Fatal(err)
			}
			c := cache.New(s, k, cache.Options{Failed: func(err error) { t.Error(err) }})
			all.Go(func() {
				for i := range 200 {
					q := ask(fmt.Sprintf("urn:example:%d", i%30))
					if a, err := c.Resolve(t.Context(), q); err != nil || a.Name != q.Name {
						t.Errorf("%s: got %+v, %v", kind, a, err)
						return
					}
				}
			})
		}
		all.Wait()
	}
}

// A client is a source, and so is a chain.
var (
	_ cache.Source = (*client.Client)(nil)
	_ cache.Source = (*client.Chain)(nil)
)

// loopback resolves every host to a loopback address.
type loopback struct{}

func (loopback) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
}
