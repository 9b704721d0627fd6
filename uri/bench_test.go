package uri

import (
	"bufio"
	"compress/gzip"
	"net/url"
	"os"
	"testing"
)

// corpus returns the lines of a list of URLs that are URIs.
func corpus(b testing.TB, name string) (good []string, bytes int64) {
	b.Helper()
	f, err := os.Open("../../shared/data/urls/" + name)
	if err != nil {
		b.Skip("no shared data: ", err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		b.Fatal(err)
	}
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, MaxLength)
	for lines.Scan() {
		if _, err := Parse(lines.Text()); err == nil {
			good = append(good, lines.Text())
			bytes += int64(len(lines.Text()))
		}
	}
	return good, bytes
}

func BenchmarkKasztp(b *testing.B) {
	urls, n := corpus(b, "kasztp.txt.gz")
	b.Logf("%d URLs of %d bytes", len(urls), n/int64(len(urls)))
	run := func(name string, f func(string)) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(n)
			b.ReportAllocs()
			for b.Loop() {
				for _, s := range urls {
					f(s)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(urls)), "ns/url")
		})
	}
	run("parse", func(s string) { _, _ = Parse(s) })
	run("check", func(s string) { _, _ = Latest.Check(s) })
	run("neturl", func(s string) { _, _ = url.Parse(s) })
	run("parse+normalize", func(s string) { u, _ := Parse(s); u.Normalize(LevelPath) })
}
