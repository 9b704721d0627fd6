package pages

import (
	"net/http"

	"github.com/nomen-project/nomen/internal/shown"
	"github.com/nomen-project/nomen/signin"
)

type signInView struct {
	frame
	V signin.View
}

// ShowSignIn sends a page about signing in. It is used in [signin.Options].
func (p *Pages) ShowSignIn(w http.ResponseWriter, r *http.Request, status int, v signin.View) {
	secure(w.Header())
	c, view := p.newRequest(w, r), &signInView{V: v}
	switch v.Kind {
	case signin.Choose:
		view.Title = c.texts.text("signin.title")
	case signin.LinkPage:
		view.Title = c.texts.text("signin.link-title")
	case signin.Listing:
		view.Title, view.User = c.texts.text("signin.sessions-title"), shown.Inline(v.Person)
	case signin.Unknown, signin.Disabled:
		view.Title = c.texts.text("signin.unknown-title")
	case signin.SignedOut:
		view.Title = c.texts.text("signin.out-title")
	default:
		view.Title = c.texts.text("signin.failed-title")
	}
	c.show(status, "signin", view)
}
