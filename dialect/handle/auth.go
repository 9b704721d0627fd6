package handle

import (
	"encoding/base64"
	"net/http"
	"strings"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/registrar"
)

// maxAuthorization is the maximum length of an Authorization field, in bytes.
const maxAuthorization = 4 << 10

// authenticate finds out who the client is. It returns an error if the client has sent credentials
// that are not valid. A request that other machines can read counts as one without credentials. So
// does one for JSONP: a page of another site can send it with the credentials that a browser keeps,
// and read the response.
func (q *request) authenticate() error {
	if !q.call.Private || q.query.has("callback") {
		return nil
	}
	field := q.r.Header.Get("Authorization")
	scheme, rest, _ := strings.Cut(field, " ")
	var err error
	switch {
	case len(field) > maxAuthorization:
		return adminapi.ErrUnknownToken
	case ascii.EqualFold(scheme, "Basic"):
		q.actor, err = q.basic(strings.TrimSpace(rest))
		q.known = err == nil
	case ascii.EqualFold(scheme, "Bearer"):
		q.actor, err = q.identities.Password(q.r.Context(), q.call.Client, "", strings.TrimSpace(rest))
		q.known = err == nil
	case field == "", ascii.EqualFold(scheme, "Handle"): // such as Handle clientCert="true"
		q.actor, q.known, err = q.certified()
	}
	return err
}

// basic returns the actor for the credentials of an Authorization field of the scheme Basic. The
// user name INDEX:HANDLE is percent-encoded, because it contains a colon.
func (q *request) basic(credentials string) (registrar.Actor, error) {
	text, err := base64.StdEncoding.DecodeString(credentials)
	if err != nil {
		return registrar.Actor{}, adminapi.ErrUnknownToken
	}
	user, password, ok := strings.Cut(string(text), ":")
	if !ok {
		return registrar.Actor{}, adminapi.ErrUnknownToken
	}
	return q.identities.Password(q.r.Context(), q.call.Client, canonicalID(unescape(user)), password)
}

// canonicalID returns the form INDEX:HANDLE of the user name of a client. A name without an index
// has the index 0.
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

// needClient returns an error if the client is not authenticated.
func (q *request) needClient() error {
	if q.known {
		return nil
	}
	return failed(codeAuthNeeded, "")
}

// challenge asks the client for credentials. A client whose request other machines can read gets
// status 403, so that it does not send any.
func (q *request) challenge(f *codeFailure) {
	if !q.call.Private {
		q.answer(http.StatusForbidden, f.code, "send credentials only over HTTPS")
		return
	}
	if q.r.Header.Get("X-Requested-With") != "XMLHttpRequest" {
		q.w.Header().Add("WWW-Authenticate", `Basic realm="handle"`)
	}
	q.answer(http.StatusUnauthorized, f.code, f.message)
}
