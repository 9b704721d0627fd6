package server

import (
	"github.com/nomen-project/nomen/format"
	"github.com/nomen-project/nomen/internal/accept"
)

// takesUnicode reports whether the client accepts UTF-8, by its Accept-Charset field (RFC 9110,
// 12.5.2). Without this field, only clients of HTTP/1.1 or later are assumed to accept UTF-8, and
// all others only the character sets of the draft of 1995.
func (r *request) takesUnicode() bool {
	if r.charsets == "" {
		return r.version.atLeast11()
	}
	var f accept.Field
	f.ReadTokens(r.charsets)
	return f.Token("utf-8").Q > 0
}

// readable returns the variant of a format that the client can read (1995, 3.4.2: Y95-78).
func readable[F interface{ InUnicode() F }](r *request, f F) F {
	if r.takesUnicode() {
		return f.InUnicode()
	}
	return f
}

func varyCharset(p *reply, mediaType string) {
	if mediaType == format.TypeURC {
		p.vary("Accept-Charset")
	}
}
