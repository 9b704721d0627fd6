package iri

import (
	"fmt"
	"strings"

	"golang.org/x/text/unicode/bidi"
	"golang.org/x/text/unicode/norm"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/uri"
)

// The kinds of findings that [IRI.Inspect] returns.
const (
	// FindingMixedDirection means that a component has characters of both writing directions (RFC
	// 3987, section 4.2, item 1).
	FindingMixedDirection uri.FindingCode = "mixed-direction"
	// FindingRTLEnds means that a component with right-to-left characters does not begin and end
	// with such characters (RFC 3987, section 4.2, item 2).
	FindingRTLEnds uri.FindingCode = "rtl-ends"
	// FindingNotNFC means that the IRI is not in normalization form C (RFC 3987, section 5.3.2.2).
	FindingNotNFC uri.FindingCode = "not-nfc"
	// FindingIDNA means that the host is not a domain name, or has a label that looks like Punycode
	// but is invalid (RFC 3987, section 3.1).
	FindingIDNA uri.FindingCode = "idna"
	// FindingMappedAddress means that the host is a name that becomes an IP address when it is
	// converted to ASCII, as in browsers (UTS 46).
	FindingMappedAddress uri.FindingCode = "mapped-address"
)

// Inspect returns findings about parts of i that RFC 3987 advises against. The offsets of the
// findings refer to the spelling of i. Use [uri.URI.Inspect] for findings about the equivalent URI.
func (i IRI) Inspect() []uri.Finding {
	var found []uri.Finding
	add := func(c uri.FindingCode, off int, format string, args ...any) {
		found = append(found, uri.Finding{Code: c, Severity: uri.SeverityWarning, Offset: off, Message: fmt.Sprintf(format, args...)})
	}
	if !norm.NFC.IsNormalString(i.s) {
		off := len(norm.NFC.String(i.s)) // offset of the first difference
		for n, c := range []byte(norm.NFC.String(i.s)) {
			if n >= len(i.s) || i.s[n] != c {
				off = n
				break
			}
		}
		add(FindingNotNFC, min(off, len(i.s)), "not in Unicode normalization form C (NFC)")
	}
	i.inspectHost(add)
	for _, c := range directed(i) {
		ltr, rtl := directions(c.text)
		switch {
		case ltr && rtl:
			add(FindingMixedDirection, c.off, "%q mixes left-to-right and right-to-left characters", c.text)
		case rtl && !endsRTL(c.text):
			add(FindingRTLEnds, c.off, "%q does not begin and end with right-to-left characters", c.text)
		}
	}
	return found
}

func (i IRI) inspectHost(add func(c uri.FindingCode, off int, format string, args ...any)) {
	data, ok := i.u.Data(uri.ComponentHost)
	if !ok || data == "" || i.HostKind() != uri.HostName {
		return
	}
	host, _ := i.Host()
	at := strings.Index(i.s, "//") + len("//")
	if at += strings.Index(i.s[at:], host); at < 0 {
		at = 0
	}
	domain, err := ASCIIDomain(string(data))
	if err == nil {
		_, err = unicodeDomain(domain)
	}
	if err != nil {
		add(FindingIDNA, at, "the host is not a valid domain name: %v", err)
		return
	}
	if a, ok := uri.ParseNumericHost(domain); ok && !ascii.IsASCII(string(data)) {
		add(FindingMappedAddress, at, "the host %q is mapped to the address %s", host, a)
	}
}

// A piece is a component as RFC 3987, section 4.2, defines it, with its offset.
type piece struct {
	text string
	off  int
}

// directed returns the components of an IRI as RFC 3987, section 4.2, defines them. These are
// segments, labels of the host, the user information, and parts of the query and the fragment.
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

// endsRTL reports whether the first and the last character are right-to-left. It ignores marks.
func endsRTL(s string) bool {
	isRTL := func(r rune) bool { c := classOf(r); return c == bidi.R || c == bidi.AL }
	runes := []rune(s)
	last := len(runes) - 1
	for last > 0 && classOf(runes[last]) == bidi.NSM {
		last--
	}
	return isRTL(runes[0]) && isRTL(runes[last])
}
