package answercache

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/nomen-project/nomen/store"
)

// redirect returns a response like that of a server for a target.
func redirect(target string) string {
	location := "https://example.org" + target
	body := location + "\r\n"
	return "HTTP/1.1 303 See Other\r\nCache-Control: no-cache\r\nDate: " + date + "\r\nLink: <http://localhost" + target + ">; rel=\"cite-as\", <" + location +
		">; rel=\"item\"\r\nLocation: " + location + fmt.Sprintf("\r\nContent-Length: %d\r\n\r\n", len(body)) + body
}

// get asks for a target as a server does, and reports whether the answer was in the cache.
func get(t testing.TB, c *Cache, set *store.AuthoritySet, target string) bool {
	k, ok := c.Key(&Request{Target: target, Host: "localhost"}, set)
	if !ok {
		t.Fatal("no key")
	}
	if found(c, k) {
		return true
	}
	put(c, k, set, target, redirect(target))
	return false
}

// TestScan checks that many names of which each is asked for once do not remove those that are asked
// for again and again, and that other names can enter a full cache.
func TestScan(t *testing.T) {
	c, _, set := newCache(t, 1<<20)
	const usual, all = 500, 50_000
	hits := 0
	for i := range all {
		get(t, c, set, fmt.Sprintf("/urn:example:scan-%d", i))
		if get(t, c, set, fmt.Sprintf("/urn:example:%d", i%usual)) {
			hits++
		}
	}
	if least := all - 3*usual; hits < least {
		t.Errorf("%d hits, want at least %d", hits, least)
	}
	u, _ := c.Usage()
	if u.Bytes > 1<<20 || u.Bytes < 1<<18 || u.Hits != uint64(hits) || u.Misses != 2*all-u.Hits || u.Evictions != 0 {
		t.Errorf("%d hits; got %+v", hits, u)
	}
}

// TestUnused checks that what is used least leaves a full cache.
func TestUnused(t *testing.T) {
	c, _, set := newCache(t, 1<<20)
	const usual, all = 500, 50_000
	hits, found := 0, 0
	for i := range all {
		for range 3 { // these names enter the cache
			if get(t, c, set, fmt.Sprintf("/urn:example:new-%d", i)) {
				found++
			}
		}
		if get(t, c, set, fmt.Sprintf("/urn:example:%d", i%usual)) {
			hits++
		}
	}
	if least := all - 4*usual; hits < least || found < all {
		t.Errorf("%d hits of usual names, want at least %d; %d of new ones, want at least %d", hits, least, found, all)
	}
	if u, _ := c.Usage(); u.Evictions < all/2 || u.Bytes > 1<<20 {
		t.Errorf("got %+v", u)
	}
}

// TestCompact checks how many answers a cache has room for. The number varies by some hundreds, because
// the seed of the hashes decides which shards are full first.
func TestCompact(t *testing.T) {
	c, _, set := newCache(t, 4<<20)
	for range 2 {
		for i := range 20_000 {
			get(t, c, set, fmt.Sprintf("/urn:example:%d", i))
		}
	}
	n := 0
	for i := range c.shards {
		n += len(c.shards[i].index)
	}
	if u, _ := c.Usage(); n < int(u.Bytes)/200 || n < 16_500 {
		t.Errorf("%d answers in %d bytes", n, u.Bytes)
	}
}

// TestRoom checks that the size of a cache is that of its entries, also when others have left.
func TestRoom(t *testing.T) {
	c, v, set := newCache(t, 1<<18)
	for i := range 20_000 {
		k, _ := c.Key(&Request{Target: fmt.Sprintf("/%d", i%3000), Host: fmt.Sprint(i / 500), Head: i%2 == 0}, set)
		for range 2 { // a half full cache takes only what has missed twice
			put(c, k, set, k.target, strings.Replace(redirect(k.target), "no-cache", fmt.Sprint(i/100), 1))
		}
		if i%3 == 0 {
			found(c, k) // used entries are added again when their segment leaves
		}
		if i%1000 == 0 {
			v.InvalidateAll()
		}
	}
	for i := range c.shards {
		checkRoom(t, &c.shards[i])
	}
}

// checkRoom checks that what a shard says about its entries is true of them.
func checkRoom(t *testing.T, s *shard) {
	t.Helper()
	var want int64
	scopes, patterns, current := map[uint16]int{}, map[uint16]int{}, 0
	for _, n := range s.order {
		g := s.segments[n]
		want += g.room()
		for i := range g.heads {
			h := &g.heads[i]
			scopes[h.scope]++
			patterns[h.pattern]++
			if p, ok := s.index[h.hash]; ok && p == placeOf(n, i) {
				current++
			}
		}
	}
	for number, n := range scopes {
		of := s.scopes.of(number)
		if want += of.weight(); n != s.scopes.rows[number].entries || s.scopeOf[of] != number {
			t.Errorf("a scope has %d entries, want %d", s.scopes.rows[number].entries, n)
		}
	}
	for number, n := range patterns {
		of := s.patterns.of(number)
		if want += of.weight(); n != s.patterns.rows[number].entries || s.pattern[of.skeleton] != number {
			t.Errorf("a pattern has %d entries, want %d", s.patterns.rows[number].entries, n)
		}
	}
	if s.bytes != want || want > s.capacity || want == 0 || current != len(s.index) {
		t.Errorf("%d bytes, want %d of at most %d; %d entries in the index, want %d", s.bytes, want, s.capacity, len(s.index), current)
	}
	if len(scopes) != len(s.scopeOf) || len(patterns) != len(s.pattern) || len(s.order)+len(s.free) != len(s.segments) {
		t.Errorf("%d scopes, want %d; %d patterns, want %d; %d segments, want %d", len(s.scopeOf), len(scopes), len(s.pattern), len(patterns), len(s.segments), len(s.order)+len(s.free))
	}
}

// TestConcurrent checks that an answer is always that of its key, whatever others do.
func TestConcurrent(t *testing.T) {
	c, v, set := newCache(t, 1<<17)
	var all sync.WaitGroup
	for n := range 4 {
		all.Go(func() {
			for i := range 5000 {
				target := fmt.Sprintf("/urn:example:%d", (i*7+n)%600)
				k, _ := c.Key(&Request{Target: target}, set)
				a, ok := c.Get(&k)
				if !ok {
					put(c, k, set, target, redirect(target))
					continue
				}
				if got, _ := a.AppendTo(nil, date, false); string(got) != redirect(target) {
					t.Errorf("got %q for %s", got, target)
				}
				if i%100 == 0 {
					v.Invalidate(target)
				}
			}
		})
	}
	all.Wait()
}

// FuzzPattern checks that an answer is the same after it was in the cache, whatever it has.
func FuzzPattern(f *testing.F) {
	for _, seed := range [][2]string{
		{"/urn:example:a", redirect("/urn:example:a")},
		{"/a", redirect("/a")},
		{"/xyz", "HTTP/1.1 303 See Other\r\nDate: " + date + "\r\nLocation: /xyz\r\nLocation: /xyz/xyz\r\n\r\n"},
		{"/urn:x:y", "HTTP/1.1 303 See Other\r\nDate: " + date + "\r\nLocation: /urn:x:y/z\r\nX: /urn:x:y/z/urn:x:y\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\n/urn:x:y/\x02"},
		{"/a", "HTTP/1.1 200 OK\r\nDate: " + date + "\r\nDate: " + date + "\r\n\r\n\r\n\r\nDate: "},
		{"/a", "HTTP/1.1 200 OK\r\n\r\n"},
		{"", "\r\nDate: \r\n\r\n"},
		{"/abc", "HTTP/1.1 200 OK\r\nDate: \r\n\r\n\x06/abc\x05"},
		{"/abc", "HTTP/1.1 200 \x05\r\nDate: \r\n\r\n/abc"},
	} {
		f.Add(seed[0], []byte(seed[1]))
	}
	c, v, set := newCache(f, 1<<20)
	f.Fuzz(func(t *testing.T, target string, text []byte) {
		v.InvalidateAll()
		k, ok := c.Key(&Request{Target: target}, set)
		if !ok {
			return
		}
		put(c, k, set, target, string(text))
		a, ok := c.Get(&k)
		head, body, _ := bytes.Cut(text, []byte(headEnd))
		if !ok {
			if len(text) <= MaxAnswer && bytes.Contains(head, []byte(lineEnd+dateField)) && !bytes.ContainsAny(head, allGaps) && len(body) < len(text)-len(head) {
				t.Errorf("%q is not kept", text)
			}
			return
		}
		head = bytes.TrimSuffix(head, []byte(closing))
		begin := bytes.Index(head, []byte(lineEnd+dateField)) + len(lineEnd+dateField)
		end := begin + len(bytes.SplitN(head[begin:], []byte(lineEnd), 2)[0])
		for final, want := range map[bool]string{false: "", true: closing} {
			want = string(head[:begin]) + later + string(head[end:]) + want + headEnd + string(body)
			got, n := a.AppendTo(nil, later, final)
			if string(got) != want || n != len(body) || string(a.Body()) != string(body) {
				t.Errorf("got %q, want %q", got, want)
			}
		}
	})
}

// BenchmarkZipf measures which part of requests for names of which the r-th is asked for in proportion to
// 1/r comes from the cache, and how long a request takes, with an answer that must be added if it
// is not there.
func BenchmarkZipf(b *testing.B) {
	const names = 1_000_000
	for _, size := range []int64{8 << 20, 64 << 20} {
		b.Run(fmt.Sprint(size>>20, " MiB"), func(b *testing.B) {
			c, _, set := newCache(b, size)
			r := ranks{state: 1}
			hits, all := 0, 0
			b.ReportAllocs()
			for b.Loop() {
				if all++; get(b, c, set, fmt.Sprintf("/urn:example:%d", r.next(names))) {
					hits++
				}
			}
			b.ReportMetric(float64(hits)/float64(all), "hits/op")
		})
	}
}

// ranks are random ranks of names, the r-th in proportion to 1/r.
type ranks struct{ state uint64 }

// next returns a rank less than n.
func (r *ranks) next(n int) int {
	r.state = r.state*6364136223846793005 + 1442695040888963407
	return int(math.Exp(float64(r.state>>11)/(1<<53)*math.Log(float64(n)))) - 1
}

// BenchmarkPut measures how long it takes to add an answer.
func BenchmarkPut(b *testing.B) {
	c, _, set := newCache(b, 16<<20)
	d := new(store.Dependencies)
	c.Begin(&Key{}, d)
	d.On("a")
	d.Vouch(set)
	var keys []Key
	var texts [][]byte
	for i := range 5000 {
		target := fmt.Sprintf("/urn:example:name-of-the-usual-length/%d", i)
		k, _ := c.Key(&Request{Target: target, Host: "localhost"}, set)
		keys, texts = append(keys, k), append(texts, []byte(redirect(target)))
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		c.Put(&keys[i], set, d, Answer{Status: 303}, texts[i])
		i = (i + 1) % len(keys)
	}
}
