package extract

import (
	"bytes"
	"fmt"
	"io"
	"iter"
	"strings"
	"testing"
)

// A hostile document is constructed to cost more than its length warrants.
type hostile struct {
	name string
	read func(io.Reader, Options) iter.Seq2[Finding, error]
	make func(n int) string // of about n octets
}

// repeat returns a function that makes documents of repeated text between a
// beginning and an end.
func repeat(begin, s, end string) func(int) string {
	return func(n int) string { return begin + strings.Repeat(s, n/len(s)) + end }
}

// numbered returns a function that makes documents of text that differs each
// time.
func numbered(begin, format, end string) func(int) string {
	return func(n int) string {
		var b strings.Builder
		b.WriteString(begin)
		for i := 0; b.Len() < n; i++ {
			fmt.Fprintf(&b, format, i)
		}
		return b.String() + end
	}
}

// nested returns a function that makes messages of nested multiparts.
func nested(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n", i, i)
	}
	return b.String()
}

func hostiles() []hostile {
	return []hostile{
		{"less-than signs", HTML, repeat("", "<", "")},
		{"tags without end", HTML, repeat("", "<a ", "")},
		{"attributes", HTML, repeat("<a ", "href=x ", ">")},
		{"attributes of many names", HTML, numbered("<a ", "data-%d=':' ", ">")},
		{"long value", HTML, repeat("<a href=\"", "x", "\">")},
		{"value without end", HTML, repeat("<a href=\"", "x ", "")},
		{"ampersands", HTML, repeat("", "&", "")},
		{"references", HTML, repeat("", "&a", "")},
		{"references in a value", HTML, repeat("<a href='", "&amp", "'>")},
		{"long reference", HTML, repeat("&#", "0", ";")},
		{"comments", HTML, repeat("", "<!--", "")},
		{"comment of dashes", HTML, repeat("<!--", "-", "")},
		{"comment of ends", HTML, repeat("<!--", " >", "")},
		{"end tags in a script", HTML, repeat("<script>", "</scrip", "")},
		{"scripts in a script", HTML, repeat("<script>", "<!--<script>", "")},
		{"dashes in a script", HTML, repeat("<script><!--", "-", "")},
		{"title", HTML, repeat("<title>", "</titl&", "")},
		{"url functions", HTML, repeat("<style>", "url(", "")},
		{"strings in a style", HTML, repeat("<style>@import", "'\\", "")},
		{"comments in a style", HTML, repeat("<style>", "/*", "")},
		{"image sets", HTML, repeat("<style>", "image-set((", "")},
		{"srcset", HTML, repeat("<img srcset='", ",", "'>")},
		{"srcset of parentheses", HTML, repeat("<img srcset='", "a (,", "'>")},
		{"braces of JSON", HTML, repeat("<script type=application/ld+json>", "{\"", "</script>")},
		{"strings of JSON", HTML, repeat("<script type=application/ld+json>", "\"\\u", "</script>")},
		{"bases of JSON", HTML, repeat("<script type=application/ld+json>", "\"@base\":\"x/\",", "</script>")},
		{"bases", HTML, repeat("", "<base href=x>", "")},
		{"references without a base", HTML, repeat("", "<a href=x>", "")},
		{"documents in documents", HTML, repeat("", "<iframe srcdoc='<a href=x><iframe srcdoc=&quot;&lt;iframe&quot;>'>", "")},
		{"line breaks", HTML, repeat("", "<br>", "")},
		{"soft hyphens", HTML, repeat("http://a", "&shy;", "")},
		{"stretches", HTML, repeat("", "http://a<b>", "")},
		{"long identifier", HTML, repeat("http://", "a", "")},

		{"multiparts in multiparts", MIME, nested},
		{"boundaries", MIME, repeat("Content-Type: multipart/mixed; boundary=b\n\n", "--b\n", "")},
		{"endless header", MIME, numbered("", "X-%d: y\n", "")},
		{"endless field", MIME, repeat("X: ", "http://a\n ", "")},
		{"endless line", MIME, repeat("X: ", "x", "")},
		{"encoded words", MIME, repeat("X: ", "=?a?q?", "")},
		{"more encoded words", MIME, repeat("X: ", "=?us-ascii?b?aA==?= ", "")},
		{"links", MIME, repeat("Link: ", "<", "")},
		{"messages", MIME, repeat("", "From a 10:10:10\n\n", "")},
		{"quoted messages", MIME, repeat("From a 10:10:10\n\n", ">>>", "From ")},
		{"equals signs", MIME, repeat("Content-Transfer-Encoding: quoted-printable\n\n", "=", "")},
		{"soft line breaks", MIME, repeat("Content-Transfer-Encoding: quoted-printable\n\n", "=\n", "")},
		{"no base64", MIME, repeat("Content-Transfer-Encoding: base64\n\n", "\n", "")},
		{"a letter of base64", MIME, repeat("Content-Transfer-Encoding: base64\n\n", "a!!!\n", "")},
		{"flowed", MIME, repeat("Content-Type: text/plain; format=flowed\n\n", " \n", "")},
		{"flowed quotes", MIME, repeat("Content-Type: text/plain; format=flowed\n\n", "> \n>> \n", "")},
		{"escape sequences", MIME, repeat("Content-Type: text/plain; charset=iso-2022-jp\n\n", "\x1b$B\x1b(B", "")},
		{"half a character", MIME, repeat("Content-Type: text/plain; charset=utf-16\n\n", "\xd8\x00", "")},
	}
}

// Reading terminates for any input and holds no more than the limits allow.
func TestHostileDocuments(t *testing.T) {
	for _, h := range hostiles() {
		t.Run(h.name, func(t *testing.T) {
			doc := h.make(1 << 20 / scale())
			for f, err := range h.read(strings.NewReader(doc), Options{}) {
				if err == nil {
					checkFinding(t, []byte(doc), f)
				}
			}
		})
	}
}

// BenchmarkHostileDocuments shows that the time per octet does not grow with
// the length: the rates for one document are about the same.
func BenchmarkHostileDocuments(b *testing.B) {
	for _, h := range hostiles() {
		for _, n := range []int{1 << 20, 8 << 20} {
			b.Run(fmt.Sprintf("%s/%dMiB", h.name, n>>20), func(b *testing.B) {
				doc := []byte(h.make(n))
				b.SetBytes(int64(len(doc)))
				for b.Loop() {
					for range h.read(bytes.NewReader(doc), Options{}) {
					}
				}
			})
		}
	}
}
