package handle

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/dialect"
	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/internal/retryafter"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// A code is a response code of the Handle System (RFC 3652, section 2.2.2.3).
type code int

// Response codes that this server sends.
const (
	codeSuccess       code = 1
	codeError         code = 2
	codeBusy          code = 3
	codeProtocol      code = 4
	codeNotSupported  code = 5
	codeNotFound      code = 100
	codeExists        code = 101
	codeInvalidHandle code = 102
	codeNoValues      code = 200
	codeValueExists   code = 201
	codeInvalidValue  code = 202
	codeNotHere       code = 301
	codeNoPermission  code = 401
	codeAuthNeeded    code = 402
	codeAuthFailed    code = 403
)

// status returns the HTTP status for a code. The status of a GET request may differ.
func (c code) status() int {
	switch c {
	case codeSuccess:
		return http.StatusOK
	case 302, 303: // referrals
		return http.StatusMultipleChoices
	case codeNotFound:
		return http.StatusNotFound
	case codeExists, codeValueExists:
		return http.StatusConflict
	case codeProtocol, codeInvalidHandle, codeNoValues, codeInvalidValue, codeNotHere:
		return http.StatusBadRequest
	case codeNotSupported:
		return http.StatusNotImplemented
	case codeBusy, 305: // backup
		return http.StatusServiceUnavailable
	case codeAuthNeeded:
		return http.StatusUnauthorized
	case 400, 404, codeNoPermission, codeAuthFailed: // invalid administrator or secret
		return http.StatusForbidden
	}
	return http.StatusInternalServerError
}

type codeFailure struct {
	code    code
	message string // "" for none
}

func (e *codeFailure) Error() string { return fmt.Sprintf("response code %d: %s", e.code, e.message) }

func failed(c code, format string, args ...any) error {
	return &codeFailure{c, fmt.Sprintf(format, args...)}
}

func failureOf(err error) *codeFailure {
	var (
		own      *codeFailure
		denied   *registrar.DeniedError
		refused  *registrar.RefusalError
		state    *store.StateError
		limit    *store.LimitError
		conflict *store.ConflictError
		rate     *adminapi.RateError
		attempts *dialect.AttemptsError
		tooLong  *http.MaxBytesError
	)
	switch {
	case errors.As(err, &own):
		return own
	case errors.Is(err, adminapi.ErrUnauthorized):
		return &codeFailure{codeAuthFailed, "Authentication failed"}
	case errors.As(err, &denied):
		return &codeFailure{codeNoPermission, denied.Error()}
	case errors.As(err, &refused):
		return &codeFailure{codeInvalidValue, refused.Error()}
	case errors.As(err, &state), errors.As(err, &limit):
		return &codeFailure{codeInvalidValue, strings.TrimPrefix(err.Error(), "store: ")}
	case errors.As(err, &tooLong):
		return &codeFailure{codeProtocol, fmt.Sprintf("request body longer than %d bytes", tooLong.Limit)}
	case errors.As(err, &conflict):
		return &codeFailure{codeBusy, "the handle was modified concurrently; send the request again"}
	case errors.As(err, &rate), errors.As(err, &attempts), store.IsAway(err):
		return &codeFailure{codeBusy, strings.TrimPrefix(err.Error(), "store: ")}
	case errors.Is(err, nomen.ErrUpstream), errors.Is(err, nomen.ErrLoop):
		return &codeFailure{codeBusy, "the resolver of the handle does not answer"}
	case errors.Is(err, store.ErrReadOnly):
		return &codeFailure{codeNotSupported, "changes are not accepted: the server is read-only"}
	case errors.Is(err, store.ErrNotFound):
		return &codeFailure{codeNotFound, ""}
	}
	return nil
}

func (q *request) fail(err error) {
	f := failureOf(err)
	if f == nil {
		q.log.Error("handle: request failed", "target", ascii.Head(q.call.Target, 200), "err", err)
		f = &codeFailure{codeError, "internal error"}
	}
	q.retryAfter(err)
	if f.code == codeAuthNeeded {
		q.challenge(f)
		return
	}
	q.answer(f.code.status(), f.code, f.message)
}

func (q *request) retryAfter(err error) {
	var rate *adminapi.RateError
	var attempts *dialect.AttemptsError
	var away *store.AwayError
	switch {
	case errors.As(err, &attempts):
		q.w.Header().Set("Retry-After", attempts.RetryAfter())
	case errors.As(err, &rate):
		q.w.Header().Set("Retry-After", retryafter.Format(rate.After))
	case errors.As(err, &away):
		q.w.Header().Set("Retry-After", away.RetryAfter())
	}
}

func (q *request) answer(status int, c code, message string) {
	q.send(status, struct {
		Code    code   `json:"responseCode"`
		Message string `json:"message,omitempty"`
		Handle  string `json:"handle,omitempty"`
	}{c, message, q.handle})
}

func (q *request) succeed(status int) { q.answer(status, codeSuccess, "") }

// send sends a response as JSON, or as JavaScript if the request names a callback function.
func (q *request) send(status int, v any) {
	body, err := encode(v, q.query.flag("pretty", false))
	if err != nil {
		q.log.Error("handle: cannot encode a response", "err", err)
		status, body = http.StatusInternalServerError, []byte(`{"responseCode":2}`)
	}
	h := q.w.Header()
	h.Set("Content-Type", "application/json;charset=UTF-8")
	if q.query.has("callback") {
		h.Set("Content-Type", "application/javascript;charset=UTF-8")
		body = fmt.Appendf(nil, "%s(%s);", callbackName(q.query.get("callback")), body)
	}
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	q.w.WriteHeader(status)
	if q.r.Method != http.MethodHead {
		_, _ = q.w.Write(body) // after an error, the client is gone
	}
}

func encode(v any, pretty bool) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if pretty {
		e.SetIndent("", "  ")
	}
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// callbackName replaces the characters that the name of a JavaScript function cannot contain.
func callbackName(s string) string {
	var b strings.Builder
	for i, c := range s {
		if c >= 0xA0 || c < 0x80 && (ascii.IsLetter(byte(c)) || c == '_' || c == '$' || i > 0 && ascii.IsDigit(byte(c))) {
			b.WriteRune(c)
			continue
		}
		b.WriteByte('_')
	}
	return b.String()
}
