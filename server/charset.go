package server

import (
	"github.com/nomen-project/nomen/format"
	"github.com/nomen-project/nomen/internal/accept"
)

// takesUnicode reports whether the client accepts UTF-8 (Accept-Charset: RFC 9110, 12.5.2). Without
// that field, clients of HTTP/1.1 and later count as accepting UTF-8. Older clients then get only
// the character sets of the draft of 1995.
func (r *request) takesUnicode() bool {
	if r.charsets == "" {
		return r.version.atLeast11()
	}
	var f accept.Field
	f.ReadTokens(r.charsets)
	return f.Token("utf-8").Q > 0
}

// readable returns a variant of a format that the client can read (1995, 3.4.2: Y95-78).
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
