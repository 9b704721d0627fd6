package server

import (
	_ "embed"
	"io"
	"net/http"

	"github.com/nomen-project/nomen/site"
)

//go:embed privacy.html
var privacyPage string

const privacyPath = "/-/privacy"

type privacyView struct {
	*site.Page
	Counts, Failed bool   // resolutions and failed lookups are counted
	Log            string // "no", or how the log shows addresses; see [Options].LogAddresses
}

// privacy serves the page about what the server keeps about people, which depends on its options.
func (s *Server) privacy(r *request) *reply {
	page, err := site.Parse("privacy", privacyPage, nil)
	if err != nil {
		return s.failure(r, err)
	}
	p := newReply(http.StatusOK)
	p.add("Cache-Control", "no-cache")
	return s.withHTML(r, p, s.pagePolicy, func(w io.Writer) error {
		v := privacyView{Page: s.sitePage(r), Counts: s.counts != nil, Failed: s.misses != nil, Log: s.logAddresses}
		if s.access == nil {
			v.Log = "no"
		}
		return page.Execute(w, v)
	})
}
