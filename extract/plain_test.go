package extract

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// TestPlain checks that the fast path gives the same results as the general
// one, in every context, and that it handles nearly all of a list.
func TestPlain(t *testing.T) {
	signs := []string{
		"", " ", "\n", "\r\n", "\t", "\f", "<", ">", "\"", "'", "(", ")", "[", "]", "{", "}", "|", "\\", "\\\n", "^", "`", ".", ",", ";", ":", "!", "?",
		"-", "_", "~", "*", "/", "#", "%", "%4", "%41", "&", "&gt;", "=", "@", "$", "+", "é", "日", "\u2013", "\x00", "\xff", "1", "x", "'s", "URL:", ":80", ":x",
		":99999", "..", ".-", "://", "http:", "urn:", "\n ", "-\n", "/\n", "\n\n", "\n> ", "\nhttp://b.example/", "\nx", "\n/x", "\nx=1", "=\nx",
		strings.Repeat("a", shortDraft), strings.Repeat("a/", longDraft/2),
	}
	check := func(text string, options ...Options) {
		for _, o := range options {
			plain, other := wholeAfter(textAlone, []byte(text), o, smallLimit), wholeAfter(math.MinInt, []byte(text), o, smallLimit)
			if !slices.Equal(plain, other) {
				t.Fatalf("%+q: %+v, want %+v", text, plain, other)
			}
		}
	}
	for _, before := range signs {
		for _, after := range signs {
			check(before+"http://a.example/b"+after, Options{}, everything)
			check(before+"http://a"+after+"b c", Options{})
			check("x"+before+"http://a/?"+after+" y", everything)
			check("http://a"+before+"/#"+after+"\nfoo", Options{})
			check(before+after+"://a/ b", Options{})
		}
	}
	for _, text := range append(strings.Split(corpus, "\n"), corpus) {
		check(text, Options{}, Options{IRI: true}, Options{OneLine: true}, everything)
	}

	s := newScanner(Options{}, MaxLength)
	s.b, s.final = nil, true
	for i := range 100 {
		s.b = fmt.Appendf(s.b, "https://www%d.example.com/%x/index.html?a=%d\n", i, i*i, i)
	}
	n, thought := 0, 0
	for s.next() {
		n++
		if !s.hit.uri.IsValid() {
			thought++
		}
		s.finding()
	}
	if n != 100 || thought > textAlone {
		t.Errorf("%d found, %d of them not by the fast path; want 100 and %d", n, thought, textAlone)
	}
}
