package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// urlFiles hold URLs from real documents, one per line, a few of them malformed.
const urlFiles = "../../../shared/data/urls/*.txt.gz"

// urlLines returns URLs, one per line: those in urlFiles if these exist, and otherwise as many
// generated ones.
func urlLines(tb testing.TB) []byte {
	files, err := filepath.Glob(urlFiles)
	if err != nil {
		tb.Fatal(err)
	}
	if len(files) == 0 {
		tb.Logf("%s: not there, lines are generated", urlFiles)
	}
	var all []byte
	for _, file := range files {
		all = append(all, unzipped(tb, file)...)
	}
	for i := 0; len(files) == 0 && i < 250_000; i++ {
		all = fmt.Appendf(all, "https://www.example.org/directory/page-%d.html?id=%d\n", i, i%97)
	}
	return all
}

func unzipped(tb testing.TB, file string) []byte {
	tb.Helper()
	f, err := os.Open(file)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		tb.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		tb.Fatal(err)
	}
	return text
}

// BenchmarkIdentifierLines runs whole command lines over standard input.
func BenchmarkIdentifierLines(b *testing.B) {
	urls := urlLines(b)
	lines := bytes.Count(urls, []byte("\n"))
	for _, bb := range []struct {
		name string
		args []string
	}{
		{"normalize", []string{"normalize", "-"}},
		{"normalize-json", []string{"normalize", "--json", "-"}},
		{"parse-json", []string{"parse", "--json", "-"}},
		{"check-json", []string{"check", "--json", "-"}},
		{"join", []string{"join", "http://a/b/c/d;p?q", "-"}},
		{"relativize", []string{"relativize", "http://a/b/c/d;p?q", "-"}},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.SetBytes(int64(len(urls)))
			b.ReportAllocs()
			for b.Loop() {
				if got := run(b.Context(), bb.args, streams{bytes.NewReader(urls), io.Discard, io.Discard}); got > exitNo {
					b.Fatalf("status %d", got)
				}
			}
			b.ReportMetric(float64(lines)*float64(b.N)/b.Elapsed().Seconds(), "lines/s")
		})
	}
}
