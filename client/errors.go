package client

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
)

// A RouteError means that no resolver was found for a name.
type RouteError struct {
	Name   string // as in the question
	Reason string // such as `unknown SchemeID "isbn"` (1995, 2.1)
}

// NoRoute returns e.Reason.
func (e *RouteError) NoRoute() string { return e.Reason }

func (e *RouteError) Error() string {
	s := fmt.Sprintf("client: %q: no resolver found: %s", e.Name, e.Reason)
	if m, ok := name.Interpret(e.Name); ok {
		s += "; did you mean " + m.Spelling + "?"
	}
	return s
}

// An Attempt is a failed attempt at an address.
type Attempt struct {
	Addr netip.AddrPort
	Err  error
}

// An UnreachableError means that no address of a resolver answered.
type UnreachableError struct {
	Host  string // "host:port"
	Tried []Attempt
}

func (e *UnreachableError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "client: no answer from %s", e.Host)
	for i, a := range e.Tried {
		sep := ", "
		if i == 0 {
			sep = ": "
		}
		why := reasonOf(a.Err)
		if b.WriteString(sep); !a.Addr.IsValid() || a.Addr.String() == e.Host { // over HTTP the transport tries the addresses itself, so the address is unknown
			b.WriteString(strings.TrimPrefix(why.Error(), "client: "))
			continue
		}
		fmt.Fprintf(&b, "%s (%v)", a.Addr, why)
	}
	return b.String()
}

// reasonOf removes the address and the word "connect" from a network error, because the error
// message already has both.
func reasonOf(err error) error {
	if e, ok := err.(*net.OpError); ok && e.Err != nil {
		err = e.Err
	}
	if e, ok := err.(*os.SyscallError); ok && e.Syscall == "connect" {
		err = e.Err
	}
	return err
}

// Unwrap returns the errors of all attempts.
func (e *UnreachableError) Unwrap() []error {
	errs := make([]error, len(e.Tried))
	for i, a := range e.Tried {
		errs[i] = a.Err
	}
	return errs
}

// A StatusError means that a response has a status that is not an answer about the name, such as
// 503.
type StatusError struct {
	Code       int
	Reason     string        // reason phrase, without control characters
	RetryAfter time.Duration // time that the server asked to wait, or 0
}

func (e *StatusError) Error() string {
	return strings.TrimSpace(fmt.Sprintf("client: status %d %s", e.Code, e.Reason))
}

// Is reports whether target is [nomen.ErrLoop] and the status is 508 (Loop Detected).
func (e *StatusError) Is(target error) bool {
	return e.Code == http.StatusLoopDetected && target == nomen.ErrLoop
}

// A WaysError means that there were several ways to resolve a name and all of them failed.
type WaysError struct {
	Name string // as in the question
	Errs []error
}

func (e *WaysError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "client: %q: all %d ways to resolve it failed", e.Name, len(e.Errs))
	for _, err := range e.Errs {
		b.WriteString("; " + strings.TrimPrefix(err.Error(), "client: "))
	}
	return b.String()
}

// Unwrap returns the errors of the resolvers that could not be reached, which might have known the
// name. If all resolvers were reached, Unwrap returns all errors.
func (e *WaysError) Unwrap() []error {
	failed := slices.DeleteFunc(slices.Clone(e.Errs), func(err error) bool { return !OnFailure(err) })
	if len(failed) > 0 {
		return failed
	}
	return e.Errs
}

// A TimeError means that the question was about the state of a name at another time, but the answer
// is not.
type TimeError struct {
	Name string
	At   time.Time
}

func (e *TimeError) Error() string {
	return fmt.Sprintf("client: %q: the resolver does not answer as of %s", e.Name, e.At.UTC().Format(time.RFC3339))
}

// A FormatError means that the client does not understand the format of a result (1995, 3.1.2:
// Y95-35). The error contains the body.
type FormatError struct {
	Type string // media type, or ""
	Body []byte // as received
	Err  error  // for a known format: the error of parsing it
}

func (e *FormatError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("client: invalid %s: %v", e.Type, e.Err)
	}
	return fmt.Sprintf("client: unsupported format: %d bytes of type %q", len(e.Body), e.Type)
}

func (e *FormatError) Unwrap() error { return e.Err }

func isUnread(err error) bool {
	var e *FormatError
	return errors.As(err, &e) && e.Err == nil
}

// A SizeError means that a response is larger than the limit.
type SizeError struct {
	What  string // "head" or "body"
	Limit int64  // in bytes
}

func (e *SizeError) Error() string {
	return fmt.Sprintf("client: response %s larger than %d bytes", e.What, e.Limit)
}

// A RedirectError means that redirects form a loop, or that there are too many redirects.
type RedirectError struct {
	Chain []string // the names and URLs in order, and the next target
	Loop  bool     // the next target is already in the chain
}

func (e *RedirectError) Error() string {
	what := fmt.Sprintf("more than %d redirections", len(e.Chain)-2)
	if e.Loop {
		what = "redirection in a loop"
	}
	return "client: " + what + ": " + strings.Join(e.Chain, " -> ")
}
