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

// A RouteError is returned for a name for which no way to a resolver is known.
type RouteError struct {
	Name   string // as asked
	Reason string // such as `unknown SchemeID "isbn"` (1995, 2.1)
}

func (e *RouteError) Error() string {
	s := fmt.Sprintf("client: %q: %s: no resolver is known for this name; give one, as with --via HOST:PORT or --via URL", e.Name, e.Reason)
	if m, ok := name.Interpret(e.Name); ok {
		s += "; did you mean " + m.Spelling + "?"
	}
	return s
}

// An Attempt is one address that was tried in vain.
type Attempt struct {
	Addr netip.AddrPort
	Err  error
}

// An UnreachableError is returned when no address of a resolver gave an answer.
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
		if b.WriteString(sep); !a.Addr.IsValid() || a.Addr.String() == e.Host { // by HTTP the addresses are the transport's business
			b.WriteString(strings.TrimPrefix(why.Error(), "client: "))
			continue
		}
		fmt.Fprintf(&b, "%s (%v)", a.Addr, why)
	}
	return b.String()
}

// reasonOf returns an error without the addresses, which are told, and without that
// it was on connecting.
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

// A StatusError is an answer by which a server tells that it could not answer.
type StatusError struct {
	Code       int
	Reason     string        // the server's words, without control characters
	RetryAfter time.Duration // after which it wants to be asked again; 0 if it did not say
}

func (e *StatusError) Error() string {
	return strings.TrimSpace(fmt.Sprintf("client: status %d %s", e.Code, e.Reason))
}

// Is makes a server that says so one with [nomen.ErrLoop].
func (e *StatusError) Is(target error) bool {
	return e.Code == http.StatusLoopDetected && target == nomen.ErrLoop
}

// A WaysError is returned when several ways lead to a name, and on none of them
// came an answer.
type WaysError struct {
	Name string // as asked
	Errs []error
}

func (e *WaysError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "client: %q: none of %d ways led to an answer", e.Name, len(e.Errs))
	for _, err := range e.Errs {
		b.WriteString("; " + strings.TrimPrefix(err.Error(), "client: "))
	}
	return b.String()
}

// Unwrap returns the errors of the ways that failed: whoever could not be asked
// might have known the name. If none did, it returns all.
func (e *WaysError) Unwrap() []error {
	failed := slices.DeleteFunc(slices.Clone(e.Errs), func(err error) bool { return !OnFailure(err) })
	if len(failed) > 0 {
		return failed
	}
	return e.Errs
}

// A TimeError is returned when a resolver was asked as of another time, and does
// not say that its answer is.
type TimeError struct {
	Name string
	At   time.Time
}

func (e *TimeError) Error() string {
	return fmt.Sprintf("client: %q: the resolver does not answer as of %s", e.Name, e.At.UTC().Format(time.RFC3339))
}

// A FormatError is returned for a result in a format that the client does not
// understand (1995, 3.1.2: Y95-35). What came is kept.
type FormatError struct {
	Type string // media type, "" if the server told none
	Body []byte // raw
	Err  error  // why a known format could not be read; nil for an unknown one
}

func (e *FormatError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("client: result of type %q: %v", e.Type, e.Err)
	}
	return fmt.Sprintf("client: unsupported format: %d bytes of type %q", len(e.Body), e.Type)
}

func (e *FormatError) Unwrap() error { return e.Err }

// isUnread reports whether a result came in a format that tells nothing to the
// client.
func isUnread(err error) bool {
	var e *FormatError
	return errors.As(err, &e) && e.Err == nil
}

// A SizeError is returned for an answer that is larger than allowed.
type SizeError struct {
	What  string // "head", "body"
	Limit int64  // bytes
}

func (e *SizeError) Error() string {
	return fmt.Sprintf("client: the %s of the answer is larger than %d bytes", e.What, e.Limit)
}

// A RedirectError is returned when redirections come back to a name or URL, or
// do not end.
type RedirectError struct {
	Chain []string // what was asked, in order, and what came next
	Loop  bool     // the last was asked before
}

func (e *RedirectError) Error() string {
	what := fmt.Sprintf("more than %d redirections", len(e.Chain)-2)
	if e.Loop {
		what = "redirection in a loop"
	}
	return "client: " + what + ": " + strings.Join(e.Chain, " -> ")
}
