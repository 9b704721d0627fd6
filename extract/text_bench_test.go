package extract

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/internal/testrun"
	"github.com/nomen-project/nomen/uri"
)

// prose returns the texts of RFCs, concatenated, or what stands in for them.
func prose(b *testing.B) []byte {
	texts, ok := rfcTexts(b)
	if !ok {
		for n, target := range rfcTargets(b) {
			texts[n] = compose(target)
		}
	}
	var all []byte
	for _, n := range slices.Sorted(maps.Keys(texts)) {
		all = append(all, texts[n]...)
	}
	return all
}

// urlList returns valid real-world URLs, one per line.
func urlList(b *testing.B) []byte {
	lines, _ := testrun.Lines(b, "urls/kasztp.txt")
	var list []byte
	for _, line := range lines {
		if _, err := uri.Parse(line); err == nil {
			list = append(append(list, line...), '\n')
		}
	}
	return list
}

func BenchmarkBytes(b *testing.B) {
	texts := map[string]func(*testing.B) []byte{
		"prose": prose,
		"list":  urlList,
		"plain": func(*testing.B) []byte { return bytes.Repeat([]byte("Lorem ipsum dolor sit amet. "), 1<<15) },
	}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		b.Run(name, func(b *testing.B) {
			text := texts[name](b)
			for _, o := range []struct {
				name string
				Options
			}{{"zero", Options{}}, {"everything", everything}} {
				b.Run(o.name, func(b *testing.B) {
					b.SetBytes(int64(len(text)))
					b.ReportAllocs()
					n := 0
					for b.Loop() {
						n = 0
						for range Bytes(text, o.Options) {
							n++
						}
					}
					b.ReportMetric(float64(n), "findings")
				})
			}
		})
	}
}

// BenchmarkText measures reading a stream, compared with BenchmarkBytes.
func BenchmarkText(b *testing.B) {
	text := prose(b)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		for _, err := range Text(bytes.NewReader(text), Options{}) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkTextHostile reads ten megabytes of text that is hard to read.
func BenchmarkTextHostile(b *testing.B) {
	for _, unit := range []string{"<", "://", "(", "a.", "a:", "\"", "http://a/-\n", "http://a/", "<http://a/ ", "a@b."} {
		for i, o := range []Options{{}, everything} {
			b.Run(fmt.Sprintf("%q/%d", unit, i), func(b *testing.B) {
				text := []byte(strings.Repeat(unit, 10<<20/len(unit)))
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					for range Bytes(text, o) {
					}
				}
			})
		}
	}
}
