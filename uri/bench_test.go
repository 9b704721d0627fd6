package uri

import (
	"net/url"
	"testing"
)

// corpus returns the lines of a list that are URIs, and their length together.
func corpus(b *testing.B, name string) (good []string, size int64) {
	b.Helper()
	all, _ := lines(b, name)
	for _, s := range all {
		if _, err := Parse(s); err == nil {
			good = append(good, s)
			size += int64(len(s))
		}
	}
	return good, size
}

// measure runs f on all URLs of a list and reports the time for one.
func measure(b *testing.B, name string, urls []string, size int64, f func(string)) {
	b.Run(name, func(b *testing.B) {
		b.SetBytes(size)
		b.ReportAllocs()
		for b.Loop() {
			for _, s := range urls {
				f(s)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(urls)), "ns/url")
	})
}

// BenchmarkLists measures operations on URLs, and for comparison those of net/url. The module in
// ../bench compares more libraries.
func BenchmarkLists(b *testing.B) {
	for _, l := range []string{"kasztp.txt", "node_files.txt", "debian-homepages-vcs.txt"} {
		urls, size := corpus(b, l)
		b.Run(l, func(b *testing.B) {
			measure(b, "Parse", urls, size, func(s string) { _, _ = Parse(s) })
			measure(b, "Check", urls, size, func(s string) { _, _ = Latest.Check(s) })
			measure(b, "net/url", urls, size, func(s string) { _, _ = url.Parse(s) })
			measure(b, "ParseNormalize", urls, size, func(s string) {
				u, _ := Parse(s)
				u.Normalize(LevelPath)
			})
			for d := Draft1993; d < Latest; d++ {
				measure(b, d.String(), urls, size, func(s string) { d.Check(s) })
			}
		})
	}
}

func BenchmarkResolve(b *testing.B) {
	base := MustParse("http://a/b/c/d;p?q")
	ref, err := ParseReference("../../g/./h?y#s")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		_, _ = base.Resolve(ref)
	}
}

func BenchmarkRelativize(b *testing.B) {
	base, target := MustParse("http://a/b/c/d;p?q"), MustParse("http://a/b/x/y?z")
	b.ReportAllocs()
	for b.Loop() {
		base.Relativize(target)
	}
}

func BenchmarkEquivalent(b *testing.B) {
	x, y := MustParse("http://example.com/a/../b/%7ec"), MustParse("HTTP://EXAMPLE.com:80/b/~c")
	b.ReportAllocs()
	for b.Loop() {
		Equivalent(x, y, LevelScheme, httpRules)
	}
}

func BenchmarkNormalize(b *testing.B) {
	u := MustParse("HTTP://EXAMPLE.com:80/a/../b/%7ec")
	b.ReportAllocs()
	for b.Loop() {
		u.Normalize(LevelScheme, httpRules)
	}
}

func BenchmarkInspect(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		Latest.Inspect("http://www.example.com/a/b?c=d")
	}
}
