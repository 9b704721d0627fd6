package answercache

import (
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"github.com/nomen-project/nomen/store"
)

const (
	date  = "Mon, 02 Jan 2006 15:04:05 GMT"
	later = "Tue, 03 Jan 2006 15:04:05 GMT"
	text  = "HTTP/1.1 303 See Other\r\nCache-Control: no-cache\r\nDate: " + date + "\r\nLocation: https://example.org/\r\nVary: A\r\nVary: B\r\n\r\nbody\r\n\r\nDate: x"
)

// newCache returns a cache, the invalidations on which it depends, and a set of authorities.
func newCache(t testing.TB, size int64) (*Cache, *store.Invalidations, *store.AuthoritySet) {
	t.Helper()
	v := new(store.Invalidations)
	return New(size, v), v, new(store.AuthoritySet)
}

// found reports whether a cache has a valid answer.
func found(c *Cache, k Key) bool {
	_, ok := c.Get(&k)
	return ok
}

// put adds an answer that depends on a key.
func put(c *Cache, k Key, set *store.AuthoritySet, on, text string) {
	putUnder(c, k, set, set, on, text)
}

// putUnder adds an answer of an engine that has another set of authorities.
func putUnder(c *Cache, k Key, set, engine *store.AuthoritySet, on, text string) {
	d := new(store.Dependencies)
	if !c.Begin(&k, d) {
		return
	}
	d.On(on)
	d.Vouch(engine)
	c.Put(&k, set, d, Answer{Status: 303, Form: 2}, []byte(text))
}

func TestRepeat(t *testing.T) {
	c, _, set := newCache(t, 1<<20)
	for i, kept := range []string{text, strings.Replace(text, "\r\n\r\nbody", "\r\nConnection: close\r\n\r\nbody", 1)} {
		r := Request{Target: fmt.Sprint("/", i)}
		k, ok := c.Key(&r, set)
		if !ok || found(c, k) {
			t.Fatalf("%v: found before it was added", ok)
		}
		put(c, k, set, "a", kept)
		a, ok := c.Get(&k)
		if !ok || a.Status != 303 || a.Form != 2 || string(a.Body()) != "body\r\n\r\nDate: x" {
			t.Fatalf("got %+v", a)
		}
		want := strings.Replace(text, date, later, 1)
		if got, body := a.AppendTo([]byte("before"), later, false); string(got) != "before"+want || body != len(a.Body()) {
			t.Errorf("got %q and %d, want %q", got, body, want)
		}
		want = strings.Replace(want, "\r\n\r\nbody", "\r\nConnection: close\r\n\r\nbody", 1)
		if got, _ := a.AppendTo(nil, later, true); string(got) != want {
			t.Errorf("the final one: got %q, want %q", got, want)
		}
		var fields []string
		for name, value := range a.Fields() {
			fields = append(fields, name+"="+value)
		}
		if got, want := strings.Join(fields, " "), "Cache-Control=no-cache Location=https://example.org/ Vary=A Vary=B"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestInvalid(t *testing.T) {
	c, v, set := newCache(t, 1<<20)
	k, _ := c.Key(&Request{Target: "/a"}, set)
	for _, tt := range []struct {
		what   string
		change func()
		valid  bool
	}{
		{"nothing", func() {}, true},
		{"the key", func() { v.Invalidate("a") }, false},
		{"everything", v.InvalidateAll, false},
	} {
		put(c, k, set, "a", text)
		if tt.change(); found(c, k) != tt.valid {
			t.Errorf("after a change of %s: valid %v, want %v", tt.what, !tt.valid, tt.valid)
		}
	}
	for what, add := range map[string]func(){
		"without Date":        func() { put(c, k, set, "a", "HTTP/1.1 303 See Other\r\n\r\nDate: "+date) },
		"of another set":      func() { putUnder(c, k, set, new(store.AuthoritySet), "a", text) },
		"with many keys":      func() { putMany(c, k, set) },
		"that is too long":    func() { put(c, k, set, "a", text+strings.Repeat("x", MaxAnswer)) },
		"that is not vouched": func() { d := new(store.Dependencies); c.Begin(&k, d); c.Put(&k, set, d, Answer{}, []byte(text)) },
	} {
		v.InvalidateAll()
		if add(); found(c, k) {
			t.Errorf("an answer %s was kept", what)
		}
	}
}

// putMany adds an answer that depends on too many keys.
func putMany(c *Cache, k Key, set *store.AuthoritySet) {
	d := new(store.Dependencies)
	c.Begin(&k, d)
	for i := range 100 {
		d.On(fmt.Sprint(i))
	}
	d.Vouch(set)
	c.Put(&k, set, d, Answer{}, []byte(text))
}

func TestEdition(t *testing.T) {
	c, _, first := newCache(t, 1<<20)
	r := Request{Target: "/a"}
	k, _ := c.Key(&r, first)
	put(c, k, first, "a", text)
	second, _ := c.Key(&r, new(store.AuthoritySet))
	if found(c, second) {
		t.Error("an answer under other authorities was found")
	}
	if again, _ := c.Key(&r, first); found(c, again) {
		t.Error("an answer was found after the authorities had changed twice")
	}
}

func TestNone(t *testing.T) {
	for _, v := range []*store.Invalidations{nil, new(store.Invalidations)} {
		c := New(0, v)
		if c != nil {
			t.Errorf("got %v", c)
		}
		if _, ok := c.Key(&Request{}, nil); ok {
			t.Error("a cache that is off has a key")
		}
		if _, ok := c.Usage(); ok {
			t.Error("a cache that is off has a usage")
		}
		c.Continue(nil)
	}
}

// TestTriples checks that frequent combinations stay, whatever other clients send.
func TestTriples(t *testing.T) {
	var table triples
	usual := triple{"text/html", "de", "gzip"}
	n, ok := table.number(usual)
	if !ok || n == 0 {
		t.Fatalf("got %d, %v", n, ok)
	}
	known := 0
	for i := range 100_000 {
		if _, ok := table.number(triple{accept: fmt.Sprint(i)}); ok {
			known++
		}
		if got, ok := table.number(usual); got != n || !ok {
			t.Fatalf("after %d others: got %d, %v, want %d", i, got, ok, n)
		}
	}
	if known > 100_000/admitEvery+2*maxTriples {
		t.Errorf("%d of 100,000 combinations were numbered", known)
	}
	other := triple{"text/plain", "", ""}
	for range 100 * admitEvery {
		table.number(other)
	}
	if _, ok := table.number(other); !ok {
		t.Error("a combination that has become frequent is not numbered")
	}
	if _, ok := new(triples).number(triple{accept: strings.Repeat("x", maxTripleSize+1)}); ok {
		t.Error("a long combination was numbered")
	}
}

// TestTriplesAreUnique checks that no number is used twice.
func TestTriplesAreUnique(t *testing.T) {
	var table triples
	var mu sync.Mutex
	seen := map[uint32]string{}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i := range 5000 {
				of := triple{languages: fmt.Sprint(i % 500)}
				if n, ok := table.number(of); ok {
					mu.Lock()
					if old, known := seen[n]; known && old != of.languages {
						t.Errorf("%d is the number of %s and %s", n, old, of.languages)
					}
					seen[n] = of.languages
					mu.Unlock()
				}
			}
		})
	}
	all.Wait()
}

// TestHitAllocations checks that finding an answer allocates nothing.
func TestHitAllocations(t *testing.T) {
	c, _, set := newCache(t, 1<<20)
	k, _ := c.Key(&Request{Target: "/a", Host: "b", Accept: "c"}, set)
	put(c, k, set, "a", text)
	if n := testing.AllocsPerRun(100, func() {
		if k, ok := c.Key(&Request{Target: "/a", Host: "b", Accept: "c"}, set); !ok || !found(c, k) {
			t.Fatal("not found")
		}
	}); n > 0 {
		t.Errorf("an answer from the cache takes %v allocations", n)
	}
}

func BenchmarkHit(b *testing.B) {
	c, _, set := newCache(b, 64<<20)
	requests := make([]Request, 5000)
	for i := range requests {
		requests[i] = Request{Target: fmt.Sprintf("/urn:example:name-%d", i), Host: "localhost:4500", Accept: "*/*", Local: netip.MustParseAddrPort("127.0.0.1:4500")}
		k, _ := c.Key(&requests[i], set)
		put(c, k, set, requests[i].Target, text)
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		k, _ := c.Key(&requests[i], set)
		if !found(c, k) {
			b.Fatal("not found")
		}
		i = (i + 1) % len(requests)
	}
}
