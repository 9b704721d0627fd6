package handle

import (
	"encoding/base64"
	"errors"
	"net/http"
	"strings"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/dialect"
	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/internal/hdl"
	"github.com/nomen-project/nomen/registrar"
)

// maxAuthorization is the maximum length of an Authorization field, in bytes.
const maxAuthorization = 4 << 10

// authenticate sets the actor of the request. It returns an error for invalid credentials. It
// ignores credentials that other machines can read. It also ignores credentials in JSONP requests:
// a page of another site can cause a browser to send such a request with stored credentials, and
// can read the response.
func (q *request) authenticate() error {
	if !q.call.Private || q.query.has("callback") {
		return nil
	}
	scheme, rest := q.scheme()
	var err error
	switch {
	case len(rest) > maxAuthorization:
		return adminapi.ErrUnknownToken
	case ascii.EqualFold(scheme, "Basic"):
		q.actor, err = q.basic(rest)
		q.known = err == nil
	case ascii.EqualFold(scheme, "Bearer"):
		q.actor, err = q.identities.Password(q.r.Context(), q.call.Client, "", rest)
		q.known = err == nil
	case ascii.EqualFold(scheme, "Handle"):
		a, ok := parseAnswer(rest)
		if !ok {
			return q.refuse("Error parsing Authorization: Handle")
		}
		return q.signIn(a)
	case scheme == "":
		return q.byCertificate()
	}
	return err
}

func (q *request) scheme() (scheme, rest string) {
	scheme, rest, _ = strings.Cut(q.r.Header.Get("Authorization"), " ")
	return scheme, strings.TrimSpace(rest)
}

// signIn authenticates the client by the scheme Handle. The client proves its identity by an answer
// to a challenge, by its session, or by its certificate.
func (q *request) signIn(a answer) error {
	id := a[paramSession]
	switch {
	case id == "" && a.answers():
		return q.refuse("Missing sessionId in Authorization: Handle")
	case id == "":
		return q.byCertificate()
	case a.answers():
		return q.byAnswer(a)
	}
	s, ok := q.sessions.get(id, q.call.Client)
	switch {
	case !ok:
		return q.refuse("Unknown session in Authorization: Handle")
	case s.identity == nil:
		return q.byCertificate()
	}
	return q.actAs(s.identity)
}

// refuse returns the error for credentials with a problem. The response contains a challenge, which
// the client must answer.
func (q *request) refuse(problem string) error {
	q.problem = problem
	return failed(codeAuthNeeded, "")
}

func (q *request) actAs(i *dialect.Identity) (err error) {
	q.actor, err = q.identities.Actor(q.r.Context(), i)
	q.known = err == nil
	return err
}

func (q *request) byCertificate() error {
	i, err := q.certified()
	if err != nil || i == nil {
		return err
	}
	return q.actAs(i)
}

func (q *request) byAnswer(a answer) error {
	if problem := a.problem(); problem != "" {
		return q.refuse(problem)
	}
	nonce, i, ok := q.sessions.take(a[paramSession], q.call.Client, a.digest())
	switch {
	case i != nil:
		return q.actAs(i)
	case !ok:
		return q.refuse("Unknown session in Authorization: Handle")
	}
	i = q.identity(hdl.Unescape(a[paramID]))
	var err error
	q.actor, err = q.identities.Attempt(q.call.Client, func() (registrar.Actor, error) {
		if !a.proves(i, nonce) {
			return registrar.Actor{}, adminapi.ErrUnknownToken
		}
		return q.identities.Actor(q.r.Context(), i)
	})
	if q.known = err == nil; q.known {
		q.sessions.admit(a[paramSession], q.call.Client, i, a.digest())
	}
	if errors.Is(err, adminapi.ErrUnauthorized) {
		return q.refuse("Identity not verified")
	}
	return err
}

// identity returns the identity with an ID, which may have any of the supported forms, or nil.
func (q *request) identity(id string) *dialect.Identity {
	if i := q.identities.Identity(id); i != nil {
		return i
	}
	return q.identities.Identity(canonicalID(id))
}

// basic returns the actor for credentials of the scheme Basic. In these credentials, the user name
// INDEX:HANDLE is percent-encoded, because it contains a colon.
func (q *request) basic(credentials string) (registrar.Actor, error) {
	text, err := base64.StdEncoding.DecodeString(credentials)
	if err != nil {
		return registrar.Actor{}, adminapi.ErrUnknownToken
	}
	user, password, ok := strings.Cut(string(text), ":")
	if !ok {
		return registrar.Actor{}, adminapi.ErrUnknownToken
	}
	id := canonicalID(hdl.Unescape(user))
	if i := q.identity(hdl.Unescape(user)); i != nil {
		id = i.ID
	}
	return q.identities.Password(q.r.Context(), q.call.Client, id, password)
}

// canonicalID returns the user name of a client in the form INDEX:HANDLE. The default index is 0.
func canonicalID(id string) string {
	index, handle, ok := strings.Cut(id, ":")
	if !ok {
		return "0:" + id
	}
	index = strings.TrimLeft(index, "0")
	if index == "" {
		index = "0"
	}
	return index + ":" + handle
}

func (q *request) needClient() error {
	if q.known {
		return nil
	}
	return failed(codeAuthNeeded, "")
}

// challenge sends a response that requests credentials. If other machines can read the request, the
// status is 403 instead, so that the client does not send its password.
func (q *request) challenge(f *codeFailure) {
	if !q.call.Private {
		q.answer(http.StatusForbidden, f.code, "send credentials only over HTTPS")
		return
	}
	scheme, rest := q.scheme()
	if q.r.Header.Get("X-Requested-With") != "XMLHttpRequest" && (scheme == "" || ascii.EqualFold(scheme, "Basic")) {
		q.w.Header().Add("WWW-Authenticate", `Basic realm="handle"`)
	}
	if q.identities.Keyed() {
		a, _ := parseAnswer(rest)
		s, ok := q.sessions.get(a[paramSession], q.call.Client)
		if !ok {
			s = q.sessions.begin(q.call.Client)
		}
		q.w.Header().Add("WWW-Authenticate", s.challenge(q.problem))
		q.w.Header().Set("Cache-Control", "no-store")
	}
	q.answer(http.StatusUnauthorized, f.code, f.message)
}

// challenge returns the challenge of a session. The parameter problem is the reason for which the
// last answer was rejected, or "".
func (s *session) challenge(problem string) string {
	text := `Handle sessionId="` + s.id + `", nonce="` + base64.StdEncoding.EncodeToString(s.nonce) + `"`
	if problem != "" {
		text += `, error="` + problem + `"`
	}
	return text
}
