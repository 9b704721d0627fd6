package pid

import (
	"strings"

	"github.com/nomen-project/nomen/internal/ascii"
)

// FoldARK returns the same spelling for all equivalent spellings of an ARK (draft-kunze-ark, 2.7).
// The NAAN is in lower case, and there are no hyphens and no repeated or trailing structural
// characters.
func FoldARK(naan, name string) string {
	b := append(make([]byte, 0, len("ark:/")+len(naan)+len(name)), "ark:"...)
	for _, c := range []byte(naan) {
		if c != '-' {
			b = append(b, ascii.Lower(c))
		}
	}
	b = append(b, '/')
	start := len(b)
	for _, c := range []byte(name) {
		if c == '-' || isStructural(c) && (len(b) == start || isStructural(b[len(b)-1])) {
			continue
		}
		b = append(b, c)
	}
	for len(b) > start && isStructural(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return string(b)
}

func isStructural(c byte) bool { return c == '/' || c == '.' }

// FoldHandle converts the prefix of a handle, which ends at the first slash, to lower case (RFC
// 3651, 2). It does not change percent-encodings.
func FoldHandle(handle string) string {
	b := []byte(handle)
	for i := 0; i < len(b) && b[i] != '/'; i++ {
		if b[i] == '%' {
			i += 2
			continue
		}
		b[i] = ascii.Lower(b[i])
	}
	return string(b)
}

// FoldInfo converts the namespace of an info identifier, which ends at the first slash, to lower
// case (RFC 4452, 5).
func FoldInfo(id string) string {
	namespace, _, _ := strings.Cut(id, "/")
	return strings.ToLower(namespace) + id[len(namespace):]
}

// FoldDOI converts the letters of a DOI to lower case and decodes unnecessary percent-encodings
// (ISO 26324, 4.2), because a DOI is a string of decoded characters. The percent-encodings must be
// valid. FoldDOI does not allocate if nothing changes.
func FoldDOI(doi string) string { return foldDOI(doi, true) }

// FoldDOIKeepingSlashes is [FoldDOI] without decoding slashes.
func FoldDOIKeepingSlashes(doi string) string { return foldDOI(doi, false) }

func foldDOI(doi string, slashes bool) string {
	const upperHex = "0123456789ABCDEF"
	var b []byte // nil until something changes
	for i := 0; i < len(doi); {
		from := i
		c := ascii.Lower(doi[i])
		piece := [3]byte{c}
		n := 1
		if i++; c == '%' {
			d := ascii.Unhex(doi[i])<<4 | ascii.Unhex(doi[i+1])
			if i += 2; ascii.IsPchar(d) || d == '/' && slashes && from > 0 {
				piece[0] = ascii.Lower(d)
			} else {
				piece[1], piece[2], n = upperHex[d>>4], upperHex[d&15], 3
			}
		}
		if b == nil && string(piece[:n]) != doi[from:i] {
			b = append(make([]byte, 0, len(doi)), doi[:from]...)
		}
		if b != nil {
			b = append(b, piece[:n]...)
		}
	}
	if b == nil {
		return doi
	}
	return string(b)
}
