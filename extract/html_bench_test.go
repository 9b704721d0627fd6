package extract

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/nomen-project/nomen/uri"
)

// BenchmarkHTML reads the page of the tests, and pages of text with a few
// links, which are the most common. For comparison it runs the tokenizer of
// golang.org/x/net/html, which does not find anything by itself.
func BenchmarkHTML(b *testing.B) {
	page := readFixture(b, "page.html")
	prose := "<!doctype html><title>t</title><body>" + strings.Repeat("<p class=\"text\">"+strings.Repeat("A line of words &amp; signs, as pages have. ", 12)+
		"<a class=\"link\" href=\"next.html?a=1&amp;b=2\">a link</a> and <em>more</em>: http://b.example/x.</p>\n", 40)
	for _, doc := range []struct{ name, text string }{{"links", strings.Repeat(page, 8)}, {"prose", strings.Repeat(prose, 8)}} {
		b.Run(doc.name, func(b *testing.B) {
			b.SetBytes(int64(len(doc.text)))
			b.ReportAllocs()
			o := Options{Base: uri.MustParse("http://a.example/")}
			for b.Loop() {
				for range HTML(strings.NewReader(doc.text), o) {
				}
			}
		})
		b.Run(doc.name+"/tokenizer", func(b *testing.B) {
			b.SetBytes(int64(len(doc.text)))
			b.ReportAllocs()
			for b.Loop() {
				z := html.NewTokenizer(strings.NewReader(doc.text))
				for z.Next() != html.ErrorToken {
					z.Token()
				}
			}
		})
	}
}

// BenchmarkMIME reads a mailbox of the letter of the tests.
func BenchmarkMIME(b *testing.B) {
	letter := "From curator@herbarium.example Sat Mar 14 10:11:12 2026\n" + readFixture(b, "letter.eml") + "\n"
	doc := []byte(strings.Repeat(letter, 50))
	b.SetBytes(int64(len(doc)))
	b.ReportAllocs()
	for b.Loop() {
		for range MIME(bytes.NewReader(doc), Options{}) {
		}
	}
}

// A repeated reader repeats a text n times.
type repeated struct {
	text string
	rest string
	n    int
}

func (r *repeated) Read(p []byte) (int, error) {
	if r.rest == "" {
		if r.n == 0 {
			return 0, io.EOF
		}
		r.n--
		r.rest = r.text
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}
