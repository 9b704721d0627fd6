package bench

import (
	"bufio"
	"compress/gzip"
	"net/url"
	"os"
	"testing"

	"github.com/PuerkitoBio/purell"
	whatwg "github.com/nlnwa/whatwg-url/url"

	"github.com/nomen-project/nomen/uri"
)

// corpus returns the lines of a list that are URIs, and their length together.
func corpus(b *testing.B, name string) (good []string, size int64) {
	b.Helper()
	f, err := os.Open("../../shared/data/urls/" + name)
	if err != nil {
		b.Skip("the lists of URLs are not here: ", err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		b.Fatal(err)
	}
	scan := bufio.NewScanner(z)
	scan.Buffer(nil, uri.MaxLength)
	for scan.Scan() {
		if _, err := uri.Parse(scan.Text()); err == nil {
			good = append(good, scan.Text())
			size += int64(len(scan.Text()))
		}
	}
	if err := scan.Err(); err != nil {
		b.Fatal(err)
	}
	return good, size
}

// libraries are the libraries, and what of theirs is measured.
var libraries = []struct {
	name string
	f    func(string)
}{
	{"uri.Parse", func(s string) { _, _ = uri.Parse(s) }},
	{"uri.Check", func(s string) { _, _ = uri.Latest.Check(s) }},
	{"net.url.Parse", func(s string) { _, _ = url.Parse(s) }},
	{"whatwg.Parse", func(s string) { _, _ = whatwg.Parse(s) }},
	{"uri.ParseNormalize", func(s string) {
		u, _ := uri.Parse(s)
		u.Normalize(uri.LevelPath)
	}},
	{"net.url.ParseString", func(s string) {
		if u, err := url.Parse(s); err == nil {
			_ = u.String()
		}
	}},
	{"purell.Normalize", func(s string) {
		_, _ = purell.NormalizeURLString(s, purell.FlagsSafe|purell.FlagRemoveDotSegments)
	}},
}

func BenchmarkLists(b *testing.B) {
	for _, list := range []string{"kasztp.txt.gz", "node_files.txt.gz", "debian-homepages-vcs.txt.gz"} {
		urls, size := corpus(b, list)
		b.Run(list, func(b *testing.B) {
			for _, l := range libraries {
				b.Run(l.name, func(b *testing.B) {
					b.SetBytes(size)
					b.ReportAllocs()
					for b.Loop() {
						for _, s := range urls {
							l.f(s)
						}
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(urls)), "ns/url")
				})
			}
		})
	}
}
