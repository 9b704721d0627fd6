package iri

import (
	"fmt"
	"strings"

	"golang.org/x/text/unicode/bidi"
	"golang.org/x/text/unicode/norm"

	"github.com/nomen-project/nomen/uri"
)

// The findings of this package, beside those of package uri.
const (
	// FindingMixedDirection: a component has characters of both directions
	// (4.2, 1).
	FindingMixedDirection uri.FindingCode = "mixed-direction"
	// FindingRTLEnds: a component with right-to-left characters does not begin
	// and end with such (4.2, 2).
	FindingRTLEnds uri.FindingCode = "rtl-ends"
	// FindingNotNFC: the characters are not in normalization form C (5.3.2.2).
	FindingNotNFC uri.FindingCode = "not-nfc"
	// FindingIDNA: the host is no domain name (3.1).
	FindingIDNA uri.FindingCode = "idna"
)

// Inspect returns what RFC 3987 advises against and i does, with offsets into
// the spelling. What is to be said about the URI that i maps to is for
// [uri.URI.Inspect].
func (i IRI) Inspect() []uri.Finding {
	var found []uri.Finding
	add := func(c uri.FindingCode, off int, format string, args ...any) {
		found = append(found, uri.Finding{Code: c, Severity: uri.SeverityWarning, Offset: off, Message: fmt.Sprintf(format, args...)})
	}
	if !norm.NFC.IsNormalString(i.s) {
		off := len(norm.NFC.String(i.s)) // where the form differs first
		for n, c := range []byte(norm.NFC.String(i.s)) {
			if n >= len(i.s) || i.s[n] != c {
				off = n
				break
			}
		}
		add(FindingNotNFC, min(off, len(i.s)), "the characters are not in normalization form C")
	}
	if _, err := i.ASCIIURI(); err != nil {
		add(FindingIDNA, strings.Index(i.s, "//")+2, "the host is no domain name: %v", err)
	}
	for _, c := range directed(i) {
		ltr, rtl := directions(c.text)
		switch {
		case ltr && rtl:
			add(FindingMixedDirection, c.off, "%q mixes directions of writing", c.text)
		case rtl && !endsRTL(c.text):
			add(FindingRTLEnds, c.off, "%q does not begin and end with right-to-left characters", c.text)
		}
	}
	return found
}

// A piece is a component in the sense of 4.2, and where it begins.
type piece struct {
	text string
	off  int
}

// directed returns the components of 4.2: segments, labels of the host, the
// user information, the query and the fragment.
func directed(i IRI) []piece {
	var out []piece
	start := 0
	for n := 0; n <= len(i.s); n++ {
		if n < len(i.s) && strings.IndexByte("/?#@:.", i.s[n]) < 0 {
			continue
		}
		if n > start {
			out = append(out, piece{i.s[start:n], start})
		}
		start = n + 1
	}
	return out
}

// directions reports which strong directions the characters of s have.
func directions(s string) (ltr, rtl bool) {
	for _, r := range s {
		switch classOf(r) {
		case bidi.L:
			ltr = true
		case bidi.R, bidi.AL:
			rtl = true
		}
	}
	return ltr, rtl
}

func classOf(r rune) bidi.Class {
	p, _ := bidi.LookupRune(r)
	return p.Class()
}

// endsRTL reports whether the first and the last character, apart from marks,
// are right-to-left.
func endsRTL(s string) bool {
	isRTL := func(r rune) bool { c := classOf(r); return c == bidi.R || c == bidi.AL }
	runes := []rune(s)
	last := len(runes) - 1
	for last > 0 && classOf(runes[last]) == bidi.NSM {
		last--
	}
	return isRTL(runes[0]) && isRTL(runes[last])
}
