package server

import (
	"github.com/nomen-project/nomen/format"
	"github.com/nomen-project/nomen/internal/accept"
)

// takesUnicode reports whether the client takes text in UTF-8: by its
// Accept-Charset field, or where that is absent because it speaks HTTP/1.1 or
// later (RFC 9110, 12.5.2). A client of 1995 takes the charsets of the draft.
func (r *request) takesUnicode() bool {
	if r.charsets == "" {
		return r.version.atLeast11()
	}
	var f accept.Field
	f.ReadTokens(r.charsets)
	return f.Token("utf-8").Q > 0
}

// answerFormat returns f as the client can read it (1995, 3.4.2: Y95-78).
func (r *request) answerFormat(f format.Format) format.Format {
	if r.takesUnicode() {
		return f.InUnicode()
	}
	return f
}

// problemFormat does the same for problems.
func (r *request) problemFormat(f format.ProblemForm) format.ProblemForm {
	if r.takesUnicode() {
		return f.InUnicode()
	}
	return f
}

// varyCharset says that text/urc-0 depends on Accept-Charset.
func varyCharset(p *reply, mediaType string) {
	if mediaType == format.TypeURC {
		p.vary("Accept-Charset")
	}
}
