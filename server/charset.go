package server

import (
	"github.com/nomen-project/nomen/format"
	"github.com/nomen-project/nomen/internal/accept"
)

// takesUnicode reports whether the client accepts UTF-8 (Accept-Charset: RFC 9110, 12.5.2). A
// client that does not send this field is assumed to accept UTF-8 if it uses HTTP/1.1 or later. An
// older client then gets only the character sets of the draft of 1995.
func (r *request) takesUnicode() bool {
	if r.charsets == "" {
		return r.version.atLeast11()
	}
	var f accept.Field
	f.ReadTokens(r.charsets)
	return f.Token("utf-8").Q > 0
}

// readable returns a variant of a format that the client can read (draft of 1995, 3.4.2: Y95-78).
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
