package extract

import (
	"bytes"
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/nomen-project/nomen/uri"
)

// FuzzText checks that every finding has the spelling that its text gives,
// parses again, follows the previous one, and does not depend on how the text
// is split.
func FuzzText(f *testing.F) {
	for line := range strings.SplitSeq(corpus, "\n") {
		f.Add([]byte(line), uint8(15))
	}
	f.Add([]byte(corpus), uint8(15))
	f.Add([]byte("http://a.example/-\n\n\f\nx\n\nb <urn:a:b\r\n c>"), uint8(0))
	f.Fuzz(func(t *testing.T, text []byte, bits uint8) {
		o := Options{Abbreviated: bits&1 != 0, Mail: bits&2 != 0, IRI: bits&4 != 0, OneLine: bits&8 == 0}
		list := whole(text, o, smallLimit)
		last := int64(0)
		for _, g := range list {
			checkTextFinding(t, text, g, o)
			if g.Start < last || g.End <= g.Start {
				t.Fatalf("%q is at %d to %d, after %d", g.Text, g.Start, g.End, last)
			}
			last = g.End
		}
		for _, count := range []int{textAlone, math.MinInt} {
			if other := wholeAfter(count, text, o, smallLimit); !slices.Equal(other, list) {
				t.Fatalf("after %d findings: got %+v, want %+v", count, other, list)
			}
		}
		split := streamed(t, iotest.OneByteReader(bytes.NewReader(text)), o, smallLimit)
		if len(split) != len(list) {
			t.Fatalf("%d findings in pieces, %d in the whole", len(split), len(list))
		}
		for i := range list {
			if split[i] != list[i] {
				t.Fatalf("finding %d in pieces is %+v, in the whole %+v", i, split[i], list[i])
			}
		}
	})
}

func checkTextFinding(t *testing.T, text []byte, g Finding, o Options) {
	t.Helper()
	if got := string(text[g.Start:g.End]); got != g.Text {
		t.Fatalf("the text is %q, the document has %q there", g.Text, got)
	}
	if strings.ContainsAny(g.Spelling, " \t\r\n\f\v<>\"") || len(g.Text) > smallLimit {
		t.Fatalf("the spelling is %q, the text %q", g.Spelling, g.Text)
	}
	if g.Spelling != g.Text && !isSubsequence(g.Spelling, g.Text) && !isSubsequence(g.Spelling, unescapedJSON(g.Text)) {
		t.Fatalf("the spelling is %q, the text %q", g.Spelling, g.Text)
	}
	if g.Other != "" && (!isSubsequence(g.Other, g.Spelling) || strings.ReplaceAll(g.Other, "-", "") != strings.ReplaceAll(g.Spelling, "-", "")) {
		t.Fatalf("the other spelling of %q is %q", g.Spelling, g.Other)
	}
	if again, err := uri.Parse(g.URI.String()); err != nil || again != g.URI || g.Target != g.URI {
		t.Fatalf("%q is %v, which is parsed as %v, %v", g.Spelling, g.URI, again, err)
	}
	switch g.Kind {
	case URI, URN:
		if g.URI.String() != g.Spelling {
			t.Fatalf("%q is %v", g.Spelling, g.URI)
		}
	case Mail:
		if !o.Mail {
			t.Fatalf("%q was not requested", g.Spelling)
		}
	case Abbreviated:
		if !o.Abbreviated {
			t.Fatalf("%q was not requested", g.Spelling)
		}
	case IRI:
		if !o.IRI {
			t.Fatalf("%q was not requested", g.Spelling)
		}
	default:
		t.Fatalf("%q is of kind %v", g.Spelling, g.Kind)
	}
}

var jsonEscapes = regexp.MustCompile(`(?:\\u[0-9A-Fa-f]{4})+`)

// unescapedJSON replaces the escapes \uXXXX.
func unescapedJSON(text string) string {
	return jsonEscapes.ReplaceAllStringFunc(text, func(escapes string) (decoded string) {
		_ = json.Unmarshal([]byte(`"`+escapes+`"`), &decoded) // the pattern matches only valid escapes
		return decoded
	})
}

// isSubsequence reports whether b contains the octets of a in the same order.
func isSubsequence(a, b string) bool {
	for i := 0; i < len(b) && a != ""; i++ {
		if a[0] == b[i] {
			a = a[1:]
		}
	}
	return a == ""
}
