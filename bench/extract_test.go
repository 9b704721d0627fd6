package bench

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"strings"
	"testing"
	"time"

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

// BenchmarkExtractBest compares where other programs run too: the list is cut into
// pieces, and for each piece the shortest of its times counts.
func BenchmarkExtractBest(b *testing.B) {
	strict := xurls.Strict()
	for _, l := range []struct {
		name string
		size int // of a piece: read in a millisecond
		find func([]byte) int
	}{
		{"nomen", 200_000, func(text []byte) (n int) {
			for range extract.Bytes(text, extract.Options{}) {
				n++
			}
			return n
		}},
		{"xurls-strict", 4000, func(text []byte) int { return len(strict.FindAllIndex(text, -1)) }},
	} {
		b.Run(l.name, func(b *testing.B) {
			data := list(b)
			pieces := inPieces(data, l.size)
			best := make([]time.Duration, len(pieces))
			for b.Loop() {
				for i, text := range pieces {
					start := time.Now()
					l.find(text)
					if d := time.Since(start); best[i] == 0 || d < best[i] {
						best[i] = d
					}
				}
			}
			var sum time.Duration
			for _, d := range best {
				sum += d
			}
			b.ReportMetric(float64(len(data))/1e6/sum.Seconds(), "best-MB/s")
		})
	}
}

// inPieces cuts a text behind line ends, into pieces of about the size.
func inPieces(text []byte, size int) (pieces [][]byte) {
	for len(text) > size {
		n := size + bytes.IndexByte(text[size:], '\n') + 1
		pieces = append(pieces, text[:n])
		text = text[n:]
	}
	return append(pieces, text)
}
