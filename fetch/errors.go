package fetch

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/nomen-project/nomen/scheme"
)

// A RefusedError is returned for what is not done by default, because it could
// harm whoever asks, or be used by a stranger against others.
type RefusedError struct {
	URL string // without a password
	Why string
	Err error // the cause, such as a [*guard.AddressError]; nil for none
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("fetch: %s: refused: %s", e.URL, e.Why)
}

func (e *RefusedError) Unwrap() error { return e.Err }

// A StatusError is an answer of a server that is no resource. It is a
// [scheme.ErrNotAvailable] if the server says that there is none.
type StatusError struct {
	URL      string // without a password
	Protocol string // "HTTP", "FTP", "NNTP", "Gopher"
	Code     int    // of the protocol; 0 where it has none
	Reason   string // the server's words, without control characters
	Missing  bool   // there is no such resource
}

func (e *StatusError) Error() string {
	what := e.Protocol
	if e.Code != 0 {
		what += fmt.Sprintf(" status %d", e.Code)
	}
	return strings.TrimSpace(fmt.Sprintf("fetch: %s: %s %s", e.URL, what, e.Reason))
}

// Is makes errors.Is(err, scheme.ErrNotAvailable) true if there is no such
// resource.
func (e *StatusError) Is(target error) bool { return target == scheme.ErrNotAvailable && e.Missing }

// No reports whether the server has understood and said no, so that asking again
// is in vain.
func (e *StatusError) No() bool {
	switch e.Code {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return e.Missing
	}
	return e.Missing || e.Protocol == "HTTP" && e.Code >= http.StatusBadRequest && e.Code < http.StatusInternalServerError
}

// A SizeError is returned for a resource that is larger than allowed, as soon as
// that is known.
type SizeError struct {
	URL   string
	Limit int64 // bytes
	Why   string
}

func (e *SizeError) Error() string {
	return fmt.Sprintf("fetch: %s: larger than %d bytes%s", e.URL, e.Limit, e.Why)
}

// A RedirectError is returned when locators lead on and on, or in a circle.
type RedirectError struct {
	Chain []string // in order; the last was not asked
	Loop  bool     // the last was asked before
}

func (e *RedirectError) Error() string {
	what := fmt.Sprintf("more than %d redirections", max(len(e.Chain)-2, 0))
	if e.Loop {
		what = "redirection in a loop"
	}
	return "fetch: " + what + ": " + strings.Join(e.Chain, " -> ")
}

// A FormatError is an answer that does not keep to the protocol.
type FormatError struct {
	URL      string
	Protocol string
	Message  string
	Err      error // the cause, if any
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("fetch: %s: no answer of %s: %s", e.URL, e.Protocol, e.Message)
}

func (e *FormatError) Unwrap() error { return e.Err }
