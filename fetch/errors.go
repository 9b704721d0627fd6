package fetch

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/nomen-project/nomen/fetch/plan"
)

// A RefusedError means that a request was not sent, because the request could harm the user or
// other people.
type RefusedError struct {
	URL string // without its password
	Why string
	Err error // the cause, such as a [*guard.AddressError], or nil
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("fetch: %s: refused: %s", e.URL, e.Why)
}

func (e *RefusedError) Unwrap() error { return e.Err }

// A StatusError means that a server answered with an error. If the answer means that the resource
// does not exist, the error also matches [plan.ErrNotAvailable].
type StatusError struct {
	URL      string // without its password
	Protocol string // "HTTP", "FTP", "NNTP", "Gopher"
	Code     int    // reply code of the protocol, or 0
	Reason   string // message from the server, without control characters
	Missing  bool   // the server reported that the resource does not exist
}

func (e *StatusError) Error() string {
	what := e.Protocol
	if e.Code != 0 {
		what += fmt.Sprintf(" status %d", e.Code)
	}
	return strings.TrimSpace(fmt.Sprintf("fetch: %s: %s %s", e.URL, what, e.Reason))
}

// Is reports whether target is [plan.ErrNotAvailable] and e means that the resource does not exist.
func (e *StatusError) Is(target error) bool { return target == plan.ErrNotAvailable && e.Missing }

// No reports whether the server has definitely rejected the request. Repeating the request would
// then have the same result.
func (e *StatusError) No() bool {
	switch e.Code {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return e.Missing
	}
	return e.Missing || e.Protocol == "HTTP" && e.Code >= http.StatusBadRequest && e.Code < http.StatusInternalServerError
}

// A SizeError means that a resource is larger than the limit. It can be returned before any data
// has been read, if the server has sent the size.
type SizeError struct {
	URL   string
	Limit int64 // in bytes
	Why   string
}

func (e *SizeError) Error() string {
	return fmt.Sprintf("fetch: %s: larger than %d bytes%s", e.URL, e.Limit, e.Why)
}

// A RedirectError means that redirects form a loop, or are too many.
type RedirectError struct {
	Chain []string // the URLs in order; the client did not request the last URL
	Loop  bool     // the client had already requested the last URL
}

func (e *RedirectError) Error() string {
	what := fmt.Sprintf("more than %d redirections", max(len(e.Chain)-2, 0))
	if e.Loop {
		what = "redirection in a loop"
	}
	return "fetch: " + what + ": " + strings.Join(e.Chain, " -> ")
}

// A FormatError means that a response violates its protocol.
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
