package server

import (
	_ "embed"
	"io"
	"net/http"

	"github.com/nomen-project/nomen/site"
)

//go:embed checker.html
var checkerPage string

// CheckerPath is the path of the page that explains the link checks of this server. The User-Agent
// of these checks contains the URL of this page, so that the administrators of other hosts can find
// out who sends the requests and how to stop them.
const CheckerPath = "/-/checker"

// LinkChecks says how a server identifies itself when it checks links.
type LinkChecks struct {
	Agent   string // value of User-Agent
	Contact string // mail address; "" for none
}

// A checkerView is the data for the template of the page at [CheckerPath].
type checkerView struct {
	*site.Page
	Checks *LinkChecks // nil if the server checks no links
}

func (s *Server) checker(r *request) *reply {
	page, err := site.Parse("checker", checkerPage, nil)
	if err != nil {
		return s.failure(r, err)
	}
	p := newReply(http.StatusOK)
	p.add("Cache-Control", "no-cache")
	return s.withHTML(r, p, s.pagePolicy, func(w io.Writer) error {
		return page.Execute(w, checkerView{s.sitePage(r), s.linkChecks})
	})
}
