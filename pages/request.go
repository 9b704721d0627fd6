package pages

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/internal/requestlog"
)

// A request is a request of a user who is signed in.
type request struct {
	*Pages
	edition
	w       http.ResponseWriter
	r       *http.Request
	session *Session         // nil until it has been looked up
	api     *adminapi.Client // client with the rights of the session
}

func (p *Pages) newRequest(w http.ResponseWriter, r *http.Request) *request {
	c := &request{Pages: p, edition: p.edition(r), w: w, r: r}
	c.texts.said = map[string]bool{}
	return c
}

var errNoPage = &adminapi.StatusError{Status: http.StatusNotFound, Detail: "page not found"}

func (c *request) ctx() context.Context { return c.r.Context() }

// page returns a handler that calls handle if the client is signed in, and otherwise redirects the
// client to sign-in. If a client that is not signed in has sent a form, for example after the
// session has expired, the handler shows a page with the input, so that the input is not lost.
func (p *Pages) page(handle func(*request) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := p.newRequest(w, r)
		var err error
		switch c.session, err = p.sessions.Session(r); {
		case err != nil:
			c.fail(err)
		case c.session != nil:
			c.api = p.client(c.session.Actor)
			if err := c.answer(handle); err != nil {
				c.fail(err)
			}
		case r.Method == http.MethodGet || r.Method == http.MethodHead:
			c.see(signInPath + "?next=" + url.QueryEscape(r.URL.RequestURI()))
		default:
			c.keep()
		}
	})
}

// answer parses the form and calls handle.
func (c *request) answer(handle func(*request) error) error {
	if err := c.r.ParseForm(); err != nil {
		return formError(err)
	}
	for _, values := range c.r.Form {
		if !utf8.ValidString(strings.Join(values, "")) { // the API would replace invalid bytes
			return &adminapi.RequestError{Message: "invalid form: is not UTF-8"}
		}
	}
	return c.once(handle)
}

func formError(err error) error {
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return &adminapi.StatusError{Status: http.StatusRequestEntityTooLarge, Detail: "the form is too large"}
	}
	return &adminapi.RequestError{Message: "invalid form: " + err.Error()}
}

// IsLocal reports whether next is the path of one of these pages. It is then safe to redirect to
// next after sign-in.
func IsLocal(next string) bool {
	u, err := url.ParseRequestURI(next)
	return err == nil && u.Host == "" && u.Scheme == "" && strings.HasPrefix(u.EscapedPath(), Root) &&
		!strings.Contains(u.Path, "/../") && !strings.HasSuffix(u.Path, "/..") && !strings.ContainsAny(next, "\\\r\n\t")
}

// see redirects to a page with status 303, so that the browser requests it with GET.
func (c *request) see(target string) {
	c.w.Header().Set("Location", target)
	c.w.WriteHeader(http.StatusSeeOther)
}

func (c *request) fail(err error) {
	var waits *adminapi.WaitingError
	if errors.As(err, &waits) { // the page of the job shows that a second person must approve it
		c.see(jobPath(waits.Job.ID))
		return
	}
	p := adminapi.NewProblem(err)
	if p.Status >= http.StatusInternalServerError {
		c.log.Error("page failed", "target", requestlog.Printable(c.r.RequestURI), "err", err)
	}
	c.refuse(p.Status, errorKey(p), p.Detail)
}

func errorKey(p *adminapi.Problem) string {
	switch p.Status {
	case http.StatusForbidden:
		return "error.forbidden"
	case http.StatusNotFound:
		return "error.not-found"
	case http.StatusTooManyRequests:
		return "error.rate"
	case http.StatusServiceUnavailable, http.StatusInsufficientStorage:
		return "error.unavailable"
	}
	if p.Status < http.StatusInternalServerError {
		return "error.request"
	}
	return "error.failed"
}

type errorView struct {
	frame
	Message string
	Detail  string // "" if Message suffices
}

func (c *request) refuse(status int, key, detail string) {
	v := &errorView{Message: c.texts.text(key), Detail: detail}
	v.Title = c.texts.text("error.title")
	c.show(status, "error", v)
}

// A keptView is a page with the input of a form that was sent after the session had ended.
type keptView struct {
	frame
	Action string
	SignIn string
	Fields []keptField
}

type keptField struct{ Name, Value string }

// keep shows a page with the input of a form, so that the user can send it again after signing in.
func (c *request) keep() {
	if err := c.r.ParseForm(); err != nil {
		c.fail(formError(err))
		return
	}
	fields, err := c.keptUpload()
	if err != nil {
		c.fail(err)
		return
	}
	v := &keptView{Action: c.r.URL.RequestURI(), SignIn: signInPath + "?next=" + url.QueryEscape(Root)}
	v.Title = c.texts.text("kept.title")
	for _, key := range sortedKeys(fields) {
		for _, value := range fields[key] {
			v.Fields = append(v.Fields, keptField{key, value})
		}
	}
	c.show(http.StatusUnauthorized, "kept", v)
}
