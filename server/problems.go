package server

import (
	"io"
	"net/http"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/format"
)

// problemPage serves the page to which the type of problem details refers (RFC 9457,
// 3.1.1).
func problemPage(accept, kind string) *reply {
	title, meaning, ok := explain(kind)
	if !ok {
		return newReply(http.StatusNotFound).withText("Problem type not found.")
	}
	p := newReply(http.StatusOK)
	p.add("Vary", "Accept")
	p.add("Cache-Control", "max-age=86400")
	if problemForm(accept).MediaType == format.TypeHTML {
		body, err := written(func(w io.Writer) error {
			return format.WriteProblemHTML(w, &format.Problem{Title: title, Detail: meaning})
		})
		if err == nil {
			return p.withBody("text/html; charset=utf-8", body)
		}
	}
	return p.withText(title+".", "", meaning)
}

// explain returns the title and meaning of a type of problem, of names or of the admin
// API.
func explain(kind string) (title, meaning string, ok bool) {
	for k := nomen.Malformed; k <= nomen.Denied; k++ {
		if k.String() == kind {
			return format.NewProblem(&nomen.Error{Kind: k}, 0).Title, meaningOf(k), true
		}
	}
	return adminapi.Explain(kind)
}

// meaningOf explains a kind of error and says what to do.
func meaningOf(k nomen.Kind) string {
	switch k {
	case nomen.Malformed:
		return "The name is not valid according to the rules of its scheme. The response contains the offset of the first invalid character and the rule that it violates."
	case nomen.Unknown:
		return "The name is not registered on this server. Check the spelling; another server may resolve it."
	case nomen.NoResult:
		return "The name is registered, but has nothing to offer for the requested service, such as no location to redirect to. Request a description with ?s=I2C."
	case nomen.Gone:
		return "The name was assigned and has been retired. It will never be assigned again. The response says why, and which names replace it."
	case nomen.Denied:
		return "Access to this name is denied, for everyone or for you."
	}
	return ""
}
