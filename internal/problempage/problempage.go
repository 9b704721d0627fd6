// Package problempage serves the pages that describe problem types (RFC 9457), and chooses the
// format of a problem for a client.
package problempage

import (
	"bytes"
	"net/http"
	"strings"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/format"
	"github.com/nomen-project/nomen/internal/accept"
)

// Page returns the page about a problem type, which is at the URI of the type (RFC 9457, 3.1.1).
// The parameter field is the Accept field. If Page returns HTML, the parameter html describes the
// surrounding page.
func Page(field, kind string, html format.Page) (status int, contentType string, body []byte) {
	const plain = "text/plain; charset=utf-8"
	k, ok := find(kind)
	if !ok {
		k, ok = adminapi.KindOf(kind)
	}
	if !ok {
		return http.StatusNotFound, plain, []byte("Problem type not found.\r\n")
	}
	meaning := k.Cause + " " + k.Remedy
	if Form(field).MediaType == format.TypeHTML {
		var b bytes.Buffer
		if format.WriteProblemHTML(&b, &format.Problem{Title: k.Title, Detail: meaning, On: html}) == nil {
			return http.StatusOK, "text/html; charset=utf-8", b.Bytes()
		}
	}
	return http.StatusOK, plain, []byte(strings.Join([]string{k.Title + ".", "", meaning, ""}, "\r\n"))
}

// PrefersHTML reports whether an Accept field contains text/html, with at least the weight of
// text/plain. Terminal browsers such as lynx send such a field.
func PrefersHTML(field string) bool {
	if !accept.Mentions(field, "html") {
		return false
	}
	var f accept.Field
	f.ReadMedia(field)
	page := f.Media(format.TypeHTML, "", false)
	return page.Named() && page.Q > 0 && page.Q >= f.Media(format.TypeText, "", false).Q
}

// Form returns the format of a problem for an Accept field, as [format.ProblemFormat] does, but
// prefers HTML to plain text if both have the same weight.
func Form(field string) format.ProblemForm {
	f := format.ProblemFormat(field)
	if f.MediaType == format.TypeText && PrefersHTML(field) {
		return format.ProblemFormat(format.TypeHTML)
	}
	return f
}
