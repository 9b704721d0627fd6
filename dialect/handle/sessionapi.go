package handle

import (
	"encoding/base64"
	"errors"
	"io"
	"mime"
	"net/http"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/dialect"
	"github.com/nomen-project/nomen/internal/ascii"
)

const sessionsPath = "/api/sessions"

// maxSessionBody is the maximum length of the body of a request about a session, in bytes.
const maxSessionBody = 16 << 10

// A shownSession is a session in the JSON of a response.
type shownSession struct {
	ID            string `json:"sessionId,omitempty"`
	Nonce         string `json:"nonce,omitempty"`
	Authenticated bool   `json:"authenticated,omitempty"`
	Identity      string `json:"id,omitempty"`
	Error         string `json:"error,omitempty"`
}

func shownSessionOf(s *session) shownSession {
	out := shownSession{ID: s.id, Nonce: base64.StdEncoding.EncodeToString(s.nonce)}
	if s.identity != nil {
		out.Authenticated, out.Identity = true, s.identity.ID
	}
	return out
}

func (q *request) sessionRequest(rest string) {
	q.w.Header().Set("Cache-Control", "no-store")
	a, ok := q.answerOf()
	switch {
	case !q.call.Private:
		q.send(http.StatusForbidden, shownSession{Error: "sessions need HTTPS"})
	case !q.identities.Keyed():
		q.send(http.StatusForbidden, shownSession{Error: "no client can authenticate in a session: the server knows no secret or public key"})
	case !ok:
		q.send(http.StatusBadRequest, shownSession{Error: "Error parsing Authorization: Handle"})
	case (rest == "" || rest == "/") && q.r.Method == http.MethodPost:
		q.beginSession(a)
	case rest == "" || rest == "/":
		q.wrongMethod("POST, TRACE, OPTIONS")
	case rest == "/this":
		q.thisSession(a)
	default:
		q.send(http.StatusForbidden, shownSession{Error: "only /api/sessions/this is a session"})
	}
}

func (q *request) wrongMethod(allowed string) {
	q.w.Header().Set("Allow", allowed)
	q.send(http.StatusMethodNotAllowed, shownSession{Error: "Unknown method " + q.r.Method})
}

// answerOf returns the parameters of the scheme Handle in the Authorization field. In a request
// about a session, they may also be in the body.
func (q *request) answerOf() (a answer, ok bool) {
	a = answer{}
	if scheme, rest := q.scheme(); ascii.EqualFold(scheme, "Handle") {
		if a, ok = parseAnswer(rest); !ok {
			return nil, false
		}
	}
	if kind, _, _ := mime.ParseMediaType(q.r.Header.Get("Content-Type")); kind != "application/json" {
		return a, true
	}
	body, err := io.ReadAll(io.LimitReader(q.r.Body, maxSessionBody+1))
	return a, err == nil && len(body) <= maxSessionBody && (len(body) == 0 || a.addJSON(body))
}

// beginSession starts a session. If the client has the certificate of an identity, the session is
// authenticated.
func (q *request) beginSession(a answer) {
	if a[paramSession] != "" {
		q.send(http.StatusBadRequest, shownSession{Error: "there is a session already"})
		return
	}
	s := q.sessions.begin(q.call.Client)
	if a[paramCert] == "true" {
		if i, err := q.certified(); err == nil && i != nil {
			s = q.admit(s.id, i)
		}
	}
	q.w.Header().Set("Location", sessionsPath+"/this")
	q.send(http.StatusCreated, shownSessionOf(&s))
}

func (q *request) admit(id string, i *dialect.Identity) session {
	q.sessions.admit(id, q.call.Client, i, answer{paramCnonce: string(newNonce())}.digest())
	s, _ := q.sessions.get(id, q.call.Client)
	return s
}

func (q *request) thisSession(a answer) {
	s, ok := q.sessions.get(a[paramSession], q.call.Client)
	switch {
	case !ok:
		q.send(http.StatusForbidden, shownSession{Error: "no such session"})
	case q.r.Method == http.MethodGet || q.r.Method == http.MethodHead:
		q.send(http.StatusOK, shownSessionOf(&s))
	case q.r.Method == http.MethodPut:
		q.authenticateSession(a)
	case q.r.Method == http.MethodDelete:
		q.sessions.end(s.id, q.call.Client)
		q.w.WriteHeader(http.StatusNoContent)
	default:
		q.wrongMethod("GET, HEAD, PUT, DELETE, OPTIONS")
	}
}

func (q *request) authenticateSession(a answer) {
	err := q.signIn(a)
	if q.known && a[paramCert] == "true" && !a.answers() {
		if i, certErr := q.certified(); certErr == nil && i != nil {
			q.admit(a[paramSession], i)
		}
	}
	s, ok := q.sessions.get(a[paramSession], q.call.Client)
	var attempts *dialect.AttemptsError
	switch {
	case errors.As(err, &attempts), err != nil && !isRefusal(err):
		q.fail(err)
	case !ok: // the session has ended
		q.send(http.StatusForbidden, shownSession{Error: "no such session"})
	case err != nil || s.identity == nil:
		out := shownSessionOf(&s)
		out.Authenticated, out.Identity, out.Error = false, "", q.problem
		if out.Error == "" {
			out.Error = missingFields
		}
		q.send(http.StatusUnauthorized, out)
	default:
		q.send(http.StatusOK, shownSessionOf(&s))
	}
}

// isRefusal reports whether an error means that the client could not prove its identity.
func isRefusal(err error) bool {
	f := failureOf(err)
	return errors.Is(err, adminapi.ErrUnauthorized) || f != nil && f.code == codeAuthNeeded
}
