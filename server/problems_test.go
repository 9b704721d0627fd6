package server

import (
	"errors"
	"strings"
	"testing"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/format"
	"github.com/nomen-project/nomen/store"
)

// The types of problems are paths of pages on both listeners.
func TestProblemPages(t *testing.T) {
	s, _ := newTestServer(t, nil)
	l := listen(t, s)
	var types []string
	for k := nomen.Malformed; k <= nomen.Denied; k++ {
		types = append(types, format.NewProblem(&nomen.Error{Kind: k}, 0).Type)
	}
	for _, err := range []error{store.ErrNotFound, store.ErrClosed, adminapi.ErrUnauthorized, &store.ConflictError{}, errors.New("a failure")} {
		types = append(types, adminapi.NewProblem(err).Type)
	}
	for _, path := range types {
		text := ask(s, path)
		if text.status != 200 || !strings.HasPrefix(text.get("Content-Type"), format.TypeText) || len(text.body) < 60 {
			t.Errorf("%s: %d %s", path, text.status, text.body)
		}
		page := ask(s, path, accepting("text/html,*/*;q=0.8"))
		if page.status != 200 || !strings.Contains(string(page.body), "<title>") || page.get("Content-Security-Policy") == "" {
			t.Errorf("%s as a page: %d %s", path, page.status, page.body)
		}
		got := exchange(t, l.Admin, "GET "+path+" HTTP/1.0\r\nHost: localhost\r\n\r\n")
		if status, _, body := cutAnswer(got); status != "HTTP/1.0 200 OK" || body != string(text.body) {
			t.Errorf("%s at the admin listener: %s", path, got)
		}
	}
	for _, path := range []string{"/-/problems/", "/-/problems/none", "/-/problems/%3Cscript%3E"} {
		if p := ask(s, path); p.status != 404 {
			t.Errorf("%s: %d %s", path, p.status, p.body)
		}
	}
}
