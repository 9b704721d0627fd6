package adminapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/nomen-project/nomen/bulk"
	"github.com/nomen-project/nomen/internal/retryafter"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

// A Problem describes why a request failed, as problem details (RFC 9457). The fields below Detail
// that are present depend on the type.
type Problem struct {
	Type   string `json:"type"` // a URI reference that ends in the kind
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`

	Name     string  `json:"name,omitempty"`     // the name, or the prefix of an authority
	Field    string  `json:"field,omitempty"`    // such as "locations[2].url"
	Offset   int     `json:"offset,omitempty"`   // in bytes, in the value of the field, the name or the body
	Rule     string  `json:"rule,omitempty"`     // the violated rule
	Sheet    string  `json:"sheet,omitempty"`    // sheet of a workbook in the body, in which Line is the row and Column the number of the column
	Line     int     `json:"line,omitempty"`     // of the body, from 1
	Column   int     `json:"column,omitempty"`   // in bytes, from 1
	Expected *uint64 `json:"expected,omitempty"` // expected revision
	Current  *uint64 `json:"current,omitempty"`  // current revision
	Who      string  `json:"who,omitempty"`      // bearer of the denied token
	Role     string  `json:"role,omitempty"`     // role of the token
	Need     string  `json:"need,omitempty"`     // required role
	Size     int     `json:"size,omitempty"`
	Limit    int     `json:"limit,omitempty"`

	RetryAfter int `json:"retry_after,omitempty"` // in seconds; 0 if unknown. Also in the header field Retry-After

	Errors []string `json:"errors,omitempty"` // errors of a configuration
}

// ProblemPath is the path to which the kind of a problem is appended for its type.
const ProblemPath = "/-/problems/"

// Errors of the API itself.
var (
	// ErrUnauthorized means that no token was sent.
	ErrUnauthorized = errors.New("adminapi: missing token: send Authorization: Bearer TOKEN")

	// ErrUnknownToken means that the token is unknown or revoked. The error does not distinguish
	// the two cases. It wraps ErrUnauthorized.
	ErrUnknownToken error = tokenError("adminapi: invalid token: unknown or revoked")

	// ErrExpiredToken means that the token has expired. It wraps ErrUnauthorized.
	ErrExpiredToken error = tokenError("adminapi: expired token")

	// ErrUnavailable means that the server is shutting down.
	ErrUnavailable = errors.New("adminapi: the server is shutting down")
)

type tokenError string

func (e tokenError) Error() string { return string(e) }

func (tokenError) Unwrap() error { return ErrUnauthorized }

// A RequestError reports an invalid request.
type RequestError struct {
	Line    int    // line of the body, from 1; 0 if unknown
	Column  int    // in bytes, from 1
	Field   string // field of the body or parameter of the query; "" if unknown
	Message string
}

func (e *RequestError) Error() string {
	s := "adminapi: "
	if e.Line > 0 {
		s += fmt.Sprintf("line %d, column %d: ", e.Line, e.Column)
	}
	if e.Field != "" {
		s += e.Field + ": "
	}
	return s + e.Message
}

// A StatusError reports a problem that no other error represents.
type StatusError struct {
	Kind   string // such as [KindHost]; "" if the status explains the problem
	Status int
	Detail string
}

// Error returns the status and the detail. It leaves the status out if the detail explains a
// failure of the server.
func (e *StatusError) Error() string {
	if e.Kind == "" && e.Status == http.StatusInternalServerError && e.Detail != "" {
		return "adminapi: " + e.Detail
	}
	return fmt.Sprintf("adminapi: %d %s: %s", e.Status, http.StatusText(e.Status), e.Detail)
}

func (e *StatusError) problem() *Problem {
	if e.Kind == "" {
		return &Problem{Type: "about:blank", Title: http.StatusText(e.Status), Status: e.Status, Detail: e.Detail}
	}
	p := newProblem(e.Kind, e.Detail)
	p.Status = e.Status
	return p
}

// A JobsError reports that a job cannot start because too many jobs are running.
type JobsError struct {
	Status int // 429 if this token has too many jobs, 503 if all tokens together have too many
	Detail string
	After  time.Duration // when to try again; 0 if unknown
}

func (e *JobsError) Error() string { return "adminapi: " + e.Detail }

// A DetachedError reports that the response of a job ended while the job was still running.
type DetachedError struct {
	Job string // ID of the job
	Err error  // what ended the response
}

func (e *DetachedError) Error() string {
	return fmt.Sprintf("%v; job %s continues unless the server has stopped", e.Err, e.Job)
}

func (e *DetachedError) Unwrap() error { return e.Err }

// A FullError reports that the disk of the server has no free space. It wraps [syscall.ENOSPC].
type FullError struct{ Detail string }

func (e *FullError) Error() string { return e.Detail }

// Unwrap returns ENOSPC.
func (e *FullError) Unwrap() error { return syscall.ENOSPC }

// A PreconditionError reports that the revision in a header field of a request is not the current
// revision. A conflict with a revision in the body or the query has a different status.
type PreconditionError struct{ Conflict *store.ConflictError }

func (e *PreconditionError) Error() string { return e.Conflict.Error() }

func (e *PreconditionError) Unwrap() error { return e.Conflict }

func newProblem(kind, detail string) *Problem {
	k, _ := KindOf(kind)
	return &Problem{Type: ProblemPath + kind, Title: k.Title, Status: k.Statuses[0], Detail: detail}
}

// NewProblem returns the problem for err. The problem does not disclose the cause of a failure of
// the server.
func NewProblem(err error) *Problem {
	for _, f := range forms() {
		if p := f.problem(err); p != nil {
			return p
		}
	}
	return newProblem(kindFailure, "the cause is in the server's log")
}

// Cell returns the position in a workbook, such as "Names!B7", or "" if the file is not a workbook.
func (p *Problem) Cell() string {
	return bulk.Refusal{Sheet: p.Sheet, Line: p.Line, Column: p.Column}.Cell()
}

func (p *Problem) err() error {
	kind, _ := strings.CutPrefix(p.Type, ProblemPath)
	for _, f := range forms() {
		if f.kind == kind && f.err != nil {
			return f.err(p)
		}
	}
	if _, ok := KindOf(kind); !ok {
		kind = ""
	}
	return &StatusError{Kind: kind, Status: p.Status, Detail: p.Detail}
}

// A form converts errors of one kind to problems and back.
type form struct {
	kind    string
	problem func(error) *Problem // returns nil if the error does not have this form
	err     func(*Problem) error // converts the problem back; nil if another form of the same kind does so
}

// ofType returns the form for errors of a type. The function fill sets the members of the problem;
// it may replace the detail, which is the text of the error by default. The function err converts
// the problem back to an error.
func ofType[E error](kind string, fill func(*Problem, E), err func(*Problem) error) form {
	return form{kind, func(err error) *Problem {
		var e E
		if !errors.As(err, &e) {
			return nil
		}
		p := newProblem(kind, err.Error())
		fill(p, e)
		return p
	}, err}
}

func ofError(kind string, target error, detail func(error) string) form {
	return form{kind, func(err error) *Problem {
		if !errors.Is(err, target) {
			return nil
		}
		return newProblem(kind, detail(err))
	}, func(*Problem) error { return target }}
}

// forms are the forms of all errors. The first form that matches an error applies.
var forms = sync.OnceValue(func() []form {
	whole, unavailable := error.Error, func(error) string { return ErrUnavailable.Error() }
	return []form{
		ofType(kindBroken, func(p *Problem, e *bulk.BrokenError) { p.Detail, p.Line = e.Err.Error(), e.Line },
			func(p *Problem) error { return &bulk.BrokenError{Line: p.Line, Err: errors.New(p.Detail)} }),
		ofType(kindBadLine, func(p *Problem, e *bulk.LineError) {
			p.Detail, p.Sheet, p.Line, p.Column, p.Offset, p.Name, p.Field = e.Message, e.Sheet, e.Line, e.Column, int(e.Offset), e.Name, e.Field
		}, func(p *Problem) error {
			return &bulk.LineError{Sheet: p.Sheet, Line: p.Line, Column: p.Column, Offset: int64(p.Offset), Name: p.Name, Field: p.Field, Message: p.Detail}
		}),
		ofType(kindRefused, func(p *Problem, e *registrar.RefusalError) {
			p.Detail, p.Name, p.Field, p.Offset, p.Rule = e.Message, e.Name, e.Field, e.Offset, e.Rule
		}, func(p *Problem) error {
			return &registrar.RefusalError{Name: p.Name, Field: p.Field, Offset: p.Offset, Rule: p.Rule, Message: p.Detail}
		}),
		ofType(kindMalformedName, func(p *Problem, e *name.Error) {
			p.Detail, p.Name, p.Offset, p.Rule = e.Message, e.Input, e.Offset, e.Rule
		}, func(p *Problem) error {
			return &name.Error{Input: p.Name, Offset: p.Offset, Rule: p.Rule, Message: p.Detail}
		}),
		ofType(kindBadRequest, func(p *Problem, e *RequestError) {
			p.Detail, p.Line, p.Column, p.Field = e.Message, e.Line, e.Column, e.Field
		}, func(p *Problem) error {
			return &RequestError{Line: p.Line, Column: p.Column, Field: p.Field, Message: p.Detail}
		}),
		ofType(kindDenied, func(p *Problem, e *registrar.DeniedError) {
			p.Detail, p.Name, p.Who, p.Role, p.Need = deniedDetail(e), e.Name, e.Who, e.Role.String(), e.Need.String()
		}, deniedError),
		ofType(kindConflict, func(p *Problem, e *PreconditionError) {
			p.conflict(e.Conflict)
			p.Status = http.StatusPreconditionFailed
		}, nil),
		ofType(kindConflict, (*Problem).conflict, func(p *Problem) error {
			e := &store.ConflictError{Key: p.Name}
			if p.Expected != nil && p.Current != nil {
				e.Expected, e.Current = *p.Expected, *p.Current
			}
			return e
		}),
		ofType(kindHead, func(p *Problem, e *store.HeadError) {
			p.Detail, p.Field, p.Size = e.Reason, e.Since.String(), int(e.Size)
		}, func(p *Problem) error {
			since, _ := store.ParseHead(p.Field)
			return &store.HeadError{Since: since, Size: uint64(p.Size), Reason: p.Detail}
		}),
		ofType(kindState, func(p *Problem, e *store.StateError) { p.Detail, p.Name, p.Rule = e.Rule, e.Key, clockRule(e.Clock) },
			func(p *Problem) error {
				return &store.StateError{Key: p.Name, Rule: p.Detail, Clock: p.Rule == RuleClock}
			}),
		ofType(kindLimit, func(p *Problem, e *store.LimitError) {
			p.Name, p.Field, p.Size, p.Limit = e.Key, e.What, e.Size, e.Limit
		}, func(p *Problem) error {
			return &store.LimitError{Key: p.Name, What: p.Field, Size: p.Size, Limit: p.Limit}
		}),
		ofType(kindFull, func(p *Problem, e *FullError) { p.Detail = e.Error() },
			func(p *Problem) error { return &FullError{Detail: p.Detail} }),
		ofError(kindFull, syscall.ENOSPC, whole),
		ofType(kindUnknown, func(p *Problem, _ *store.UnknownError) { p.Detail = (&store.UnknownError{}).Error() },
			func(*Problem) error { return &store.UnknownError{} }),
		ofType(kindAway, func(p *Problem, e *store.AwayError) {
			p.Detail, p.Rule, p.RetryAfter = e.Cause, clockRule(e.Clock), retryAfter(e.After)
		}, func(p *Problem) error {
			return &store.AwayError{Cause: p.Detail, After: p.after(), Clock: p.Rule == RuleClock}
		}),
		ofError(kindReadOnly, store.ErrReadOnly, func(error) string { return store.ErrReadOnly.Error() }),
		ofError(kindNotFound, store.ErrNotFound, whole),
		ofType(kindUnauthorized, func(p *Problem, e tokenError) { p.Detail = e.Error() }, func(p *Problem) error {
			for _, err := range []error{ErrUnknownToken, ErrExpiredToken} {
				if p.Detail == err.Error() {
					return err
				}
			}
			return ErrUnauthorized
		}),
		ofError(kindUnauthorized, ErrUnauthorized, whole),
		ofError(kindUnavailable, ErrUnavailable, unavailable),
		ofError(kindUnavailable, store.ErrClosed, unavailable),
		ofError(kindUnavailable, context.Canceled, unavailable),
		ofType(kindConfig, func(p *Problem, e *ReloadError) {
			p.Detail, p.Errors = "the configuration was rejected; nothing was changed", e.Errors
		}, func(p *Problem) error { return &ReloadError{Errors: p.Errors} }),
		ofType(kindRate, func(p *Problem, e *RateError) { p.RetryAfter = retryAfter(e.After) },
			func(p *Problem) error { return &RateError{After: p.after()} }),
		ofType(kindJobs, func(p *Problem, e *JobsError) {
			p.Detail, p.Status, p.RetryAfter = e.Detail, e.Status, retryAfter(e.After)
		}, func(p *Problem) error { return &JobsError{Status: p.Status, Detail: p.Detail, After: p.after()} }),
		{problem: func(err error) *Problem {
			var e *StatusError
			if !errors.As(err, &e) {
				return nil
			}
			return e.problem()
		}},
	}
})

func (p *Problem) conflict(e *store.ConflictError) {
	p.Detail, p.Name, p.Expected, p.Current = e.Error(), e.Key, &e.Expected, &e.Current
}

func (p *Problem) after() time.Duration { return time.Duration(p.RetryAfter) * time.Second }

// retryAfter returns a wait in whole seconds, rounded up. It returns 0 if the wait is unknown.
func retryAfter(wait time.Duration) int {
	if wait <= 0 {
		return 0
	}
	return retryafter.Seconds(wait)
}

// RuleClock is the Rule of a [Problem] whose cause is a wrong clock.
const RuleClock = "clock"

func clockRule(clock bool) string {
	if clock {
		return RuleClock
	}
	return ""
}

func deniedError(p *Problem) error {
	role, _ := registrar.ParseRole(p.Role)
	need, _ := registrar.ParseRole(p.Need)
	e := &registrar.DeniedError{Who: p.Who, Role: role, Need: need, Name: p.Name}
	for _, e.Anywhere = range []bool{true, false} {
		if why, ok := strings.CutSuffix(p.Detail, e.Needs()); ok {
			e.Why = strings.TrimSuffix(why, "; ")
			break
		}
	}
	return e
}

func deniedDetail(e *registrar.DeniedError) string {
	if e.Why != "" {
		return e.Why + "; " + e.Needs()
	}
	return e.Needs()
}
