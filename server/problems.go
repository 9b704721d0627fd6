package server

import (
	"io"
	"net/http"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/format"
)

// problemPage tells a person what a type of problem means: the page to which the
// type of problem details leads (RFC 9457, 3.1.1).
func problemPage(accept, kind string) *reply {
	title, meaning, ok := explain(kind)
	if !ok {
		return newReply(http.StatusNotFound).withText("There is no such problem.")
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

// explain returns what a type of problem is called and what it means, for those
// of names and those of the admin API.
func explain(kind string) (title, meaning string, ok bool) {
	for k := nomen.Malformed; k <= nomen.Denied; k++ {
		if k.String() == kind {
			return format.NewProblem(&nomen.Error{Kind: k}, 0).Title, meaningOf(k), true
		}
	}
	return adminapi.Explain(kind)
}

// meaningOf tells what to do about a kind of error.
func meaningOf(k nomen.Kind) string {
	switch k {
	case nomen.Malformed:
		return "What was asked for is not a name by the rules of its scheme. The answer tells the place of the first character that cannot be there, and the rule that it breaks."
	case nomen.Unknown:
		return "Nobody has told this server of the name. Perhaps it is misspelled, or another server resolves it."
	case nomen.NoResult:
		return "The name is known here, but there is nothing for the service that was asked for, such as no location to lead to. Ask for a description with ?s=I2C."
	case nomen.Gone:
		return "The name was given to something, and was retired. It will never be given to anything else. The answer tells why, and which names have taken its place."
	case nomen.Denied:
		return "Something is known about the name, and this server may not tell it, or not to you."
	}
	return ""
}
