package bench

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"strings"
	"testing"

	"mvdan.cc/xurls/v2"

	"github.com/nomen-project/nomen/extract"
)

// prose returns a megabyte of the texts of RFCs, one after the other.
func prose(b *testing.B) []byte {
	b.Helper()
	f, err := os.Open("../../shared/data/text/rfc8500-8999.tar.gz")
	if err != nil {
		b.Skip("the texts of RFCs are not here: ", err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		b.Fatal(err)
	}
	var all []byte
	for r := tar.NewReader(z); len(all) < 1<<20; {
		h, err := r.Next()
		if err != nil {
			b.Fatal(err)
		}
		if !strings.HasSuffix(h.Name, ".txt") {
			continue
		}
		text, err := io.ReadAll(r)
		if err != nil {
			b.Fatal(err)
		}
		all = append(all, text...)
	}
	return all[:1<<20]
}

// list returns URLs met in the wild, one a line.
func list(b *testing.B) []byte {
	b.Helper()
	lines, _ := corpus(b, "kasztp.txt.gz")
	return []byte(strings.Join(lines, "\n") + "\n")
}

// BenchmarkExtract finds identifiers in running text and in a list, as bytes in
// memory and, as xurls can, by the text of each alone.
func BenchmarkExtract(b *testing.B) {
	for _, text := range []struct {
		name string
		of   func(*testing.B) []byte
	}{{"prose", prose}, {"list", list}} {
		b.Run(text.name, func(b *testing.B) {
			data := text.of(b)
			run := func(name string, find func() int) {
				b.Run(name, func(b *testing.B) {
					b.SetBytes(int64(len(data)))
					b.ReportAllocs()
					n := 0
					for b.Loop() {
						n = find()
					}
					b.ReportMetric(float64(n), "findings")
				})
			}
			nomen := func(o extract.Options) func() int {
				return func() (n int) {
					for range extract.Bytes(data, o) {
						n++
					}
					return n
				}
			}
			run("nomen", nomen(extract.Options{}))
			run("nomen-everything", nomen(extract.Options{Abbreviated: true, Mail: true, IRI: true}))
			run("nomen-stream", func() (n int) {
				for range extract.Text(bytes.NewReader(data), extract.Options{}) {
					n++
				}
				return n
			})
			strict, relaxed := xurls.Strict(), xurls.Relaxed()
			run("xurls-strict", func() int { return len(strict.FindAllIndex(data, -1)) })
			run("xurls-relaxed", func() int { return len(relaxed.FindAllIndex(data, -1)) })
		})
	}
}
