package fetch

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/nomen-project/nomen/fetch/plan"
)

// A RefusedError reports a request that is rejected by default because it could harm the user,
// or could be used to attack others.
type RefusedError struct {
	URL string // without a password
	Why string
	Err error // the cause, such as a [*guard.AddressError], or nil
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("fetch: %s: refused: %s", e.URL, e.Why)
}

func (e *RefusedError) Unwrap() error { return e.Err }

// A StatusError reports a server's answer that is not a resource. It is a
// [plan.ErrNotAvailable] if the server says that the resource does not exist.
type StatusError struct {
	URL      string // without a password
	Protocol string // "HTTP", "FTP", "NNTP", "Gopher"
	Code     int    // reply code of the protocol; 0 if it has none
	Reason   string // text from the server, without control characters
	Missing  bool   // the server says that the resource does not exist
}

func (e *StatusError) Error() string {
	what := e.Protocol
	if e.Code != 0 {
		what += fmt.Sprintf(" status %d", e.Code)
	}
	return strings.TrimSpace(fmt.Sprintf("fetch: %s: %s %s", e.URL, what, e.Reason))
}

// Is makes errors.Is(err, plan.ErrNotAvailable) true if the resource does not exist.
func (e *StatusError) Is(target error) bool { return target == plan.ErrNotAvailable && e.Missing }

// No reports whether the server understood the request and rejected it. Repeating such a request is
// pointless.
func (e *StatusError) No() bool {
	switch e.Code {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return e.Missing
	}
	return e.Missing || e.Protocol == "HTTP" && e.Code >= http.StatusBadRequest && e.Code < http.StatusInternalServerError
}

// A SizeError reports a resource larger than the limit. It is returned as soon as the size is
// known to exceed the limit.
type SizeError struct {
	URL   string
	Limit int64 // bytes
	Why   string
}

func (e *SizeError) Error() string {
	return fmt.Sprintf("fetch: %s: larger than %d bytes%s", e.URL, e.Limit, e.Why)
}

// A RedirectError reports a redirection loop or too many redirections.
type RedirectError struct {
	Chain []string // the locators in order; the last one was not requested
	Loop  bool     // the last locator had been requested before
}

func (e *RedirectError) Error() string {
	what := fmt.Sprintf("more than %d redirections", max(len(e.Chain)-2, 0))
	if e.Loop {
		what = "redirection in a loop"
	}
	return "fetch: " + what + ": " + strings.Join(e.Chain, " -> ")
}

// A FormatError reports an answer that violates the protocol.
type FormatError struct {
	URL      string
	Protocol string
	Message  string
	Err      error // the cause, or nil
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("fetch: %s: invalid %s response: %s", e.URL, e.Protocol, e.Message)
}

func (e *FormatError) Unwrap() error { return e.Err }
