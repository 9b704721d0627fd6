package extract

import (
	"bytes"

	"github.com/nomen-project/nomen/uri"
)

// scan calls found for each identifier in b, in the order of their place, until
// it returns false. Offsets are into b.
func scan(b []byte, _ Options, found func(Finding) bool) {
	for i := 0; i < len(b); {
		colon := bytes.Index(b[i:], []byte("://"))
		if colon < 0 {
			return
		}
		start, end := i+colon, i+colon+3
		for start > i && isAlnum(b[start-1]) {
			start--
		}
		for end < len(b) && (isAlnum(b[end]) || bytes.IndexByte([]byte("-._~%:/?#@!$&+=*;,"), b[end]) >= 0) {
			end++
		}
		i = end
		text := string(bytes.TrimRight(b[start:end], ".,;:!?"))
		u, err := uri.Parse(text)
		if err != nil {
			continue
		}
		f := Finding{Kind: URI, Text: text, Start: int64(start), End: int64(start + len(text)), Spelling: text, URI: u, Target: u}
		if !found(f) {
			return
		}
	}
}

func isAlnum(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}
